"""Wide tables for a narrow terminal: columns made into as many tables as they need."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from .render import new_table

ROOM = 79
"""Columns that a table may take: one of 80 stays free at its left edge."""


class Column(NamedTuple):
    """A column of a terminal's table: its head, and a text for each size."""

    head: str
    cells: Sequence[str]

    @property
    def width(self) -> int:
        """With the two spaces that rich puts between columns."""
        return 2 + max(len(line) for line in (*self.head.splitlines(), *self.cells))


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
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table


def stacked(titled: Iterable[tuple[str, Table]]) -> Table:
    """Tables one under the other, as one; a title may be wider than its table."""
    grid = Table.grid()
    for title, table in titled:
        if title:
            grid.add_row(Text(title, style="bold"))
        grid.add_row(table)
    return grid
