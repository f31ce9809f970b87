"""Tables, text and attention weights on a terminal of 80 columns or more (rich)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..claims.verdict import MARKED_BELOW
from ..scoring.bootstrap import Estimate
from ..settings.errors import plain

MEASURE = 100
"""The most columns of a line of prose: longer lines are hard to read."""
SHADES = {0.1: "░", 0.3: "▒", 0.5: "▓", 0.8: "█"}
"""A weight's shade in a heatmap, by the least weight that has it."""


class PlainConsole(Console):
    """A console that prints data as text: no markup such as ``[red]``, no control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "emoji": False, "markup": False} | options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """rich's segments with their text escaped, but not rich's own control codes."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else plain(text), style, control)


class CompactTable(Table):
    """A table that narrows the space between its columns before it breaks a number."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = console.options.update_width(1_000)  # more than any table needs
        if Table.__rich_measure__(self, console, wide).maximum > options.max_width:
            self.padding = (0, 0, 0, 0)
        yield from super().__rich_console__(console, options)


def print_prose(console: Console, lines: Sequence[str] | str, style: str | None = None) -> None:
    """Print lines of text without markup, broken where they are longer than `MEASURE`."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    console.print(Constrain(Text(text), MEASURE), style=style)


def new_table(title: str, heads: Sequence[str], texts: int = 1) -> CompactTable:
    """A table without rows; its first ``texts`` columns hold text, aligned to the left."""
    look = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD}
    table = CompactTable(title=title, padding=(0, 1, 0, 0), pad_edge=False, **look)
    for index, head in enumerate(heads):
        # A name is folded, not cut: arms may differ only at the end of their names.
        table.add_column(head, justify="left" if index < texts else "right", overflow="fold")
    return table


def beyond(note: str, end: str) -> str:
    """``>`` or ``<`` if a note says that ``value``, ``low`` or ``high`` is a bound, else ""."""
    return ">" if f"{end} at least" in note else "<" if f"{end} under" in note else ""


def cell(
    value: Any, low: Any = None, high: Any = None, form: str = "{:.1f}", ends: str | None = None,
    note: str = "",
) -> str:  # fmt: skip
    """A number, and on a second line its 95 % interval: ``44.0``, ``41.2..46.3``.

    A number that the note calls a bound has a sign: ``>60.0``. ``ends`` is the format of the
    interval's ends, by default the number's; "" leaves out the interval.
    """
    ends = re.sub("[+%]", "", form) if ends is None else ends
    numbers = {"value": (value, form), "low": (low, ends), "high": (high, ends)}
    middle, first, last = (
        "" if pd.isna(number) else beyond(note, end) + numeral.format(number)
        for end, (number, numeral) in numbers.items()
    )
    if not (ends and first + last) or (first == last == middle and middle[0] in "<>"):
        return middle
    return f"{middle}\n{first or 'open'}..{last or 'open'}"


@dataclass(frozen=True)
class Column:
    """A column; ``form`` formats its number, or makes its cell of a row; ``zero`` replaces 0."""

    head: str
    name: str = ""
    form: str | Callable[[Mapping[str, Any]], str] = "{}"
    zero: str = ""


def filled_table(title: str, frame: pd.DataFrame, columns: Sequence[Column]) -> CompactTable:
    """A table with a row for each row of the data; the slide's columns are dim."""
    table = new_table(title, [column.head for column in columns])
    for drawn, column in zip(table.columns, columns, strict=True):
        drawn.style = "dim" if column.head.startswith("slide") else ""
    for row in frame.to_dict("records"):
        cells = []
        for column in columns:
            if callable(column.form):
                cells.append(column.form(row))
            elif column.zero and row[column.name] == 0:
                cells.append(column.zero)
            else:
                ends = (row.get(f"{column.name}_{end}") for end in ("low", "high"))
                cells.append(cell(row[column.name], *ends, column.form))
        table.add_row(*cells)
    return table


def tables_in(body: RenderableType) -> list[tuple[CompactTable, list[tuple[str, ...]]]]:
    """The tables of a page's body, itself or those in the cells of a grid, with heads and rows."""
    columns = body.columns if isinstance(body, Table) else []
    if not isinstance(body, CompactTable):
        return [table for column in columns for item in column.cells for table in tables_in(item)]
    texts = ([str(column.header), *map(str, column.cells)] for column in columns)
    return [(body, list(zip(*texts, strict=True)))]


BUCKET_COLUMNS = [
    Column("source\nwords", "bucket"),
    Column("n", "n", lambda row: f"{row['n']:,}{'*' * (row['n'] < MARKED_BELOW)}"),
]
"""The first columns of most tables."""


def with_bounds(name: str, measured: Estimate | None) -> dict[str, float | None]:
    """A number and its 95 % interval as ``name``, ``name_low``, ``name_high``; None without one."""
    if measured is None or not measured.filled:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: measured.value, f"{name}_low": measured.low, f"{name}_high": measured.high}


def heatmap(
    source: Sequence[str],
    output: Sequence[str],
    weights: Float[ndarray, "output source"],
    width: int,
) -> list[str]:
    """Lines of at most ``width`` columns: a row per output word, source words written downwards."""
    label = max(map(len, output), default=0)
    fit = max(1, (width - label - 1) // 2)  # a source word takes two columns
    marks = np.array([shade * 2 for shade in (" ", *SHADES.values())])
    shades = marks[np.digitize(weights, [*SHADES])]
    lines: list[str] = []
    for start in range(0, len(source), fit):
        words = source[start : start + fit]
        height = max(map(len, words))
        letters = zip(*(word.rjust(height) for word in words), strict=True)
        rows = [("", row) for row in letters]
        rows += zip(output, shades[:, start : start + fit], strict=True)
        lines += [""] if lines else []
        for word, row in rows:
            line = "".join(sign.ljust(2) for sign in row)
            lines.append(f"{word:>{label}} {line}".rstrip())
    return lines
