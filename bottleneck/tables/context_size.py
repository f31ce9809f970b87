"""BLEU of both arms by context size and sentence length: does a larger context carry more?"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich.table import Table

from ..scoring.bootstrap import difference
from .comparison import Comparison
from .render import count, new_table, number, ranged
from .slides import bounds, typed_frame

TITLE = "BLEU by context size and source words"


def context_size(sizes: Sequence[Comparison]) -> pd.DataFrame:
    """A row a context size x bucket: both arms and the paired gain, BLEU 0-100, 95 % intervals.

    Attention's columns are blank where it was not run.
    """
    rows = [_row(one, place) for one in sizes for place in range(len(one.buckets))]
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


def context_size_table(frame: pd.DataFrame, attention: str | None) -> Table:
    """Rows are context size x arm, columns buckets; ranges on second lines."""
    buckets = frame.drop_duplicates("bucket")
    names = zip(buckets["bucket"], buckets["n"], strict=True)
    table = new_table(TITLE, ["source\nwords", *(f"{bucket}\nn={count(n)}" for bucket, n in names)])
    table.padding = 0  # five ranges as wide as 100.0..100.0 leave no room for more
    for size, rows in frame.groupby("context_size"):
        cells = rows.to_dict("records")
        ratios = [number(cell["compression_ratio"], "{:.1f}:1") for cell in cells]
        table.add_row(f"context {size}", *ratios, style="dim")
        for label, column, form in _lines(attention):
            table.add_row(f"  {label}", *(ranged(cell, column, form) for cell in cells))
        table.add_section()
    return table


def _lines(attention: str | None) -> list[tuple[str, str, str]]:
    """The lines of one context size: label, column, form."""
    none = ("none", "bleu_none", "{:.1f}")
    if attention is None:
        return [none]
    return [none, (attention, "bleu_attention", "{:.1f}"), ("gain", "gain", "{:+.1f}")]
