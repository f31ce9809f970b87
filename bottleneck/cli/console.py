"""Where tables are printed."""

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
    return Console(highlight=False, width=max(console.width, NARROWEST))
