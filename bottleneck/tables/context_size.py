"""BLEU of both arms by context size and sentence length: does a larger context carry more?"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..scoring.bootstrap import difference
from .comparison import Comparison
from .render import BarTable, CompactTable, count, new_table, number, ranged, with_bars
from .slides import bounds, typed_frame

TITLE = "BLEU by context size and source words"


def context_size(sizes: Sequence[Comparison]) -> pd.DataFrame:
    """A row a context size x bucket: both arms and the paired gain, BLEU 0-100, 95 % intervals.

    Attention's columns are blank where it was not run.
    """
    rows = [_row(size, place) for size in sizes for place in range(len(size.buckets))]
    return typed_frame(rows, ("context_size", "bucket", "n"))


def _row(comparison: Comparison, place: int) -> dict[str, Any]:
    none, other = comparison.none.estimates[place], comparison.attention
    attention = other.estimates[place] if other else None
    gain = difference(attention, none) if attention else None
    return {
        "context_size": comparison.settings.model.context_size,
        "bucket": comparison.buckets[place],
        "n": comparison.n[place],
        "compression_ratio": comparison.compression_ratio[place],
        "bleu_none": none.value,
        "bleu_attention": attention.value if attention else None,
        "gain": gain.value if gain else None,
        **bounds("bleu_none", none),
        **bounds("bleu_attention", attention),
        **bounds("gain", gain),
        "brevity_penalty_none": comparison.none.brevity[place],
        "brevity_penalty_attention": other.brevity[place] if other else None,
    }


def context_size_table(frame: pd.DataFrame, attention: str | None) -> BarTable:
    """Rows are context size x arm, columns buckets; ranges on second lines."""
    return BarTable(lambda width: _table(frame, attention, width))


def _table(frame: pd.DataFrame, attention: str | None, width: int) -> CompactTable:
    buckets = frame.drop_duplicates("bucket")
    names = zip(buckets["bucket"], buckets["n"], strict=True)
    table = new_table(TITLE, ["source\nwords", *(f"{bucket}\nn={count(n)}" for bucket, n in names)])
    table.padding = 0  # five ranges as wide as 100.0..100.0 leave no room for more
    lines = [(label, _cells(frame, column, width)) for label, column in _lines(attention)]
    for size, rows in frame.groupby("context_size"):
        ratios = [number(ratio, "{:.1f}:1") for ratio in rows["compression_ratio"]]
        table.add_row(f"context {size}", *ratios, style="dim")
        for label, cells in lines:
            table.add_row(f"  {label}", *cells[rows.index])
        table.add_section()
    return table


def _cells(frame: pd.DataFrame, column: str, width: int) -> pd.Series:
    """One column's cells: BLEU with a bar, a gain without."""
    if column == "gain":
        cells = [ranged(row, column, "{:+.1f}") for row in frame.to_dict("records")]
    else:
        cells = with_bars(frame, column, width)
    return pd.Series(cells, index=frame.index, dtype="object")


def _lines(attention: str | None) -> list[tuple[str, str]]:
    """The lines of one context size: label and column."""
    none = ("none", "bleu_none")
    return [none, (attention, "bleu_attention"), ("gain", "gain")] if attention else [none]
