"""How long work shows itself: a live table on a terminal, plain lines elsewhere, on stderr."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from ..runs.pool import Job, Listener

LINE_EVERY = 10.0
"""Seconds between two plain lines of one run."""


@contextmanager
def display(jobs: Sequence[Job], quiet: bool) -> Iterator[Listener]:
    """A listener that shows what the runs report, while the block lasts."""
    console = Console(stderr=True)
    if quiet:
        yield _ignore
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield _Rows(jobs, live).listen
    else:
        yield _Lines().listen


def _ignore(job: Job, event: dict[str, Any]) -> None:
    """Show nothing."""


class _Rows:
    """The live table: one row a run, its latest numbers."""

    def __init__(self, jobs: Sequence[Job], live: Live):
        self.latest: dict[str, dict[str, Any]] = {job.name: {"phase": "waiting"} for job in jobs}
        self.live = live
        self.live.update(self._table())

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        known = {key: value for key, value in event.items() if value is not None}
        self.latest[job.name].update(known)
        self.live.update(self._table())

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for head in ("run", "", "update", "loss", "valid", "tokens/s", "left"):
            table.add_column(head, justify="left" if head in ("run", "") else "right")
        for name, held in self.latest.items():
            table.add_row(name, held["phase"], *_numbers(held))
        return table


class _Lines:
    """Plain lines: every change of phase, and a progress line now and then."""

    def __init__(self) -> None:
        self.phase: dict[str, str] = {}
        self.last: dict[str, float] = {}

    def listen(self, job: Job, event: dict[str, Any]) -> None:
        now = time.monotonic()
        changed = self.phase.get(job.name) != event["phase"]
        if not changed and now - self.last[job.name] < LINE_EVERY:
            return
        self.phase[job.name], self.last[job.name] = event["phase"], now
        print(_line(job, event), file=sys.stderr, flush=True)


def _line(job: Job, event: dict[str, Any]) -> str:
    """``additive seed 1: training, update 60/300, loss 2.31, 11,200 tokens/s, 0:42 left``."""
    update, loss, valid, speed, left = _numbers(event)
    parts = [
        event["phase"],
        update and f"update {update}",
        loss and f"loss {loss}",
        valid and f"validation {valid}",
        speed and f"{speed} tokens/s",
        left and f"{left} left",
    ]
    return f"{job.name}: {', '.join(part for part in parts if part)}"


def _numbers(held: dict[str, Any]) -> tuple[str, str, str, str, str]:
    """Update, loss, validation loss, speed and time left as text; empty where unknown."""
    if held.get("update") is None:
        return "", "", "", "", ""
    valid = held.get("valid_loss")
    minutes, seconds = divmod(round(held["seconds_left"]), 60)
    return (
        f"{held['update']:,}/{held['updates']:,}",
        f"{held['loss']:.3f}",
        "" if valid is None else f"{valid:.3f}",
        f"{held['tokens_per_second']:,.0f}",
        f"{minutes}:{seconds:02d}",
    )
