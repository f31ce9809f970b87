"""Where tables are printed, and how counts and sizes are written."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from ..settings.errors import plain

if TYPE_CHECKING:
    from rich.console import Console

    from ..tables.page import Page

NARROWEST = 80
"""Tables are made for so many columns: in a narrower window a line is better broken than a number
cut short."""


def output() -> "Console":
    """Standard output for tables; a window too narrow for them is taken as wide enough."""
    from ..tables.render import PlainConsole

    return PlainConsole(width=max(PlainConsole().width, NARROWEST))


def errors() -> "Console":
    """Standard error for what moves while work goes on."""
    from ..tables.render import PlainConsole

    return PlainConsole(stderr=True)


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


def show(page: "Page", form: str, details: bool = False) -> None:
    """Print a page in one of the formats; bytes of a file's name that are not text are replaced."""
    if form == "rich":
        page.print(output(), details)
    else:
        say(page.render(form).encode(errors="replace").decode(), nl=False)


def print_pages(pages: "Sequence[Page]", form: str, details: bool = False) -> None:
    """Print pages in one of the formats; of several, CSV has the first only, JSON is a list."""
    if form == "rich":
        for number, page in enumerate(pages):
            if number:
                say()
            page.print(output(), details)
        return
    texts = [page.render(form) for page in pages]
    if form == "csv":
        texts = texts[:1]
    elif form == "json" and len(texts) > 1:
        texts = [f"[{','.join(texts)}]\n"]
    say("\n".join(texts), nl=False)


def print_names(told: Mapping[str, str]) -> None:
    """Names, each with what is told of it beside it."""
    from rich.constrain import Constrain
    from rich.table import Table
    from rich.text import Text

    from ..tables.render import MEASURE

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    for name, text in told.items():
        grid.add_row(Text(name), Text(text))
    output().print(Constrain(grid, MEASURE))
