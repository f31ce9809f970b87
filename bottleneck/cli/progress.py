"""How long work shows itself: a live table on a terminal, plain lines elsewhere, on stderr."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..runs.pool import Job, Listener
from .console import errors, say

Widths = dict[str, int]
"""Columns that each head of the live table takes, names of runs apart."""

LINE_EVERY = 10.0
"""Seconds between two plain lines of one run."""
ALL_ROWS = 4
"""Up to so many runs are all shown; of more, those that are under way."""
DROPPED = ("tokens/s", "valid", "epoch", "loss", "update", "left")
"""Columns that a narrow terminal does without, the first first: names keep half of its width."""
ENDS = ("done", "diverged", "failed")


@contextmanager
def display(jobs: Sequence[Job], quiet: bool) -> Iterator[Listener]:
    """A listener that shows what the runs report, while the block lasts."""
    console = errors()
    if quiet:
        yield _ignore
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield _Rows(jobs, live).listen
    else:
        yield _Lines(jobs).listen


def _ignore(job: Job, event: dict[str, Any]) -> None:
    """Show nothing."""


class Tally:
    """How the whole stands: runs by state, and the time left."""

    def __init__(self, jobs: Sequence[Job]):
        self.jobs = {job.name: job for job in jobs}
        self.phase = dict.fromkeys(self.jobs, "waiting")
        self.trained: set[str] = set()
        self.started: dict[str, float] = {}
        self.seconds: list[float] = []

    def count(self, job: Job, event: dict[str, Any]) -> None:
        """Take in one event."""
        now = time.monotonic()
        self.phase[job.name] = event["phase"]
        self.started.setdefault(job.name, now)
        if event.get("update"):
            self.trained.add(job.name)
        if event["phase"] in ENDS and job.name in self.trained:
            self.seconds.append(now - self.started[job.name])

    def text(self) -> str:
        """``2 of 12 done, 2 running, 1 failed, 7 left, about 0:14:00 to go``."""
        phases = list(self.phase.values())
        done, waiting = phases.count("done"), phases.count("waiting")
        failed = phases.count("failed") + phases.count("diverged")
        parts = [f"{done} of {len(phases)} done"]
        parts += [f"{len(phases) - done - failed - waiting} running"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{waiting} left"] if waiting else []
        seconds = self.seconds_left()
        parts += [f"about {clock(seconds)} to go"] if seconds else []
        return ", ".join(parts)

    def seconds_left(self) -> float | None:
        """As if every run left took the mean time of those that were trained to their end here."""
        left = [name for name, phase in self.phase.items() if phase not in ENDS]
        if not self.seconds or not left:
            return None
        now, mean = time.monotonic(), sum(self.seconds) / len(self.seconds)
        passed = [now - self.started.get(name, now) for name in left]
        running = sum(self.phase[name] != "waiting" for name in left)
        return sum(max(0.0, mean - each) for each in passed) / max(1, running)


def clock(seconds: float) -> str:
    """``0:42``, ``12:05`` or ``1:20:00``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class _Rows:
    """The live table: one row a run, its latest numbers; above it how the whole stands."""

    def __init__(self, jobs: Sequence[Job], live: Live):
        self.latest: dict[str, dict[str, Any]] = {job.name: {"phase": "waiting"} for job in jobs}
        self.tally, self.live = Tally(jobs), live
        self.widths = _widths(jobs)
        self.live.update(self._shown())

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        known = {key: value for key, value in event.items() if value is not None}
        self.latest[job.name].update(known)
        self.tally.count(job, event)
        self.live.update(self._shown())

    def _shown(self) -> Group:
        longest = max(len(name) for name in (*self.latest, "run"))
        name_width, widths = fitting(self.widths, longest, self.live.console.width)
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for head, width in {"run": name_width, **widths}.items():
            side = "left" if head in ("run", "") else "right"
            table.add_column(head, justify=side, width=width, no_wrap=True, overflow="ellipsis")
        everything = len(self.latest) <= ALL_ROWS
        for name, held in self.latest.items():
            if everything or held["phase"] not in (*ENDS, "waiting"):
                told = dict(zip(self.widths, (held["phase"], *_numbers(held)), strict=True))
                table.add_row(Text(name), *(Text(told[head]) for head in widths))
        return Group(Text(self.tally.text()), table)


def _widths(jobs: Sequence[Job]) -> Widths:
    """Widths that hold whatever comes, so that nothing moves as numbers grow."""
    most = max((job.settings.training.updates for job in jobs), default=1)
    update = 2 * len(f"{most:,}") + 1
    widths = {"": 9, "epoch": 6, "update": max(update, 6), "loss": 6, "valid": 6}
    return widths | {"tokens/s": 9, "left": 8}


def fitting(widths: Widths, longest: int, console: int) -> tuple[int, Widths]:
    """The width of names, the longest of which is given, and the columns that fit beside them."""
    kept, wanted = dict(widths), min(longest, console // 2)
    for head in DROPPED:
        if _room(kept, console) >= wanted:
            break
        kept.pop(head, None)
    return max(1, min(longest, _room(kept, console))), kept


def _room(widths: Widths, console: int) -> int:
    """What is left for names, a space between any two columns."""
    return console - sum(width + 1 for width in widths.values())


class _Lines:
    """Plain lines: every change of phase, and a progress line now and then."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.tally = Tally(jobs)
        self.last: dict[str, float] = {}

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        now = time.monotonic()
        changed = self.tally.phase[job.name] != event["phase"]
        self.tally.count(job, event)
        if not changed and now - self.last[job.name] < LINE_EVERY:
            return
        self.last[job.name] = now
        ended = f" ({self.tally.text()})" if event["phase"] in ENDS else ""
        say(f"{_line(job, event)}{ended}", err=True)


def _line(job: Job, event: dict[str, Any]) -> str:
    """``additive seed 1: training, update 60/300, loss 2.31, 11,200 tokens/s, 0:42 left``."""
    epoch, update, loss, valid, speed, left = _numbers(event)
    parts = [
        event["phase"],
        epoch and f"epoch {epoch}",
        update and f"update {update}",
        loss and f"loss {loss}",
        valid and f"validation {valid}",
        speed and f"{speed} tokens/s",
        left and f"{left} left",
    ]
    return f"{job.name}: {', '.join(part for part in parts if part)}"


def _numbers(held: dict[str, Any]) -> tuple[str, str, str, str, str, str]:
    """Epoch, update, loss, validation loss, speed and time left; empty where unknown."""
    if held.get("update") is None:
        return "", "", "", "", "", ""
    valid = held.get("valid_loss")
    return (
        f"{held['epoch']:.1f}",
        f"{held['update']:,}/{held['updates']:,}",
        f"{held['loss']:.3f}",
        "" if valid is None else f"{valid:.3f}",
        f"{held['tokens_per_second']:,.0f}",
        clock(held["seconds_left"]),
    )
