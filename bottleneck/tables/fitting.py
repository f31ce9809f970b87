"""What a table does with the width and the signs of the console that it is printed on."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

MEASURE = 100
"""Columns of a line of prose at most: longer ones are hard to read, however wide the window is."""

RANGE = "range"
"""Head of the column that ranges get where there is room for one."""
AMPLE = 1_000
"""Columns that no table needs."""


class Spreading(Table):
    """A table whose ranges stand beside their values where there is room, else below them.

    Cells are texts; one with a second line has its value in the first and the range in the second.
    Where there is too little room even so, columns move together.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The widest form that the console has room for."""
        yield from Table.__rich_console__(self._chosen(console, options), console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Of what is printed."""
        return Table.__rich_measure__(self._chosen(console, options), console, options)

    def _chosen(self, console: Console, options: ConsoleOptions) -> Table:
        wide = spread(self)
        if least_width(wide, console) <= options.max_width:
            return wide
        return self if least_width(self, console) <= options.max_width else tight(self)


def least_width(table: Table, console: Console) -> int:
    """Columns that a table takes with no cell folded, ranges below their values."""
    options = console.options.update_width(AMPLE)
    return Table.__rich_measure__(table, console, options).maximum


Part = tuple[RenderableType, Sequence[RenderableType], Column]
"""A head, cells, and the column whose style they have."""


def spread(table: Table) -> Table:
    """The same cells, ranges in columns of their own."""
    return _copy(table, [part for column in table.columns for part in _parts(column)], 1)


def tight(table: Table) -> Table:
    """The same table with one space between its columns."""
    return _copy(table, [(column.header, [*column.cells], column) for column in table.columns], 0)


def _copy(table: Table, parts: Sequence[Part], padding: int) -> Table:
    made = Table(
        title=table.title,
        title_justify=table.title_justify,
        title_style=table.title_style,
        caption=table.caption,
        caption_justify=table.caption_justify,
        caption_style=table.caption_style,
        box=table.box,
        padding=(0, padding, 0, 0),
        pad_edge=table.pad_edge,
    )
    for head, _, column in parts:
        style, justify, overflow = column.style, column.justify, column.overflow
        made.add_column(head, style=style, justify=justify, overflow=overflow)
    for row, cells in zip(
        table.rows, zip(*(cells for _, cells, _ in parts), strict=True), strict=True
    ):
        made.add_row(*cells, style=row.style, end_section=row.end_section)
    return made


def _parts(column: Column) -> Iterator[Part]:
    """The one or two columns that a column is spread into."""
    cells = list(column.cells)
    ranges = [_range(cell) for cell in cells]
    values = [
        cell.partition("\n")[0] if span else _joined(cell)
        for cell, span in zip(cells, ranges, strict=True)
    ]
    yield column.header, values, column
    if any(ranges):
        yield RANGE, ranges, column


def _range(cell: RenderableType) -> str:
    """The second line of a cell where that is a range; empty where it is not."""
    below = cell.partition("\n")[2] if isinstance(cell, str) else ""
    return below if ".." in below else ""


def _joined(cell: RenderableType) -> RenderableType:
    """What is in two lines for lack of room alone, in one."""
    return cell.replace("\n", " ") if isinstance(cell, str) else cell


class Layout(NamedTuple):
    """One way to set a table, and the signs that it takes beside letters and digits."""

    table: Table
    signs: str = ""


class Fitted:
    """The first of several layouts of one table that a console has the room and the signs for.

    The last one is taken where none fits.
    """

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self.layouts = layouts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """That layout."""
        yield self._chosen(console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Of that layout."""
        return Measurement.get(console, options, self._chosen(console, options))

    def _chosen(self, console: Console, options: ConsoleOptions) -> Table:
        for table, signs in self.layouts:
            room = least_width(table, console) <= options.max_width
            if room and shows(options.encoding, signs):
                return table
        return self.layouts[-1].table


def shows(encoding: str, signs: str) -> bool:
    """Whether text in an encoding can hold these signs."""
    try:
        signs.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def print_prose(console: Console, lines: Sequence[str] | str, style: str | None = None) -> None:
    """Print lines of text as they are, broken where they are longer than `MEASURE`."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    console.print(Constrain(Text(text), MEASURE), style=style)
