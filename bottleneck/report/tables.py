"""Tables as HTML: those of the terminal, with their captions, row heads and intervals."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..figures.style import MARKERS, attention_of
from ..tables.fitting import Fitted
from .markup import Html, joined, prose, tag

RANGE = ".."
"""Stands between the ends of an interval on a terminal."""
MOST = 9
"""Columns that paper has room for in the usual type."""


@dataclass(frozen=True)
class Grid:
    """A table as texts: a line break stands before an interval, or where a head was broken.

    The first ``headed`` columns are texts that name the row.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    headed: int


def grids(table: RenderableType, caption: str) -> Iterator[Grid]:
    """The tables that a terminal shows under each other; those without a title have ``caption``.

    Of a table without heads, which is there to hold others, texts are the next one's title. Bars,
    for which a terminal may have room, are left out.
    """
    if isinstance(table, Fitted):
        yield from grids(table.layouts[-1].table, caption)
    elif isinstance(table, Table) and table.show_header:
        yield _grid(table, _text(table.title) or caption)
    elif isinstance(table, Table):
        for cell in (cell for column in table.columns for cell in column.cells):
            if isinstance(cell, (str, Text)):
                caption = _text(cell) or caption
            else:
                yield from grids(cell, caption)


def _grid(table: Table, caption: str) -> Grid:
    columns = [[_text(cell) for cell in column.cells] for column in table.columns]
    named = [
        column.justify == "left" or all(cell[:1].isalpha() for cell in cells)
        for column, cells in zip(table.columns, columns, strict=True)
    ]
    return Grid(
        caption=caption,
        heads=tuple(_text(column.header) for column in table.columns),
        rows=tuple(zip(*columns, strict=True)),
        headed=max(1, (*named, False).index(False)),
    )


def _text(cell: object) -> str:
    """What the terminal shows, without its colours."""
    if isinstance(cell, Text):
        return cell.plain
    return Text.from_markup(str(cell)).plain if cell is not None else ""


def table_html(grid: Grid) -> Html:
    """A table that scrolls in a box of its own where the page is narrow."""
    heads = [_head(head, place, grid.headed) for place, head in enumerate(grid.heads)]
    bodies = [
        _body(tuple(rows), grid.headed) for _, rows in groupby(grid.rows, key=lambda row: row[0])
    ]
    kind = "wide" if len(heads) > MOST else None
    return captioned(grid.caption, tag("thead", tag("tr", *heads)), *bodies, kind=kind)


def captioned(caption: str, *parts: Html, kind: str | None = None) -> Html:
    """A table in a box that can be reached and scrolled by keyboard."""
    told = tag("caption", tag("span", caption))
    table = tag("table", told, *parts, class_=kind)
    return tag("div", table, class_="scroll", role="group", aria_label=caption, tabindex="0")


def facts_html(caption: str, facts: Iterable[tuple[str, str]]) -> Html:
    """A row a fact: its name, and text."""
    lines = [
        tag("tr", tag("th", name, scope="row"), tag("td", text, class_="text"))
        for name, text in facts
    ]
    return captioned(caption, tag("tbody", *lines), kind="facts")


def _head(text: str, place: int, headed: int) -> Html:
    kinds = [*(["first"] if place == 0 else []), *(["text"] if place < headed else [])]
    # A column's name may be broken behind its underscores, so that its numbers say how wide it is.
    told = joined(re.split("(?<=_)(?=.)", _joined_lines(text)), tag("wbr"))
    return tag("th", told, scope="col", class_=" ".join(kinds) or None)


def _body(rows: Sequence[tuple[str, ...]], headed: int) -> Html:
    """The rows of one first cell, which heads them all."""
    if len(rows) == 1 and not any(rows[0][1:]):
        wide = str(len(rows[0]))
        head = tag("th", rows[0][0], scope="rowgroup", colspan=wide, class_="first")
        return tag("tbody", tag("tr", head))
    span = str(len(rows)) if len(rows) > 1 else None
    scope = "rowgroup" if span else "row"
    first = tag("th", _named(rows[0][0]), scope=scope, rowspan=span, class_="first")
    lines = [_line(row, headed) for row in rows]
    return tag("tbody", *(tag("tr", first if not place else None, line)
                          for place, line in enumerate(lines)))  # fmt: skip


def _line(row: Sequence[str], headed: int) -> Html:
    """A row without its first cell."""
    named = [tag("th", _named(cell), scope="row") for cell in row[1:headed]]
    return joined([*named, *(tag("td", _value(cell)) for cell in row[headed:])])


def _named(cell: str) -> Html:
    """A row's name, of an arm with its colour before it."""
    text = _joined_lines(cell)
    return joined([swatch(text), text])


def swatch(arm: str) -> Html | None:
    """A field in the arm's colour; None for what is no arm."""
    held = attention_of(arm)
    return tag("span", "", class_=f"swatch arm-{held}") if held in MARKERS else None


def _value(cell: str) -> Html:
    """A number with its interval in small type below it."""
    first, _, rest = cell.partition("\n")
    if RANGE in rest:
        return joined([first, interval(rest.replace("\n", " "))])
    return joined([_joined_lines(cell)])


def interval(ends: str) -> Html:
    """``48.4..57.4`` as a person reads it."""
    return tag("small", ends.replace(RANGE, " to "))


def _joined_lines(text: str) -> str:
    """Lines of a narrow head as one; a word that was broken is whole again."""
    lines = text.split("\n")
    whole = lines[0]
    for line in lines[1:]:
        broken = whole.endswith("-") and whole[-2:-1].isalpha() and line[:1].islower()
        whole = whole[:-1] + line if broken else f"{whole} {line}"
    return whole.strip()


def listed(lines: Iterable[str], kind: str = "notes") -> Html:
    """A list of notes."""
    return tag("ul", *(tag("li", prose(line)) for line in lines), class_=kind)
