"""``bottleneck sweep``: a grid of runs, from a file or by name."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import output
from .options import Assignments, Out
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from rich.table import Table

    from ..runs.estimate import Estimate
    from ..runs.pool import Executor, Job, Outcome
    from ..settings.sweep import Cell, Grid, Sweep

INCOMPLETE = 3
"""Exit code of a sweep in which some cell failed or diverged."""


def sweep(
    name: Annotated[str, typer.Argument(help="A sweep of experiments/ by name, or a TOML file.")],
    out: Out = None,
    preset: Annotated[str | None, typer.Option(help="Another preset than the file's.")] = None,
    assignments: Assignments = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each cell.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at once [default: cores].")] = None,
    seeds_together: Annotated[
        str,
        typer.Option(help="Seeds trained as one program: a number, or auto (on a GPU, else 1)."),
    ] = "auto",
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler's address: tcp://HOST:PORT.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and stop.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Run again what is done.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Run a grid over context size, attention, length or any setting; only what is missing."""
    from dataclasses import replace

    from ..settings.sweep import load_sweep, make_grid

    read = load_sweep(name)
    read = replace(read, preset=preset) if preset else read
    grid = make_grid(read, assignments or [], seeds)
    cells = list(grid.cells)
    width = jobs or _width()
    execute = _executor(scheduler, width, force, _together(seeds_together, scheduler))
    estimate = _estimate(cells, width)
    if dry_run:
        _print_plan(read, grid, estimate)
        return
    for note in grid.notes:
        typer.echo(note, err=True)
    from ..runs.sweep import plan

    work = plan(cells, [cost.seconds for cost in estimate.costs])
    folder = out or DEFAULT_OUT / read.name
    outcomes = _execute(work, folder, quiet, execute)
    _print_summary(outcomes, folder)
    if any(outcome.phase != "done" for outcome in outcomes):
        raise typer.Exit(INCOMPLETE)


def _width() -> int:
    from ..runs.pool import default_width

    return default_width()


def _estimate(cells: "list[Cell]", width: int) -> "Estimate":
    """What the cells cost, by the vocabulary and mean lengths of the first cell's corpus."""
    from statistics import fmean

    from ..corpus.corpus import load_corpus
    from ..corpus.tokens import tokenize
    from ..runs.estimate import estimate

    first = cells[0].settings
    corpus = load_corpus(first.corpus, first.scoring.lower_edges)
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    sources = fmean(len(tokenize(pair.source)) + 1 for pair in corpus.train)
    targets = fmean(len(tokenize(pair.target)) + 1 for pair in corpus.train)
    return estimate([cell.settings for cell in cells], sizes, (sources, targets), width)


def _together(text: str, scheduler: str | None) -> int:
    """How many seeds are trained as one program."""
    from ..runs.pool import default_together
    from ..settings.errors import UsageError

    if text == "auto":
        return 1 if scheduler else default_together()
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--seeds-together {text!r}: give a number from 1 up, or auto")
    if scheduler and int(text) > 1:
        raise UsageError("--seeds-together: on a cluster every run goes by itself; leave it out")
    return int(text)


def _executor(scheduler: str | None, width: int, force: bool, together: int) -> "Executor":
    """Local processes, or the cluster behind a scheduler's address."""
    if scheduler:
        from ..runs.cluster import run_jobs_on_cluster

        return partial(run_jobs_on_cluster, scheduler=scheduler, force=force)
    from ..runs.pool import run_jobs

    return partial(run_jobs, width=width, force=force, together=together)


def _execute(work: "list[Job]", folder: Path, quiet: bool, execute: "Executor") -> "list[Outcome]":
    from ..runs.sweep import run_sweep
    from ..settings.atomic import check_writable
    from .progress import display

    check_writable(folder)
    with display(work, quiet) as listener:
        return run_sweep(work, folder, listener, execute)


def _print_plan(read: "Sweep", grid: "Grid", estimate: "Estimate") -> None:
    """The question, the cells with what each costs, what was left out, and the sums."""
    console = output()
    console.print(read.question, markup=False)
    console.print(_plan_table(list(grid.cells), estimate))
    megabytes = estimate.disk_bytes / 1e6
    line = f"{len(grid.cells)} cells, {megabytes:,.0f} MB on disk, {estimate.text}"
    console.print("\n".join([*grid.notes, line]), markup=False)


def _plan_table(cells: "list[Cell]", estimate: "Estimate") -> "Table":
    from rich import box
    from rich.table import Table

    from ..runs.estimate import duration
    from ..settings.sweep import labels

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("cell", "parameters", "disk", "time"):
        table.add_column(head, justify="left" if head == "cell" else "right")
    for label, cost in zip(labels(cells), estimate.costs, strict=True):
        disk = f"{cost.disk_bytes / 1e6:.1f} MB"
        table.add_row(label, f"{cost.parameters:,}", disk, duration(cost.seconds))
    return table


def _print_summary(outcomes: "list[Outcome]", folder: Path) -> None:
    """Every cell with its BLEU by bucket, what failed and why, and where the results are."""
    console = output()
    done = [outcome for outcome in outcomes if outcome.phase == "done"]
    if done:
        console.print(_summary_table(done, folder))
    for outcome in outcomes:
        if outcome.phase != "done":
            console.print(
                f"{outcome.job.name}: {outcome.phase}: {outcome.reason}", markup=False, style="bold"
            )
    console.print(
        f"{len(done)} of {len(outcomes)} cells done. Results in {folder}; "
        f"the tidy table: bottleneck export --results {folder}",
        markup=False,
    )


def _summary_table(done: "list[Outcome]", folder: Path) -> "Table":
    from rich import box
    from rich.table import Table

    from ..results.bundle import load_results

    runs = load_results(folder)
    buckets = list(dict.fromkeys(runs["bucket"]))
    bleu = runs.set_index(["run", "bucket"])["bleu"]
    table = Table(title="BLEU by source words", box=box.SIMPLE_HEAD, pad_edge=False)
    table.title_justify = "left"
    table.add_column("cell")
    for bucket in buckets:
        table.add_column(bucket, justify="right")
    for outcome in sorted(done, key=lambda outcome: outcome.job.name):
        values = [bleu.get((outcome.run, bucket)) for bucket in buckets]
        table.add_row(outcome.job.name, *(_shown(value) for value in values))
    return table


def _shown(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.1f}"
