"""Where tables, lists and messages are printed."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from ..settings.errors import plain

if TYPE_CHECKING:
    from rich.console import Console

    from ..tables.page import Page


def output() -> "Console":
    """Standard output for tables, of 80 columns or more: better a broken line than a cut number."""
    from ..tables.render import PlainConsole

    return PlainConsole(width=max(PlainConsole().width, 80))


def errors() -> "Console":
    """Standard error for progress."""
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


def show(pages: "Sequence[Page]", form: str, details: bool = False) -> None:
    """Print pages in one of the formats; of several, CSV has the first only, JSON is a list.

    Bytes of a file's name that are not text are replaced.
    """
    if form == "rich":
        for number, page in enumerate(pages):
            if number:
                say()
            page.print(output(), details)
        return
    texts = [page.render(form) for page in (pages[:1] if form == "csv" else pages)]
    if form == "json" and len(texts) > 1:
        texts = [f"[{','.join(texts)}]\n"]
    say("\n".join(texts).encode(errors="replace").decode(), nl=False)


def print_names(texts: Mapping[str, str], width: int | None = 100) -> None:
    """Print names in a column, and their texts in a second one, in so many columns at most."""
    from rich.constrain import Constrain
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in texts.items():
        grid.add_row(Text(name), Text(text))
    output().print(Constrain(grid, width))
