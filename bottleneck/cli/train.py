"""``bottleneck reproduce``, the main job, and ``bottleneck sweep``, a grid of runs."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from ..settings.errors import UsageError, UserError, counted, quoted
from ..settings.files import check_place, is_name
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import display, output, print_names, say
from .runs import run_status

if TYPE_CHECKING:
    from ..runs.pool import Executor, Job, Outcome
    from ..settings.sweep import Grid, Sweep


def reproduce(
    preset: options.Preset = "lecture",
    out: Annotated[
        Path | None, Option(help="Output folder [default: results/runs/PRESET].")
    ] = None,
    seeds: Annotated[
        int,
        Option(
            min=1, max=options.MOST_SEEDS, help="Number of runs of each arm, with seeds 1, 2, ..."
        ),
    ] = 1,
    corpus: options.CorpusName = None,
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.ReverseDirection = False,
    assignments: options.Assignments = None,
    check_schedule: Annotated[
        bool, Option("--check-schedule", help="Train the first seed again, twice as long.")
    ] = False,
    threads: options.Threads = "auto",
    details: options.Details = False,
    quiet: options.Quiet = False,
) -> None:
    """Train with and without attention; print the lecture's tables."""
    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    from ..results.folders import check_trainable
    from ..runs.pool import default_threads
    from ..runs.sweep import check_text, plan_comparison
    from ..runs.sweep import reproduce as execute

    jobs = plan_comparison(settings, seeds, check_schedule)
    check_text(settings.corpus)
    folder = out or DEFAULT_OUT / preset
    cores = _number_or_auto("--threads", threads, options.MOST_THREADS)
    check_trainable(folder)
    check_place(folder)
    runs: list[str] = []

    def listen(job: "Job", event: dict[str, Any]) -> None:
        if event["phase"] == "done":
            runs.append(event["run"])
        show_event(job, event)

    with display(jobs, quiet) as show_event:
        execute(jobs, folder, listen, cores or default_threads(len(jobs)))
    _print_tables(folder, runs, details or check_schedule)


def _print_tables(folder: Path, runs: list[str], details: bool) -> None:
    """Write both tables of these runs, whatever else the store holds, and print them."""
    from ..results.bundle import Results
    from ..runs.sweep import VINDICATION
    from ..tables.page import DETAILS, write_pages
    from ..tables.pages import slide_pages
    from ..tables.render import print_prose
    from ..tables.selection import where

    conditions = [f"experiment={VINDICATION}", f"run={','.join(runs)}"]
    pages = slide_pages(where(Results.open(folder), conditions))
    write_pages(pages, folder)
    console = output()
    for page in pages:
        console.print(page.table)
        page.print_verdicts(console, details)
    print_prose(console, pages[0].caption if details else f"{pages[0].run}. {DETAILS}", "dim")
    names = ", ".join(f"{page.name}.csv" for page in pages)
    print_prose(console, f"\nWritten to {folder}: {names}, the same as .md, runs.csv")


def sweep(
    name: options.SweepName = "",
    out: Annotated[Path | None, Option(help="Output folder [default: results/runs/NAME].")] = None,
    preset: options.OtherPreset = None,
    corpus: options.CorpusName = None,
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.ReverseDirection = False,
    assignments: options.Assignments = None,
    seeds: Annotated[
        int | None, Option(min=1, help="Runs of each cell [default: the file's, else 1].")
    ] = None,
    jobs: options.Jobs = None,
    seeds_together: Annotated[
        str,
        Option(help="Seeds to train as one program: a number, or auto (many on a GPU, else 1)."),
    ] = "auto",
    threads: options.Threads = "auto",
    scheduler: Annotated[
        str | None, Option(help="Run on a Dask cluster: its scheduler's address, tcp://HOST:PORT.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="List the cells and train nothing.")] = False,
    force: Annotated[bool, Option("--force", help="Run finished cells again.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a grid of settings. Finished cells are kept.

    Any setting can vary: context size, attention, lengths. Without a name, list the sweeps.
    """
    given = {f"corpus.{key}": value for key, value in options.corpus_values(locals()).items()}
    from ..settings.sweep import experiment_names, load_sweep, make_grid

    if not name:
        questions = {name: load_sweep(name).question for name in experiment_names()}
        print_names({name: f"{text.partition('?')[0]}?" for name, text in questions.items()})
        return
    from ..corpus.corpus import load_corpus
    from ..results.folders import check_trainable
    from ..runs.pool import default_threads, default_together, default_width, run_jobs
    from ..runs.sweep import check_text, plan, run_sweep

    read = load_sweep(name)
    read = replace(read, preset=preset or read.preset)
    grid = make_grid(read, assignments or [], seeds, given)
    if out is None and not is_name(read.name):
        raise UsageError(f"a folder cannot be called {read.name!r}; name one with --out")
    cells, folder = grid.cells, out or DEFAULT_OUT / read.name
    cores = _number_or_auto("--threads", threads, options.MOST_THREADS, scheduler)
    # Whoever says how many runs go at once wants no more than one core for each.
    cores = cores or (1 if jobs else default_threads(len(cells)))
    together = _number_or_auto("--seeds-together", seeds_together, 999_999, scheduler)
    together, width = together or default_together(), jobs or default_width(cores)
    execute = partial(run_jobs, width=width, threads=cores, together=together)
    if scheduler is not None:
        execute = _on_cluster(scheduler, quiet)
    corpus_settings, edges = cells[0].settings.corpus, cells[0].settings.scoring.lower_edges
    check_text(corpus_settings)
    if dry_run:
        _print_plan(read, grid, folder, force)
        return
    load_corpus(corpus_settings, edges)  # a mistake in the text is an error now, not of every run
    for note in grid.notes:
        say(note, err=True)
    work = plan(read.name, cells)
    check_trainable(folder)
    check_place(folder)
    with display(work, quiet) as listener:
        outcomes = run_sweep(work, folder, listener, partial(execute, force=force))
    _conclude(outcomes, read, folder)


def _number_or_auto(option: str, text: str, most: int, scheduler: str | None = None) -> int | None:
    """The number of an option, None for ``auto``; on a cluster a run has one core, and one seed."""
    if text == "auto":
        return None
    if not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise UsageError(f"{option} {quoted(text)}: give a number from 1 to {most:,}, or auto")
    if scheduler and int(text) > 1:
        raise UsageError(
            f"{option}: on a cluster every run goes by itself, on one core; leave it out"
        )
    return int(text)


def _on_cluster(scheduler: str, quiet: bool) -> "Executor":
    """The cluster behind a scheduler's address."""
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://[^\s/]+:\d{1,5}/?", scheduler):
        raise UsageError(
            f"--scheduler {scheduler!r}: give the address that `dask scheduler` prints, "
            "tcp://HOST:PORT"
        )
    from ..runs.cluster import run_jobs_on_cluster

    tell = str if quiet else partial(say, err=True)
    return partial(run_jobs_on_cluster, scheduler=scheduler, tell=tell)


def _print_plan(sweep: "Sweep", grid: "Grid", folder: Path, force: bool) -> None:
    """The question, the cells with the status of their runs, and what was left out.

    Statuses are those of a folder with runs: with them alone the text is read, which decides a
    run's name.
    """
    from ..corpus.corpus import load_corpus
    from ..results.folders import STORE
    from ..runs.store import RunFolder, run_folders
    from ..tables.render import new_table, print_prose

    store, columns = folder / STORE, {"cell": [cell.label for cell in grid.cells]}
    fingerprint = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
    if not force and run_folders(store):
        columns["status"] = []
        for settings in (cell.settings for cell in grid.cells):
            text = fingerprint(settings.corpus, settings.scoring.lower_edges)
            status = run_status(RunFolder(store, settings.identity(text)))
            columns["status"].append("-" if status == "missing" else status)
    table = new_table("", list(columns))
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    counts = Counter(columns.get("status", []))
    line = counted(len(grid.cells), "cell")
    line += "".join(f", {count} {status}" for status, count in counts.items() if status != "-")
    console = output()
    print_prose(console, sweep.question)
    console.print(table)
    print_prose(console, [*grid.notes, line])


def _conclude(outcomes: "list[Outcome]", sweep: "Sweep", folder: Path) -> None:
    """Every arm with its BLEU by bucket, what failed and why; exit code 3 if something failed."""
    from ..results.bundle import Results
    from ..tables.pages import make_page
    from ..tables.render import print_prose
    from ..tables.selection import where

    console = output()
    print_prose(console, sweep.question)
    done = [outcome.run for outcome in outcomes if outcome.phase == "done"]
    if done:
        try:
            conditions = [f"experiment={sweep.name}", f"run={','.join(done)}"]
            make_page("arms", where(Results.open(folder), conditions)).print(console)
        except UserError as error:  # runs with different buckets are not one table
            print_prose(console, f"No table: {error}")
    for outcome in outcomes:
        if outcome.phase != "done":
            print_prose(console, f"{outcome.job.name}: {outcome.phase}: {outcome.reason}", "bold")
    print_prose(
        console,
        f"{len(done)} of {counted(len(outcomes), 'cell')} done. Results in {folder}; "
        f"the tidy table: bottleneck export --results {folder}",
    )
    if len(done) < len(outcomes):
        raise typer.Exit(3)
