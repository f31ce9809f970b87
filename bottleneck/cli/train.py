"""``bottleneck reproduce``, the main job, and ``bottleneck sweep``, a grid of runs."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_writable
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import output, print_names, say
from .runs import run_status

if TYPE_CHECKING:
    from ..runs.pool import Executor, Job, Outcome
    from ..settings.sweep import Cell, Grid, Sweep

INCOMPLETE = 3
"""Exit code of a sweep in which some cell failed or diverged."""
ADDRESS = re.compile(
    r"(tcp|tls|ws|wss|ucx)://([^\s/:\[\]]+|\[[0-9A-Fa-f:.%]+\]):(?P<port>\d{1,5})/?"
)


def reproduce(
    preset: options.Preset = "lecture",
    out: Annotated[
        Path | None, typer.Option(help="Output folder [default: results/runs/PRESET].")
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
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
        bool, typer.Option("--check-schedule", help="Train the first seed again, twice as long.")
    ] = False,
    threads: options.Threads = "auto",
    details: options.Details = False,
    quiet: options.Quiet = False,
) -> None:
    """Train with and without attention; print the lecture's tables."""
    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    from ..results.folders import check_trainable
    from ..runs.pool import default_threads
    from ..runs.reproduce import check_text, plan
    from ..runs.reproduce import reproduce as execute
    from .progress import display

    jobs = plan(settings, seeds, check_schedule)
    check_text(settings.corpus)
    folder = out or DEFAULT_OUT / preset
    cores = _per_run("--threads", threads, None, options.MOST_THREADS)
    runs: list[str] = []

    def listen(job: "Job", event: dict[str, Any]) -> None:
        if event["phase"] == "done":
            runs.append(event["run"])
        show_event(job, event)

    check_trainable(folder)
    with options.output_folder(folder), display(jobs, quiet) as show_event:
        execute(jobs, folder, listen, cores or default_threads(len(jobs)))
    _print_tables(folder, runs, details or check_schedule)


def _print_tables(folder: Path, runs: list[str], details: bool) -> None:
    """Write both tables of these runs, whatever else the store holds, and print them."""
    from ..results.bundle import load_bundle
    from ..tables.page import DETAILS, write_pages
    from ..tables.pages import slide_pages
    from ..tables.render import print_prose
    from ..tables.selection import where

    pages = slide_pages(where(load_bundle(folder), [f"run={','.join(runs)}"]))
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
    out: Annotated[
        Path | None, typer.Option(help="Output folder [default: results/runs/NAME].")
    ] = None,
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
        int | None, typer.Option(min=1, help="Runs of each cell [default: the file's, else 1].")
    ] = None,
    jobs: options.Jobs = None,
    seeds_together: Annotated[
        str,
        typer.Option(
            help="Seeds to train as one program: a number, or auto (many on a GPU, else 1)."
        ),
    ] = "auto",
    threads: options.Threads = "auto",
    scheduler: Annotated[
        str | None,
        typer.Option(help="Run on a Dask cluster: its scheduler's address, tcp://HOST:PORT."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells and train nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Run finished cells again.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a grid of settings. Finished cells are kept.

    Any setting can vary: context size, attention, lengths. Without a name, list the sweeps.
    """
    given = {f"corpus.{key}": value for key, value in options.corpus_values(locals()).items()}
    if not name:
        _list_sweeps()
        return
    from ..corpus.corpus import load_corpus
    from ..results.folders import check_trainable
    from ..runs.pool import default_threads, default_together, default_width
    from ..runs.reproduce import check_text
    from ..runs.sweep import plan, run_sweep
    from ..settings.sweep import folder_name, load_sweep, make_grid
    from .progress import display

    read = load_sweep(name)
    read = replace(read, preset=preset) if preset else read
    grid = make_grid(read, assignments or [], seeds, given)
    cells, folder = list(grid.cells), out or DEFAULT_OUT / folder_name(read.name, read.place)
    cores = _per_run("--threads", threads, scheduler, options.MOST_THREADS)
    # Whoever says how many runs go at once wants no more than one core for each.
    cores = cores or (1 if jobs else default_threads(len(cells)))
    together = _per_run("--seeds-together", seeds_together, scheduler) or default_together()
    local = {"width": jobs or default_width(cores), "threads": cores, "together": together}
    execute = partial(_executor(scheduler, local, quiet), force=force)
    settings = cells[0].settings
    check_text(settings.corpus)
    if dry_run:
        _print_plan(read, grid, folder, force)
        return
    # A mistake in the text is an error now, and not of every run.
    load_corpus(settings.corpus, settings.scoring.lower_edges)
    for note in grid.notes:
        say(note, err=True)
    work = plan(cells)
    check_trainable(folder)
    check_writable(folder)
    with display(work, quiet) as listener:
        outcomes = run_sweep(work, folder, listener, execute)
    _conclude(outcomes, read.question, folder)


def _list_sweeps() -> None:
    from ..settings.sweep import experiment_names, load_sweep

    questions = {name: load_sweep(name).question for name in experiment_names()}
    print_names({name: f"{text.partition('?')[0]}?" for name, text in questions.items()})


def _per_run(option: str, text: str, scheduler: str | None, most: int = 999_999) -> int | None:
    """The number of an option, None for ``auto``; on a cluster a run has one core, and one seed."""

    given = options.number_or_auto(option, text, most)
    if scheduler and (given or 1) > 1:
        raise UsageError(
            f"{option}: on a cluster every run goes by itself, on one core; leave it out"
        )
    return given


def _executor(scheduler: str | None, local: dict[str, int], quiet: bool) -> "Executor":
    """Local processes, or the cluster behind a scheduler's address.

    Dask would say in many lines that an address cannot be one.
    """

    if scheduler is None:
        from ..runs.pool import run_jobs

        return partial(run_jobs, **local)
    match = ADDRESS.fullmatch(scheduler)
    if not match or int(match["port"]) > 65_535:
        raise UsageError(
            f"--scheduler {scheduler!r}: give the address that `dask scheduler` prints, "
            "tcp://HOST:PORT"
        )
    from ..runs.cluster import run_jobs_on_cluster

    tell = str if quiet else partial(say, err=True)
    return partial(run_jobs_on_cluster, scheduler=scheduler, tell=tell)


def _print_plan(sweep: "Sweep", grid: "Grid", folder: Path, force: bool) -> None:
    """The question, the cells with the status of their runs, and what was left out."""
    from ..settings.sweep import labels
    from ..tables.render import new_table, print_prose

    statuses = [] if force else _statuses(grid.cells, folder)
    columns = [labels(grid.cells), *([statuses] if statuses else [])]
    table = new_table("", ["cell", "status"][: len(columns)])
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    counts = Counter(status for status in statuses if status != "-")
    line = counted(len(grid.cells), "cell")
    line += "".join(f", {count} {status}" for status, count in counts.items())
    console = output()
    print_prose(console, sweep.question)
    console.print(table)
    print_prose(console, [*grid.notes, line])


def _statuses(cells: "Sequence[Cell]", folder: Path) -> list[str]:
    """Of each cell's run in the store ``done``, ``stopped``, ...; ``-`` if there is none.

    Empty for a folder without runs: only with runs the text is read, which decides a run's name.
    """
    from ..corpus.corpus import load_corpus
    from ..results.folders import STORE
    from ..runs.store import RunFolder, run_folders

    store = folder / STORE
    if not run_folders(store):
        return []
    fingerprint = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
    statuses = []
    for cell in cells:
        text = fingerprint(cell.settings.corpus, cell.settings.scoring.lower_edges)
        status = run_status(RunFolder(store, cell.settings.identity(text)))
        statuses.append("-" if status == "missing" else status)
    return statuses


def _conclude(outcomes: "list[Outcome]", question: str, folder: Path) -> None:
    """Every arm with its BLEU by bucket, what failed and why, and where the results are.

    If something failed, so does the command.
    """
    from ..results.bundle import load_bundle
    from ..tables.pages import make_page
    from ..tables.render import print_prose
    from ..tables.selection import where

    console = output()
    print_prose(console, question)
    done = [outcome.run for outcome in outcomes if outcome.phase == "done"]
    if done:
        try:
            page = make_page("arms", where(load_bundle(folder), [f"run={','.join(done)}"]))
            page.print(console)
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
        raise typer.Exit(INCOMPLETE)
