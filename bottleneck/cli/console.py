"""Where tables are printed, and how counts and sizes are written."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 80
"""Tables are made for so many columns: in a narrower window a line is better broken than a number
cut short."""


def output() -> "Console":
    """Standard output, without guesses at what a number or a path is."""
    from rich.console import Console

    console = Console(highlight=False)
    width = max(console.width, NARROWEST)
    return Console(highlight=False, emoji=False, width=width)


def print_names(told: Mapping[str, str]) -> None:
    """Names, each with what is told of it beside it."""
    from rich.constrain import Constrain
    from rich.table import Table
    from rich.text import Text

    from ..tables.fitting import MEASURE

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    for name, text in told.items():
        grid.add_row(Text(name), Text(text))
    output().print(Constrain(grid, MEASURE))


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``12 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(count: int) -> str:
    """Bytes for people: ``120 kB``, ``3.4 MB``, ``1.2 GB``."""
    kilobytes = count / 1e3
    if kilobytes < 1000:
        return f"{kilobytes:,.0f} kB"
    return f"{kilobytes / 1e3:,.1f} MB" if kilobytes < 1e6 else f"{kilobytes / 1e6:,.1f} GB"
