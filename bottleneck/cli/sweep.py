"""``bottleneck sweep``: a grid of runs, from a file or by name."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.text import counted
from .console import output, print_names, say, size
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
from .planned import Cost, Texts, costs, statuses
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from ..runs.pool import Executor, Job, Outcome
    from ..settings.grid import Cell, Grid
    from ..settings.sweep import Sweep

INCOMPLETE = 3
"""Exit code of a sweep in which some cell failed or diverged."""

ADDRESS = re.compile(
    r"(tcp|tls|ws|wss|ucx)://([^\s/:\[\]]+|\[[0-9A-Fa-f:.%]+\]):(?P<port>\d{1,5})/?"
)
HIGHEST_PORT = 65_535

NAME_WIDTH = 15
"""Columns that a cell's name gets, folded into them if it must be, before ranges are left out."""
NARROWEST_NAME = 8


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
    from ..settings.grid import make_grid
    from ..settings.names import folder_name

    read = _read(name, preset)
    given = {
        **{"name": corpus, "source": source, "target": target},
        **{"test_source": test_source, "test_target": test_target, "test": test},
        "reverse_direction": reverse_direction,
    }
    grid = make_grid(read, assignments or [], seeds, corpus_settings(given))
    cells, folder = list(grid.cells), out or DEFAULT_OUT / folder_name(read.name, read.place)
    each = _threads(threads, len(cells), jobs, scheduler)
    width = jobs or _width(each)
    together = _together(seeds_together, scheduler)
    execute = _executor(scheduler, width, force, {"together": together, "threads": each}, quiet)
    texts = Texts()
    if dry_run:
        found = ["-"] * len(cells) if force else statuses(cells, folder, texts)
        _print_plan(read, grid, costs(cells, texts), found)
        return
    texts.of(cells[0])  # a mistake in the text is an error now, and not of every run
    for note in grid.notes:
        say(note, err=True)
    from ..runs.sweep import plan

    _conclude(_execute(plan(cells), folder, quiet, execute), read.question, folder)


def _read(name: str, preset: str | None) -> "Sweep":
    """A sweep by name or file, with the preset that was given in the place of its own."""
    from dataclasses import replace

    from ..settings.sweep import load_sweep

    read = load_sweep(name)
    return replace(read, preset=preset) if preset else read


def _list_sweeps() -> None:
    """Each sweep of ``experiments/`` with its question; a dry run tells all that it opens with."""
    from ..settings.sweep import experiment_names, load_sweep

    questions = {name: load_sweep(name).question for name in experiment_names()}
    print_names({name: f"{text.partition('?')[0]}?" for name, text in questions.items()})


def _width(threads: int) -> int:
    from ..runs.pool import default_width

    return default_width(threads)


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
    from ..settings.atomic import check_writable
    from .progress import display

    check_trainable(folder)
    check_writable(folder)
    with display(work, quiet) as listener:
        return run_sweep(work, folder, listener, execute)


def _print_plan(read: "Sweep", grid: "Grid", costs: Sequence[Cost], found: Sequence[str]) -> None:
    """The question, the cells with what each costs, what was left out, and the sums."""
    from ..tables.fitting import print_prose

    console = output()
    print_prose(console, read.question)
    console.print(_plan_table(list(grid.cells), costs, found))
    disk = size(sum(cost.disk_bytes for cost in costs))
    line = f"{counted(len(grid.cells), 'cell')}, {disk} on disk"
    begun = {status: found.count(status) for status in found if status != "-"}
    line += "".join(f", {count} {status}" for status, count in begun.items())
    print_prose(console, [*grid.notes, line])


def _plan_table(cells: "list[Cell]", costs: Sequence[Cost], found: Sequence[str]) -> "Table":
    from ..settings.grid import labels

    begun = any(status != "-" for status in found)
    table = _new_table(["parameters", "disk", *(["status"] if begun else [])])
    for label, cost, status in zip(labels(cells), costs, found, strict=True):
        row = [f"{cost.parameters:,}", size(cost.disk_bytes)]
        table.add_row(label, *row, *([status] if begun else []))
    return table


def _new_table(heads: Sequence[str]) -> "Table":
    """A table of cells: their names may be folded, nothing else is."""
    from ..tables.render import new_table

    table = new_table("", ["cell", *heads])
    names, *numbers = table.columns
    names.min_width = NARROWEST_NAME
    for column in numbers:
        column.no_wrap = True
    return table


def _conclude(outcomes: "list[Outcome]", question: str, folder: Path) -> None:
    """Every cell with its BLEU by bucket, what failed and why, and where the results are.

    Where something failed the command's end says so, too.
    """
    from ..tables.fitting import print_prose

    console = output()
    print_prose(console, question)
    done = [outcome for outcome in outcomes if outcome.phase == "done"]
    if done:
        _print_scores(console, done, folder)
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


def _print_scores(console: "Console", done: "list[Outcome]", folder: Path) -> None:
    """BLEU of each cell by bucket, with its range below it where the width allows."""
    from ..results.bundle import load_results
    from ..tables.fitting import print_prose

    runs = load_results(folder)
    runs = runs[runs["run"].isin([outcome.run for outcome in done])]
    table = _summary_table(done, runs, ranges=True)
    whole = _fits(table, console)
    console.print("BLEU by source words", style="italic")
    console.print(table if whole else _summary_table(done, runs, ranges=False))
    ranges = "with each" if whole else "bleu_low and bleu_high of the tidy table"
    print_prose(
        console,
        f"n: test sentences (*: few); 95 % ranges over them ({ranges}). Brevity penalties are in "
        "the tidy table.",
        "dim",
    )


def _fits(table: "Table", console: "Console") -> bool:
    """Whether there is room for all of a table but its names, which can be folded."""
    from ..tables.fitting import least_width

    names = table.columns[0]
    names.max_width = NAME_WIDTH
    needed = least_width(table, console)
    names.max_width = None
    return needed <= console.width


def _summary_table(done: "list[Outcome]", runs: "pd.DataFrame", ranges: bool) -> "Table":
    buckets = list(dict.fromkeys(runs["bucket"]))
    table = _new_table([f"{bucket}\n{_n(runs, bucket)}" for bucket in buckets])
    rows = {(row["run"], row["bucket"]): row for row in runs.to_dict("records")}
    for outcome in done:
        held = [rows.get((outcome.run, bucket), {}) for bucket in buckets]
        table.add_row(outcome.job.name, *(_shown(row, ranges) for row in held))
    return table


def _n(runs: "pd.DataFrame", bucket: str) -> str:
    """How many test sentences a bucket has: ``n=200``, or ``n=75*..150`` where cells differ."""
    from ..tables.render import count

    counts = [int(n) for n in sorted(set(runs.loc[runs["bucket"] == bucket, "n"]))]
    return f"n={'..'.join(count(n) for n in dict.fromkeys((counts[0], counts[-1])))}"


def _shown(row: Mapping[str, object], ranges: bool) -> str:
    """BLEU, and its range on a second line; empty where there is none."""
    from ..tables.render import number, ranged

    if "bleu" not in row:
        return ""
    return ranged(row, "bleu", "{:.1f}") if ranges else number(row["bleu"], "{:.1f}")
