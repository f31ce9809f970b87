"""A sweep: the cells of a grid, brought to their end in one store, then one bundle."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..results.folders import STORE
from ..settings.sweep import Cell, labels
from .gathered import gather
from .pool import Executor, Job, Listener, Outcome


def plan(cells: Sequence[Cell]) -> list[Job]:
    """One job a cell, in their order."""
    named = zip(labels(cells), cells, strict=True)
    return [Job(label, cell.settings, cell.group) for label, cell in named]


def run_sweep(
    jobs: Sequence[Job], out: Path, listener: Listener, execute: Executor
) -> list[Outcome]:
    """Execute what is missing; one cell's failure does not stop the rest.

    The bundle in ``out`` then holds every finished run of its store, of this sweep or another;
    that of a sweep which was interrupted too.
    """
    groups: dict[str, str] = {}

    def listen(job: Job, event: dict[str, Any]) -> None:
        if job.group and "run" in event:
            groups[event["run"]] = job.group
        listener(job, event)

    try:
        return execute(jobs, out / STORE, listen)
    finally:
        gather(out, groups)
