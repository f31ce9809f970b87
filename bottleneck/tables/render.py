"""Tables for a terminal (rich), for a page (Markdown), and as CSV."""

from collections.abc import Sequence

import pandas as pd
from rich import box
from rich.table import Table

from ..claims.verdict import marked

FAILURE_TITLE = "The failure pattern (L-FAIL): no attention, by sentence length"
VINDICATION_TITLE = "The vindication (L-VIND): no attention against {attention}"


def failure_table(frame: pd.DataFrame) -> Table:
    """The failure pattern for a terminal of 80 columns or more."""
    table = _table(FAILURE_TITLE, ["source\nwords", "n", "ratio", "BLEU", "BP", "drop"])
    for name in ("slide\nBLEU", "slide\ndrop"):
        table.add_column(name, justify="right", style="dim")
    for place, row in enumerate(frame.to_dict("records")):
        table.add_row(
            row["bucket"],
            _count(row["n"]),
            _number(row["compression_ratio"], "{:.1f}:1"),
            _ranged(row, "bleu", "{:.1f}"),
            _number(row["brevity_penalty"], "{:.2f}"),
            "baseline" if place == 0 else _ranged(row, "quality_drop", "{:+.0f}%"),
            _number(row["slide_bleu"], "{:.1f}"),
            "baseline" if place == 0 else _number(row["slide_drop"], "{:+.0f}%"),
        )
    return table


def vindication_table(frame: pd.DataFrame, attention: str) -> Table:
    """The vindication for a terminal of 80 columns or more."""
    heads = ["source\nwords", "n", "BLEU\nnone", f"BLEU\n{attention}", "gain", "impr."]
    table = _table(VINDICATION_TITLE.format(attention=attention), heads)
    for name in ("slide\nnone", "slide\nattn", "slide\nimpr."):
        table.add_column(name, justify="right", style="dim")
    for row in frame.to_dict("records"):
        table.add_row(
            row["bucket"],
            _count(row["n"]),
            _ranged(row, "bleu_none", "{:.1f}"),
            _ranged(row, "bleu_attention", "{:.1f}"),
            _ranged(row, "gain", "{:+.1f}"),
            _number(row["improvement"], "{:+.0f}%"),
            _number(row["slide_none"], "{:.1f}"),
            _number(row["slide_attention"], "{:.1f}"),
            _number(row["slide_improvement"], "{:+.3g}%"),
        )
    return table


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for head in heads:
        table.add_column(head, justify="left" if head.startswith("source") else "right")
    return table


def _count(n: int) -> str:
    return f"{n:,}*" if marked(n) else f"{n:,}"


def _number(value: float, form: str) -> str:
    return "" if pd.isna(value) else form.format(value)


def _ranged(row: dict, name: str, form: str) -> str:
    """A value with its interval on a second line, in the same unit; empty where there is none."""
    if pd.isna(row[name]):
        return ""
    low, high = (form.format(row[f"{name}_{end}"]).strip("+%") for end in ("low", "high"))
    return f"{form.format(row[name])}\n{low}..{high}"


def markdown(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """The whole table as Markdown: title, rows, caption."""
    heads = "| " + " | ".join(frame.columns) + " |"
    rule = "|" + "---|" * len(frame.columns)
    rows = ["| " + " | ".join(_cell(value) for value in row) + " |" for row in frame.to_numpy()]
    caption = [f"- {_escaped(line)}" for line in lines]
    return "\n".join([f"# {title}", "", heads, rule, *rows, "", *caption]) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.2f}"
    return _escaped(str(value))


def _escaped(text: str) -> str:
    """Text that Markdown reads as it stands."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def csv(frame: pd.DataFrame) -> str:
    """The table as CSV, four decimals, blanks where there is no number."""
    return frame.to_csv(index=False, float_format="%.4f", lineterminator="\n")
