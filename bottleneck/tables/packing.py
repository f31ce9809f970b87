"""Columns made into as many tables as the width of a console takes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from .render import new_table


class Column(NamedTuple):
    """A column of a terminal's table: its head, and a text for each size."""

    head: str
    cells: Sequence[str]
    justify: str = "right"

    @property
    def width(self) -> int:
        """With the two spaces that rich puts between columns."""
        return 2 + max(len(line) for line in (*self.head.splitlines(), *self.cells))


class Part(NamedTuple):
    """Rows under one title: what names them, and columns that belong together as blocks."""

    title: str
    first: Column
    blocks: Sequence[Sequence[Column]]


class Packed:
    """Tables one under the other, each as wide as the console it is printed on."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Each part's title, which may be wider than its tables, and these."""
        for title, first, blocks in self.parts:
            yield Text(title, style="bold")
            # One column stays free at the table's left edge.
            for columns in packed(blocks, options.max_width - 1 - first.width):
                yield table_of([first, *columns])


def packed(blocks: Iterable[Sequence[Column]], room: int) -> list[list[Column]]:
    """Columns into tables of this width: blocks whole where that can be, beside each other."""
    tables: list[list[Column]] = [[]]
    for block in blocks:
        if tables[-1] and _width([*tables[-1], *block]) > room:
            tables.append([])
        for column in block:
            if tables[-1] and _width([*tables[-1], column]) > room:
                tables.append([])
            tables[-1].append(column)
    return [table for table in tables if table]


def _width(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns)


def table_of(columns: Sequence[Column]) -> Table:
    """Columns of equally many cells as a table for a terminal."""
    table = new_table("", [column.head for column in columns])
    for made, column in zip(table.columns, columns, strict=True):
        made.justify = column.justify
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table
