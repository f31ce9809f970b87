"""Tables, text and attention weights on a terminal of 80 columns or more (rich)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..claims.verdict import marked
from ..scoring.bootstrap import Estimate
from ..settings.errors import plain

MEASURE = 100
"""The most columns of a line of prose, which is hard to read when it is longer."""
SHADES = " ░▒▓█"
PLAIN_SHADES = str.maketrans(SHADES, " .:+#")
"""For a terminal whose encoding lacks the shades."""
LOWEST = (0.0, 0.1, 0.3, 0.5, 0.8)
"""The least weight of each shade."""
CELL = 2
"""Columns of the terminal for a source word."""


class PlainConsole(Console):
    """A console that prints data as text: markup such as ``[red]`` and paths are not interpreted.

    Control characters in tables and texts are escaped; rich's own control codes are not.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "emoji": False, "markup": False} | options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of rich, with their text escaped."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else plain(text), style, control)


class CompactTable(Table):
    """A table that reduces the space between its columns before it breaks a number."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, compact where it would not fit otherwise."""
        wide = console.options.update_width(1_000)  # more than any table needs
        if Table.__rich_measure__(self, console, wide).maximum > options.max_width:
            self.padding = (0, 0, 0, 0)
        yield from super().__rich_console__(console, options)


def print_prose(console: Console, lines: Sequence[str] | str, style: str | None = None) -> None:
    """Print lines of text without markup, broken where they are longer than `MEASURE`."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    console.print(Constrain(Text(text), MEASURE), style=style)


def new_table(title: str, heads: Sequence[str], texts: int = 1) -> CompactTable:
    """A table without rows, of which the first ``texts`` columns hold text, aligned to the left."""
    table = CompactTable(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for place, head in enumerate(heads):
        # A name is folded, not cut: the end of it may be what distinguishes an arm.
        table.add_column(head, justify="left" if place < texts else "right", overflow="fold")
    return table


@dataclass(frozen=True)
class Column:
    """A column of a terminal's table: its head, and how it prints the data's column ``name``.

    ``form`` is that of a number, or prints a row. An interval, if the data have one, stands on a
    second line; ``zero`` stands in place of 0. ``printed`` are the slide's numbers, dimmed.
    """

    head: str
    name: str = ""
    form: str | Callable[[Mapping[str, Any]], str] = "{}"
    zero: str = ""
    printed: bool = False

    def text(self, row: Mapping[str, Any]) -> str:
        """The cell of a row."""
        if callable(self.form):
            return self.form(row)
        if self.zero and row[self.name] == 0:
            return self.zero
        return ranged(row, self.name, self.form)


def filled_table(title: str, frame: pd.DataFrame, columns: Sequence[Column]) -> CompactTable:
    """A table with a row for each of the data."""
    table = new_table(title, [column.head for column in columns])
    for drawn, column in zip(table.columns, columns, strict=True):
        drawn.style = "dim" if column.printed else ""
    for row in frame.to_dict("records"):
        table.add_row(*(column.text(row) for column in columns))
    return table


def count(n: int) -> str:
    """A count of sentences, with a star if it is small."""
    return f"{n:,}*" if marked(n) else f"{n:,}"


def ranged(row: Mapping[str, Any], name: str, form: str) -> str:
    """A value, and its interval, if any, on a second line; empty without a value."""
    value, low, high = (
        "" if pd.isna(number := row.get(key)) else form.format(number)
        for key in (name, f"{name}_low", f"{name}_high")
    )
    if not (value and low and high):
        return value
    return f"{value}\n{low.strip('+%')}..{high.strip('+%')}"


BUCKET_COLUMNS = [
    Column("source\nwords", "bucket"),
    Column("n", "n", lambda row: count(row["n"])),
]
"""The first columns of most tables."""


def bounds(name: str, measured: Estimate | None) -> dict[str, float | None]:
    """The 95 % interval as ``name_low`` and ``name_high``; blank for an empty bucket."""
    if measured is None or not measured.filled:
        return {f"{name}_low": None, f"{name}_high": None}
    interval = measured.interval
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def typed_frame(rows: list[dict[str, Any]], kept: Sequence[str] = ("bucket", "n")) -> pd.DataFrame:
    """A data frame in which all but the ``kept`` columns (texts and counts) are floats."""
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame.columns if name not in kept]
    return frame.astype(dict.fromkeys(numbers, "float64"))


def heatmap(
    source: Sequence[str],
    output: Sequence[str],
    weights: Float[ndarray, "output source"],
    width: int,
) -> list[str]:
    """Lines of at most ``width`` columns: one row per output word, one column per source word.

    Source words are written downwards. Where they do not fit beside each other, the matrix is cut
    into pieces, one below the other.
    """
    label = max(map(len, output), default=0)
    fit = max(1, (width - label - 1) // CELL)
    lines: list[str] = []
    for start in range(0, len(source), fit):
        words = source[start : start + fit]
        height = max(map(len, words))
        rows = [
            ("", letters) for letters in zip(*(word.rjust(height) for word in words), strict=True)
        ]
        for word, row in zip(output, weights[:, start : start + fit].tolist(), strict=True):
            marks = [SHADES[sum(weight >= least for least in LOWEST[1:])] for weight in row]
            rows.append((word, [mark * CELL for mark in marks]))
        lines += [""] if lines else []
        lines += [
            f"{word:>{label}} {''.join(cell.ljust(CELL) for cell in cells)}".rstrip()
            for word, cells in rows
        ]
    return lines


def legend() -> str:
    """What each shade stands for."""
    steps = zip(LOWEST[1:], SHADES[1:], strict=True)
    texts = (f"{least:.1f} <= {shade}".removeprefix("0") for least, shade in steps)
    return f"weight: ' ' < {' < '.join(texts)}"
