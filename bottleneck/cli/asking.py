"""Putting a study to finished runs, and saying what is being measured."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..settings.text import counted
from .console import say

if TYPE_CHECKING:
    from ..studies.probing import Listener
    from ..studies.study import Study


def put_to(
    asked: "Study", runs: Sequence[Path], folder: Path, width: int, force: bool, quiet: bool
) -> None:
    """Measure, and write the study's table."""
    from ..settings.atomic import check_writable
    from ..studies.kept import is_kept
    from ..studies.probing import probe_runs, write_table

    check_writable(folder, "--results")
    waiting = [run for run in runs if force or not is_kept(run, asked)]
    with _shown(waiting, quiet) as listener:
        probe_runs(asked, runs, listener, width, force)
    path = write_table(asked, runs, folder)
    if not quiet:
        say(f"{asked.question} ({counted(len(runs), 'run')}; numbers: {path})", err=True)


@contextmanager
def _shown(runs: Sequence[Path], quiet: bool) -> "Iterator[Listener]":
    """A listener that says on stderr, a line each, what is being measured of which run."""
    from .progress import clock

    numbers = {run: number for number, run in enumerate(runs, 1)}
    done: list[Path] = []
    begun = time.monotonic()

    def listen(run: Path, phase: str) -> None:
        passed = time.monotonic() - begun
        told = clock(passed)
        if phase == "done":
            done.append(run)
            left = passed / len(done) * (len(runs) - len(done))
            phase = f"done, {len(done)} of {len(runs)}"
            told += f", about {clock(left)} left" if left else ""
        if not quiet:
            say(f"{run.name} ({numbers[run]} of {len(runs)}): {phase} ({told})", err=True)

    yield listen
