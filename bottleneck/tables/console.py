"""The console that tables are printed on: data is text on it, neither markup nor commands."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..settings.text import plain


class PlainConsole(Console):
    """A console on which a cell such as ``[red]`` is printed as it is, and so is a path.

    Signs that a terminal would obey are spelled, wherever in a table or a text they stand; what
    rich itself sends to move the cursor is left.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "emoji": False, "markup": False} | options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The same segments, their text spelled."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else plain(text), style, control)
