"""Tables for a terminal of 80 columns or more (rich)."""

from collections.abc import Callable, Sequence

import pandas as pd
from rich import box
from rich.table import Table

from ..claims.verdict import marked
from .fitting import Fitted, Layout, Spreading, tight

FAILURE_TITLE = "The failure pattern (L-FAIL): no attention, by sentence length"
VINDICATION_TITLE = "The vindication (L-VIND): no attention against {attention}"


BAR_WIDTHS = (10, 5)
"""Columns of a bar, where there is much room and where there is little."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
"""What fills so many eighths of a column."""
SCALE = "Bars: BLEU from 0 to 100."
BASELINE = "baseline"
"""Stands for the drop of the row that the others' drop is of."""


def failure_table(frame: pd.DataFrame) -> Fitted:
    """The failure pattern for a terminal of 80 columns or more."""
    return barred(lambda width: _failure_table(frame, width))


def _failure_table(frame: pd.DataFrame, width: int) -> Table:
    table = new_table(FAILURE_TITLE, ["source\nwords", "n", "ratio", "BLEU", "BP", "drop"])
    for name in ("slide\nBLEU", "slide\ndrop"):
        table.add_column(name, justify="right", style="dim")
    scores, base = with_bars(frame, "bleu", width), baseline(frame)
    for place, row in enumerate(frame.to_dict("records")):
        table.add_row(
            row["bucket"],
            count(row["n"]),
            number(row["compression_ratio"], "{:.1f}:1"),
            scores[place],
            number(row["brevity_penalty"], "{:.2f}"),
            BASELINE if place == base else ranged(row, "quality_drop", "{:+.0f}%"),
            number(row["slide_bleu"], "{:.1f}"),
            slide_drop(row),
        )
    return table


def baseline(frame: pd.DataFrame) -> int:
    """Place of the row of the failure pattern that the drops are of: the first with a BLEU."""
    return int(frame["bleu"].notna().argmax())


def slide_drop(row: dict) -> str:
    """The slide's drop in per cent of its own first row; empty for a bucket that it has not."""
    return BASELINE if row["slide_drop"] == 0 else number(row["slide_drop"], "{:+.0f}%")


def vindication_table(frame: pd.DataFrame, attention: str) -> Fitted:
    """The vindication for a terminal of 80 columns or more."""
    return barred(lambda width: _vindication_table(frame, attention, width))


def _vindication_table(frame: pd.DataFrame, attention: str, width: int) -> Table:
    heads = ["source\nwords", "n", "BLEU\nnone", f"BLEU\n{attention}", "gain", "impr."]
    table = new_table(VINDICATION_TITLE.format(attention=attention), heads)
    for name in ("slide\nnone", "slide\nattn", "slide\nimpr."):
        table.add_column(name, justify="right", style="dim")
    arms = [with_bars(frame, name, width) for name in ("bleu_none", "bleu_attention")]
    for place, row in enumerate(frame.to_dict("records")):
        table.add_row(
            row["bucket"],
            count(row["n"]),
            *(scores[place] for scores in arms),
            ranged(row, "gain", "{:+.1f}"),
            number(row["improvement"], "{:+.0f}%"),
            number(row["slide_none"], "{:.1f}"),
            number(row["slide_attention"], "{:.1f}"),
            number(row["slide_improvement"], "{:+.3g}%"),
        )
    return table


def barred(make: Callable[[int], Table]) -> Fitted:
    """A table with bars as wide as there is room; `make` sets it with bars of so many columns.

    The last layout has none.
    """
    wide, narrow = (_scaled(make(width)) for width in BAR_WIDTHS)
    signs = EIGHTHS.strip()
    tables = [Layout(table, signs) for table in (wide, narrow, tight(narrow))]
    return Fitted([*tables, Layout(make(0))])


def _scaled(table: Table) -> Table:
    """The table with the bars' scale under it."""
    table.caption = f"{SCALE}\n"
    table.caption_justify, table.caption_style = "left", "dim"
    return table


def with_bars(frame: pd.DataFrame, name: str, width: int) -> list[str]:
    """The `ranged` cells of a column of BLEU, each with its bar where ``width`` is not 0."""
    rows = frame.to_dict("records")
    cells = [ranged(row, name, "{:.1f}") for row in rows]
    if not width:
        return cells
    values, ranges = zip(*(cell.partition("\n")[::2] for cell in cells), strict=True)
    longest = max(map(len, (*values, "99.9")))  # so that bars begin at one place
    return [
        "\n".join(filter(None, [f"{bar(row[name], width)} {value:>{longest}}", span]))
        if value
        else ""
        for row, value, span in zip(rows, values, ranges, strict=True)
    ]


def bar(bleu: float, width: int) -> str:
    """BLEU as a bar of so many columns, which 100 fills; what is not 0 is seen."""
    eighths = min(max(round(8 * width * bleu / 100), int(bleu > 0)), 8 * width)
    whole, part = divmod(eighths, 8)
    return f"{EIGHTHS[-1] * whole}{EIGHTHS[part].strip()}".ljust(width)


def new_table(title: str, heads: Sequence[str], texts: int = 1) -> Spreading:
    """A table without rows; its first so many columns are texts, and stand on the left."""
    table = Spreading(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for place, head in enumerate(heads):
        # A name that is cut short no longer tells its arm from the others.
        side = "left" if place < texts else "right"
        table.add_column(head, justify=side, overflow="fold")
    return table


def count(n: int) -> str:
    """A count of sentences, starred where it is small."""
    return f"{n:,}*" if marked(n) else f"{n:,}"


def number(value: float, form: str) -> str:
    """A number in its form; empty where there is none."""
    return "" if pd.isna(value) else form.format(value)


def ranged(row: dict, name: str, form: str) -> str:
    """A value with its interval, where it has one, on a second line, in the same unit.

    Empty where there is none.
    """
    if pd.isna(row[name]):
        return ""
    ends = [row[f"{name}_{end}"] for end in ("low", "high")]
    if any(pd.isna(end) for end in ends):
        return form.format(row[name])
    low, high = (form.format(end).strip("+%") for end in ends)
    return f"{form.format(row[name])}\n{low}..{high}"
