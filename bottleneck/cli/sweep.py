"""``bottleneck sweep``: a grid of runs, from a file or by name."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.errors import counted
from .console import output, print_names, say
from .listing import sweeps
from .options import (
    MOST_THREADS,
    Assignments,
    CorpusName,
    Jobs,
    OtherPreset,
    Quiet,
    ReverseDirection,
    Source,
    Target,
    TestSet,
    TestSource,
    TestTarget,
    Threads,
    corpus_settings,
    number_or_auto,
)
from .reproduce import DEFAULT_OUT
from .runs import run_status

if TYPE_CHECKING:
    from ..runs.pool import Executor, Job, Outcome
    from ..settings.sweep import Cell, Grid, Sweep

INCOMPLETE = 3
"""Exit code of a sweep in which some cell failed or diverged."""

ADDRESS = re.compile(
    r"(tcp|tls|ws|wss|ucx)://([^\s/:\[\]]+|\[[0-9A-Fa-f:.%]+\]):(?P<port>\d{1,5})/?"
)
HIGHEST_PORT = 65_535


def sweep(
    name: Annotated[
        str,
        typer.Argument(
            help="The name of a sweep in experiments/, or a TOML file.", autocompletion=sweeps
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Output folder [default: results/runs/NAME].")
    ] = None,
    preset: OtherPreset = None,
    corpus: CorpusName = None,
    source: Source = None,
    target: Target = None,
    test_source: TestSource = None,
    test_target: TestTarget = None,
    test: TestSet = None,
    reverse_direction: ReverseDirection = False,
    assignments: Assignments = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each cell [default: the file's, else 1]."),
    ] = None,
    jobs: Jobs = None,
    seeds_together: Annotated[
        str,
        typer.Option(
            help="Seeds to train as one program: a number, or auto (many on a GPU, else 1).",
        ),
    ] = "auto",
    threads: Threads = "auto",
    scheduler: Annotated[
        str | None,
        typer.Option(help="Run on a Dask cluster: its scheduler's address, tcp://HOST:PORT."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells and train nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Run finished cells again.")] = False,
    quiet: Quiet = False,
) -> None:
    """Train a grid of settings. Finished cells are kept.

    Any setting can vary: context size, attention, lengths. Without a name, list the sweeps.
    """
    if not name:
        _list_sweeps()
        return
    from ..corpus.corpus import load_corpus
    from ..runs.pool import default_width
    from ..runs.reproduce import check_text
    from ..settings.sweep import folder_name, load_sweep, make_grid

    read = load_sweep(name)
    read = replace(read, preset=preset) if preset else read
    given = {
        **{"name": corpus, "source": source, "target": target},
        **{"test_source": test_source, "test_target": test_target, "test": test},
        "reverse_direction": reverse_direction,
    }
    grid = make_grid(read, assignments or [], seeds, corpus_settings(given))
    cells, folder = list(grid.cells), out or DEFAULT_OUT / folder_name(read.name, read.place)
    each = _threads(threads, len(cells), jobs, scheduler)
    width = jobs or default_width(each)
    together = _together(seeds_together, scheduler)
    execute = _executor(scheduler, width, force, {"together": together, "threads": each}, quiet)
    check_text(cells[0].settings.corpus)
    if dry_run:
        _print_plan(read, grid, folder, force)
        return
    first = cells[0].settings  # a mistake in the text is an error now, and not of every run
    load_corpus(first.corpus, first.scoring.lower_edges)
    for note in grid.notes:
        say(note, err=True)
    from ..runs.sweep import plan

    _conclude(_execute(plan(cells), folder, quiet, execute), read.question, folder)


def _list_sweeps() -> None:
    """Each sweep of ``experiments/`` with its question; a dry run tells all that it opens with."""
    from ..settings.sweep import experiment_names, load_sweep

    questions = {name: load_sweep(name).question for name in experiment_names()}
    print_names({name: f"{text.partition('?')[0]}?" for name, text in questions.items()})


def _threads(asked: str, cells: int, jobs: int | None, scheduler: str | None) -> int:
    """Cores for each of so many cells; who says how many go at once wants no more than one each."""
    from ..runs.pool import default_threads
    from ..settings.errors import UsageError

    given = number_or_auto("--threads", asked, MOST_THREADS)
    if scheduler and (given or 1) > 1:
        raise UsageError("--threads: on a cluster every run has one; leave it out")
    return given or (1 if jobs else default_threads(cells))


def _together(seeds: str, scheduler: str | None) -> int:
    """How many seeds are trained as one program."""
    from ..runs.pool import default_together
    from ..settings.errors import UsageError

    given = number_or_auto("--seeds-together", seeds)
    if scheduler and (given or 1) > 1:
        raise UsageError("--seeds-together: on a cluster every run goes by itself; leave it out")
    return given or default_together()


def _executor(
    scheduler: str | None, width: int, force: bool, shared: dict[str, int], quiet: bool
) -> "Executor":
    """Local processes, or the cluster behind a scheduler's address."""
    if scheduler is not None:
        _check_address(scheduler)
        from ..runs.cluster import run_jobs_on_cluster

        tell = str if quiet else partial(say, err=True)
        return partial(run_jobs_on_cluster, scheduler=scheduler, force=force, tell=tell)
    from ..runs.pool import run_jobs

    return partial(run_jobs, width=width, force=force, **shared)


def _check_address(scheduler: str) -> None:
    """Refuse what no scheduler can have as its address: Dask would say so in many lines."""
    from ..settings.errors import UsageError

    found = ADDRESS.fullmatch(scheduler)
    if not found or int(found["port"]) > HIGHEST_PORT:
        raise UsageError(
            f"--scheduler {scheduler!r}: give the address that `dask scheduler` prints, "
            "tcp://HOST:PORT"
        )


def _execute(work: "list[Job]", folder: Path, quiet: bool, execute: "Executor") -> "list[Outcome]":
    from ..results.folders import check_trainable
    from ..runs.sweep import run_sweep
    from ..settings.files import check_writable
    from .progress import display

    check_trainable(folder)
    check_writable(folder)
    with display(work, quiet) as listener:
        return run_sweep(work, folder, listener, execute)


def _print_plan(sweep: "Sweep", grid: "Grid", folder: Path, force: bool) -> None:
    """The question, the cells with the status of those that were begun, and what was left out."""
    from ..settings.sweep import labels
    from ..tables.render import new_table, print_prose

    statuses = [] if force else _statuses(grid.cells, folder)
    table = new_table("", ["cell", *(["status"] if statuses else [])])
    for row in zip(labels(grid.cells), *([statuses] if statuses else []), strict=True):
        table.add_row(*row)
    counts = Counter(status for status in statuses if status != "-")
    line = counted(len(grid.cells), "cell")
    line += "".join(f", {count} {status}" for status, count in counts.items())
    console = output()
    print_prose(console, sweep.question)
    console.print(table)
    print_prose(console, [*grid.notes, line])


def _statuses(cells: "Sequence[Cell]", folder: Path) -> list[str]:
    """Of each cell's run in the store ``done``, ``stopped``, ...; ``-`` if it was not begun.

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
    from ..settings.errors import UserError
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
