"""A sweep: the cells of a grid, brought to their end in one store, then one bundle."""

from collections.abc import Sequence
from pathlib import Path

from ..results.export import write_bundle
from ..results.folders import GROUPS, STORE, finished_runs, read_groups
from ..settings.atomic import write_text
from ..settings.sweep import Cell, labels
from .csvtext import json_text
from .pool import Executor, Job, Listener, Outcome


def plan(cells: Sequence[Cell], costs: Sequence[float]) -> list[Job]:
    """One job a cell, the longest first; ``costs`` are their estimated seconds."""
    named = zip(labels(cells), cells, costs, strict=True)
    jobs = [Job(label, cell.settings, cell.group, cost) for label, cell, cost in named]
    return sorted(jobs, key=lambda job: -job.cost)


def run_sweep(
    jobs: Sequence[Job], out: Path, listener: Listener, execute: Executor
) -> list[Outcome]:
    """Execute what is missing; one cell's failure does not stop the rest.

    The bundle in ``out`` then holds every finished run of its store, of this sweep or another.
    """
    outcomes = execute(jobs, out / STORE, listener)
    _write_groups(outcomes, out)
    runs = finished_runs(out)
    if runs:
        write_bundle(runs, out, read_groups(out))
    return outcomes


def _write_groups(outcomes: Sequence[Outcome], out: Path) -> None:
    """Remember which group each run belongs to, beside those of earlier sweeps."""
    groups = {o.run: o.job.group for o in outcomes if o.run and o.job.group}
    if groups:
        write_text(out / GROUPS, json_text(read_groups(out) | groups))
