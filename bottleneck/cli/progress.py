"""Progress on stderr: a bar for each run on a terminal, plain lines elsewhere."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runs.pool import ENDS, Job, Listener
from .console import errors, say

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..questions.probing import Listener as ProbeListener

BAR = 10
"""Columns of a bar."""


@contextmanager
def display(jobs: Sequence[Job], quiet: bool) -> Iterator[Listener]:
    """A listener that shows what the runs report, while the block lasts."""
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = errors()
    if quiet:
        yield lambda _job, _event: None
        return
    if not console.is_terminal:
        yield _Display(jobs).listen
        return
    longest = max(len(name) for name in ("all runs", *(job.name for job in jobs)))
    names = min(longest, console.width // 2)  # a name that is cut tells no arms apart
    widths = {"description": names, "fields[status]": max(1, console.width - names - BAR - 2)}
    first, last = (
        TextColumn(
            f"{{task.{text}}}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", width=width),
        )
        for text, width in widths.items()
    )
    columns = first, BarColumn(bar_width=BAR), last
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Display(jobs, progress).listen


class Tally:
    """The state of the whole: runs by phase, and the time left."""

    def __init__(self, jobs: Sequence[Job]):
        self.phase = dict.fromkeys((job.name for job in jobs), "waiting")
        self.trained: set[str] = set()
        self.start = time.monotonic()

    def count(self, job: Job, event: dict[str, Any]) -> None:
        """Take in one event."""
        self.phase[job.name] = event["phase"]
        if event.get("update"):
            self.trained.add(job.name)

    @property
    def ended(self) -> int:
        """How many runs have ended, well or not."""
        return sum(phase in ENDS for phase in self.phase.values())

    def text(self) -> str:
        """``2 of 12 done, about 14:00 left, 2 running, 1 failed, 7 waiting``."""
        phases = Counter(self.phase.values())
        failed, waiting = phases["failed"] + phases["diverged"], phases["waiting"]
        # The time that a run took which was trained here, times the runs left.
        trained = sum(self.phase[name] in ENDS for name in self.trained)
        total = trained + len(self.phase) - self.ended
        return (
            f"{phases['done']} of {len(self.phase)} done"
            f"{time_left(time.monotonic() - self.start, trained, total)}"
            f", {len(self.phase) - self.ended - waiting} running"
            + (f", {failed} failed" if failed else "")
            + (f", {waiting} waiting" if waiting else "")
        )


def time_left(elapsed: float, done: int, total: int) -> str:
    """``, about 0:42 left``; empty where nothing is done, or all is."""
    return f", about {clock(elapsed / done * (total - done))} left" if 0 < done < total else ""


def clock(seconds: float) -> str:
    """``0:42``, ``12:05`` or ``1:20:00``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class _Display:
    """A bar for the whole and one for each run under way; plain lines where there are no bars."""

    def __init__(self, jobs: Sequence[Job], progress: "Progress | None" = None):
        self.tally, self.progress = Tally(jobs), progress
        self.last: dict[str, float] = {}
        if progress:
            status = self.tally.text()
            self.whole = progress.add_task("all runs", total=len(jobs), status=status)
            self.tasks = {
                job.name: progress.add_task(job.name, total=None, status="", visible=False)
                for job in jobs
            }

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        changed = self.tally.phase[job.name] != event["phase"]
        self.tally.count(job, event)
        ended, status = event["phase"] in ENDS, _status(event)
        if self.progress:
            self.progress.update(self.whole, completed=self.tally.ended, status=self.tally.text())
            done, total = event.get("update"), event.get("updates")
            self.progress.update(
                self.tasks[job.name], completed=done, total=total, status=status, visible=not ended
            )
        elif changed or time.monotonic() - self.last[job.name] >= 10:  # seconds
            self.last[job.name] = time.monotonic()
            say(f"{job.name}: {status}{f' ({self.tally.text()})' if ended else ''}", err=True)


def _status(event: dict[str, Any]) -> str:
    """``training, 0:42 left, update 60/300, epoch 1.2, loss 2.310, 11,200 tokens/s``."""
    if event.get("update") is None:
        return event["phase"]
    valid = event.get("valid_loss")
    parts = [
        event["phase"],
        f"{clock(event['seconds_left'])} left",
        f"update {event['update']:,}/{event['updates']:,}",
        f"epoch {event['epoch']:.1f}",
        f"loss {event['loss']:.3f}",
        *([] if valid is None else [f"validation {valid:.3f}"]),
        f"{event['tokens_per_second']:,.0f} tokens/s",
    ]
    return ", ".join(parts)


def probe_lines(runs: Sequence[Path], quiet: bool) -> "ProbeListener":
    """A listener that says on stderr, a line each, what is being measured of which run."""
    numbers = {run: number for number, run in enumerate(runs, 1)}
    done: set[Path] = set()
    start = time.monotonic()

    def listen(run: Path, phase: str) -> None:
        elapsed = time.monotonic() - start
        left = ""
        if phase == "done":
            done.add(run)
            left = time_left(elapsed, len(done), len(runs))
            phase = f"done, {len(done)} of {len(runs)}"
        if not quiet:
            number = f"({numbers[run]} of {len(runs)})"
            say(f"{run.name} {number}: {phase} ({clock(elapsed)}{left})", err=True)

    return listen
