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


@contextmanager
def display(jobs: Sequence[Job], quiet: bool) -> Iterator[Listener]:
    """A listener that shows what the runs report, while the block lasts."""
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console, bar = errors(), 10
    if quiet:
        yield lambda _job, _event: None
        return
    if not console.is_terminal:
        yield Display(jobs).listen
        return
    longest = max(len(name) for name in ("all runs", *(job.name for job in jobs)))
    names = min(longest, console.width // 2)  # a name that is cut tells no arms apart
    widths = {"description": names, "fields[status]": max(1, console.width - names - bar - 2)}
    first, last = (
        TextColumn(
            f"{{task.{text}}}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", width=width),
        )
        for text, width in widths.items()
    )
    columns = first, BarColumn(bar_width=bar), last
    with Progress(*columns, console=console, transient=True) as progress:
        yield Display(jobs, progress).listen


class Display:
    """The state of the whole: a bar for it and one for each run under way, or plain lines."""

    def __init__(self, jobs: Sequence[Job], progress: "Progress | None" = None):
        self.phases = dict.fromkeys((job.name for job in jobs), "waiting")
        self.trained: set[str] = set()
        self.start = time.monotonic()
        self.last: dict[str, float] = {}
        self.progress = progress
        if progress:
            self.whole = progress.add_task("all runs", total=len(jobs), status=self.text())
            self.tasks = {
                name: progress.add_task(name, total=None, status="", visible=False)
                for name in self.phases
            }

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        """Take in one event, and show it."""
        changed = self.phases[job.name] != event["phase"]
        self.phases[job.name] = event["phase"]
        if event.get("update"):
            self.trained.add(job.name)
        ended, status = event["phase"] in ENDS, _status(event)
        if self.progress:
            completed = sum(phase in ENDS for phase in self.phases.values())
            self.progress.update(self.whole, completed=completed, status=self.text())
            done, total = event.get("update"), event.get("updates")
            self.progress.update(
                self.tasks[job.name], completed=done, total=total, status=status, visible=not ended
            )
        elif changed or time.monotonic() - self.last[job.name] >= 10:  # seconds
            self.last[job.name] = time.monotonic()
            say(f"{job.name}: {status}{f' ({self.text()})' if ended else ''}", err=True)

    def text(self) -> str:
        """``2 of 12 done, about 14:00 left, 2 running, 1 failed, 7 waiting``."""
        phases = Counter(self.phases.values())
        failed, waiting = phases["failed"] + phases["diverged"], phases["waiting"]
        left = len(self.phases) - phases["done"] - failed
        # The time that a run took which was trained here, times the runs left.
        trained = sum(self.phases[name] in ENDS for name in self.trained)
        return (
            f"{phases['done']} of {len(self.phases)} done"
            f"{time_left(time.monotonic() - self.start, trained, trained + left)}"
            f", {left - waiting} running"
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


def _status(event: dict[str, Any]) -> str:
    """``training, 0:42 left, update 60/300, epoch 1.2, loss 2.310, 11,200 tokens/s``."""
    if event.get("update") is None:
        return event["phase"]
    valid = event.get("valid_loss")
    return (
        f"{event['phase']}, {clock(event['seconds_left'])} left, "
        f"update {event['update']:,}/{event['updates']:,}, epoch {event['epoch']:.1f}, "
        f"loss {event['loss']:.3f}, {'' if valid is None else f'validation {valid:.3f}, '}"
        f"{event['tokens_per_second']:,.0f} tokens/s"
    )


def probe_lines(runs: Sequence[Path], quiet: bool) -> "ProbeListener":
    """A listener that says on stderr, a line each, what is being measured of which run."""
    done: set[Path] = set()
    start = time.monotonic()

    def listen(run: Path, phase: str) -> None:
        times = clock(elapsed := time.monotonic() - start)
        if phase == "done":
            done.add(run)
            phase = f"done, {len(done)} of {len(runs)}"
            times += time_left(elapsed, len(done), len(runs))
        if not quiet:
            number = f"({runs.index(run) + 1} of {len(runs)})"
            say(f"{run.name} {number}: {phase} ({times})", err=True)

    return listen
