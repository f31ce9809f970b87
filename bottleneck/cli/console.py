"""Where tables, lists, messages and progress are printed."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..settings.errors import plain
from ..settings.files import write_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from ..runs.pool import Job, Listener
    from ..tables.page import Page


def output() -> "Console":
    """Standard output for tables, of 80 columns or more: better a broken line than a cut number."""
    from ..tables.render import PlainConsole

    return PlainConsole(width=max(PlainConsole().width, 80))


def say(text: str | bytes = "", err: bool = False, nl: bool = True) -> None:
    """Print text of ours or of others.

    For a person (on standard error, and on a terminal) signs that a terminal would obey are
    spelled; another program gets every byte as it is. A standard error that cannot be written, a
    log on a full disk, ends no work.
    """
    stream = sys.stderr if err else sys.stdout
    if err or (stream is not None and stream.isatty()):
        text = plain(text.decode(errors="replace") if isinstance(text, bytes) else text)
    try:
        typer.echo(text, err=err, nl=nl, color=True)  # color: nothing taken out
    except OSError as error:
        if not err or isinstance(error, BrokenPipeError):  # whoever read it wants no more
            raise


def show(page: "Page", form: str, details: bool = False, out: Path | None = None) -> None:
    """Print a page in one of the formats, or write it to a file.

    Bytes of a file's name that are not text are replaced.
    """
    if form == "rich":
        page.print(output(), details)
        return
    text = page.render(form).encode(errors="replace").decode()
    if out is None:
        say(text, nl=False)
    else:
        write_text(out, text)
        say(f"Written to {out}")


def print_names(texts: Mapping[str, str]) -> None:
    """Print names in a column, and their texts in a second one, in 100 columns at most."""
    from rich.constrain import Constrain
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in texts.items():
        grid.add_row(Text(name), Text(text))
    output().print(Constrain(grid, 100))


@contextmanager
def display(jobs: "Sequence[Job]", quiet: bool) -> "Iterator[Listener]":
    """A listener that shows on standard error what the runs report, while the block lasts.

    On a terminal there is a bar for each run, elsewhere plain lines.
    """
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    from ..tables.render import PlainConsole

    console = PlainConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield (lambda _job, _event: None) if quiet else Display(jobs).listen
        return
    longest = max(len(name) for name in ("all runs", *(job.name for job in jobs)))
    width = min(longest, console.width // 2)  # a name that is cut tells no arms apart
    cut = {"no_wrap": True, "overflow": "ellipsis"}
    names, rest = (
        Column(**cut, width=width),
        Column(**cut, width=max(1, console.width - width - 12)),
    )
    columns = (
        TextColumn("{task.description}", markup=False, table_column=names),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[status]}", markup=False, table_column=rest),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Display(jobs, progress).listen


class Display:
    """The state of the whole: a bar for it and one for each run under way, or plain lines."""

    def __init__(self, jobs: "Sequence[Job]", progress: "Progress | None" = None):
        from ..runs.pool import ENDS

        self.ends = ENDS
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

    def listen(self, job: "Job", event: dict[str, Any]) -> None:
        """Take in one event, and show it.

        ``training, 0:42 left, update 60/300, epoch 1.2, loss 2.310, 11,200 tokens/s``.
        """
        status = phase = event["phase"]
        changed, ended = self.phases[job.name] != phase, phase in self.ends
        self.phases[job.name] = phase
        update, updates = event.get("update"), event.get("updates")
        if update:
            self.trained.add(job.name)
        if update is not None:
            valid = event.get("valid_loss")
            status = (
                f"{phase}, {clock(event['seconds_left'])} left, "
                f"update {update:,}/{updates:,}, epoch {event['epoch']:.1f}, "
                f"loss {event['loss']:.3f}, {'' if valid is None else f'validation {valid:.3f}, '}"
                f"{event['tokens_per_second']:,.0f} tokens/s"
            )
        if self.progress:
            completed = sum(phase in self.ends for phase in self.phases.values())
            self.progress.update(self.whole, completed=completed, status=self.text())
            bar = {"completed": update, "total": updates, "status": status}
            self.progress.update(self.tasks[job.name], visible=not ended, **bar)
        elif phase != "starting" and (changed or time.monotonic() - self.last[job.name] >= 10):
            self.last[job.name] = time.monotonic()
            say(f"{job.name}: {status}{f' ({self.text()})' if ended else ''}", err=True)

    def text(self) -> str:
        """``2 of 12 done, about 14:00 left, 2 running, 1 failed, 7 waiting``."""
        phases = Counter(self.phases.values())
        failed, waiting = phases["failed"] + phases["diverged"], phases["waiting"]
        left = len(self.phases) - phases["done"] - failed
        # The time that a run took which was trained here, times the runs left.
        trained = sum(self.phases[name] in self.ends for name in self.trained)
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
