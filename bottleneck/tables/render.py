"""Tables for a terminal of 80 columns or more (rich)."""

from collections.abc import Sequence

import pandas as pd
from rich import box
from rich.table import Table

from ..claims.verdict import marked

FAILURE_TITLE = "The failure pattern (L-FAIL): no attention, by sentence length"
VINDICATION_TITLE = "The vindication (L-VIND): no attention against {attention}"


def failure_table(frame: pd.DataFrame) -> Table:
    """The failure pattern for a terminal of 80 columns or more."""
    table = new_table(FAILURE_TITLE, ["source\nwords", "n", "ratio", "BLEU", "BP", "drop"])
    for name in ("slide\nBLEU", "slide\ndrop"):
        table.add_column(name, justify="right", style="dim")
    for place, row in enumerate(frame.to_dict("records")):
        table.add_row(
            row["bucket"],
            count(row["n"]),
            number(row["compression_ratio"], "{:.1f}:1"),
            ranged(row, "bleu", "{:.1f}"),
            number(row["brevity_penalty"], "{:.2f}"),
            "baseline" if place == 0 else ranged(row, "quality_drop", "{:+.0f}%"),
            number(row["slide_bleu"], "{:.1f}"),
            "baseline" if place == 0 else number(row["slide_drop"], "{:+.0f}%"),
        )
    return table


def vindication_table(frame: pd.DataFrame, attention: str) -> Table:
    """The vindication for a terminal of 80 columns or more."""
    heads = ["source\nwords", "n", "BLEU\nnone", f"BLEU\n{attention}", "gain", "impr."]
    table = new_table(VINDICATION_TITLE.format(attention=attention), heads)
    for name in ("slide\nnone", "slide\nattn", "slide\nimpr."):
        table.add_column(name, justify="right", style="dim")
    for row in frame.to_dict("records"):
        table.add_row(
            row["bucket"],
            count(row["n"]),
            ranged(row, "bleu_none", "{:.1f}"),
            ranged(row, "bleu_attention", "{:.1f}"),
            ranged(row, "gain", "{:+.1f}"),
            number(row["improvement"], "{:+.0f}%"),
            number(row["slide_none"], "{:.1f}"),
            number(row["slide_attention"], "{:.1f}"),
            number(row["slide_improvement"], "{:+.3g}%"),
        )
    return table


def new_table(title: str, heads: Sequence[str]) -> Table:
    """A table without rows; texts (heads that begin with "source") on the left."""
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for head in heads:
        # A name that is cut short no longer tells its arm from the others.
        side = "left" if head.startswith("source") else "right"
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
