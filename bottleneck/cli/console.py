"""Print tables, lists, messages and progress."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import typer

from ..settings.errors import plain
from ..settings.files import write_file

if TYPE_CHECKING:
    from rich.console import Console

    from ..runs.pool import Listener
    from ..settings.sweep import Cell
    from ..tables.page import Page


def output() -> "Console":
    """Standard output, at least 80 columns wide: a wrapped line is better than a cut number."""
    from ..tables.render import PlainConsole

    return PlainConsole(width=max(PlainConsole().width, 80))


def say(text: str | bytes = "", err: bool = False, nl: bool = True) -> None:
    """Print a text; control characters are escaped on stderr and on a terminal."""
    if err or sys.stdout.isatty():
        text = plain(text.decode(errors="replace") if isinstance(text, bytes) else text)
    try:
        typer.echo(text, err=err, nl=nl, color=True)  # keeps every character
    except OSError as error:
        if not err or isinstance(error, BrokenPipeError):  # not for a log on a full disk
            raise


def show(page: "Page", form: str, details: bool = False, out: Path | None = None) -> None:
    """Print a page in one of the formats, or write it to a file."""
    if form == "rich":
        page.print(output(), details)
        return
    text = page.render(form).encode(errors="replace").decode()
    if out is None:
        say(text, nl=False)
    else:
        write_file(out, text)
        say(f"Written to {out}")


def print_names(texts: Mapping[str, str]) -> None:
    """Print names in one column and their texts in another, 80 characters wide."""
    width = max(map(len, texts))
    for name, text in texts.items():
        start = f"{name:<{width}}  "
        say(fill(text, 80, initial_indent=start, subsequent_indent=" " * len(start)))


@contextmanager
def display(cells: "Sequence[Cell]", quiet: bool) -> "Iterator[Listener]":
    """A listener that shows progress on stderr: live on a terminal, elsewhere what changes.

    ``all runs: 2 of 12 done, about 0:14:00 left, 2 running, 1 failed, 7 waiting``
    ``dot: training, 0:00:42 left, update 60/300, epoch 1.2, loss 2.31, 11,200 tokens/s``
    """
    from rich.live import Live
    from rich.text import Text

    from ..runs.pool import ENDS
    from ..tables.render import PlainConsole

    console = PlainConsole(stderr=True)
    live = Live(console=console, transient=True) if console.is_terminal and not quiet else None
    phases = dict.fromkeys((cell.label for cell in cells), "waiting")
    under_way, printed = {}, {}  # by label: lines of the screen, and times of the last line
    trained, start = set(), time.monotonic()

    def listen(cell: "Cell", event: dict[str, Any]) -> None:
        label, phase = cell.label, event["phase"]
        status, changed, ended = phase, phases[label] != phase, phase in ENDS
        phases[label] = phase
        if "update" in event:
            if event["update"]:
                trained.add(label)
            seconds, valid = round(event["seconds_left"]), event.get("valid_loss")
            status = (
                f"{phase}, {timedelta(seconds=seconds)} left, "
                f"update {event['update']:,}/{event['updates']:,}, epoch {event['epoch']:.1f}, "
                f"loss {event['loss']:.3f}, {'' if valid is None else f'validation {valid:.3f}, '}"
                f"{event['tokens_per_second']:,.0f} tokens/s"
            )
        under_way[label] = f"{label}: {status}"
        if ended:
            del under_way[label]
        counts = Counter(phases.values())
        failed, waiting = counts["failed"] + counts["diverged"], counts["waiting"]
        missing = len(phases) - counts["done"] - failed
        parts = [f"{counts['done']} of {len(phases)} done"]
        ready = sum(phases[name] in ENDS for name in trained)
        if missing and ready:  # the time per run trained here, times the runs left
            seconds = round((time.monotonic() - start) / ready * missing)
            parts.append(f"about {timedelta(seconds=seconds)} left")
        parts.append(f"{missing - waiting} running")
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{waiting} waiting"] if waiting else []
        whole = ", ".join(parts)
        if live:
            text = "\n".join([f"all runs: {whole}", *under_way.values()])
            live.update(Text(text, no_wrap=True, overflow="ellipsis"))
        elif phase != "starting" and (changed or time.monotonic() - printed[label] >= 10):
            printed[label] = time.monotonic()
            say(f"{label}: {status}{f' ({whole})' if ended else ''}", err=True)

    with live or nullcontext():
        yield (lambda _cell, _event: None) if quiet else listen
