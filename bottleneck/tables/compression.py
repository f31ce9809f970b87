"""L4 measured: the slide's word for each compression ratio, and the BLEU that came of it."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd
from rich.table import Table

from ..claims.compression import Cell
from ..lecture.slides import L4
from .comparison import Comparison
from .render import count, new_table, number, ranged
from .slides import bounds, typed_frame

TITLE = "Compression (L4) and BLEU without attention, by ratio"
SLIDE = (
    "Slide L4 (100 numbers per word, 256 for the sentence): "
    + "; ".join(f"{row.words} words {row.printed_ratio}:1 {row.quality}" for row in L4)
    + ". Each row has the word of the slide's highest ratio that does not exceed its own, before "
    f"the slide's rounding ({', '.join(f'{row.ratio:.3g}' for row in L4)}); lower ratios are "
    f"{L4[0].quality} too, for which the slide has no better word."
)


def slide_row(ratio: float) -> SimpleNamespace:
    """The row of L4 with the highest unrounded ratio that is not above this one, else the first."""
    return max((row for row in L4 if row.ratio <= ratio), key=lambda row: row.ratio, default=L4[0])


def compression(sizes: Sequence[Comparison]) -> pd.DataFrame:
    """A row a context size x bucket, lowest ratio first, empty buckets last.

    ``source_words`` is the bucket's mean, ``numbers`` that times the embedding size; BLEU is 0-100,
    without attention. ``slide_words``, ``slide_ratio`` and ``slide_word`` are of the row's L4.
    """
    rows = [_row(size, place) for size in sizes for place in range(len(size.buckets))]
    frame = typed_frame(rows, ("context_size", "bucket", "n", "slide_word"))
    return frame.sort_values("compression_ratio", kind="stable", ignore_index=True)


def _row(comparison: Comparison, place: int) -> dict[str, Any]:
    ratio, words = comparison.compression_ratio[place], comparison.source_words[place]
    slide = slide_row(ratio) if comparison.n[place] else None
    model, measured = comparison.settings.model, comparison.none.estimates[place]
    return {
        "context_size": model.context_size,
        "bucket": comparison.buckets[place],
        "n": comparison.n[place],
        "source_words": words,
        "numbers": words * model.embedding_size,
        "compression_ratio": ratio,
        "slide_words": slide.words if slide else None,
        "slide_ratio": slide.printed_ratio if slide else None,
        "slide_word": slide.quality if slide else "",
        "bleu": measured.value,
        **bounds("bleu", measured),
        "brevity_penalty": comparison.none.brevity[place],
    }


def cells(sizes: Sequence[Comparison]) -> list[Cell]:
    """The filled cells without attention, as the rule of C1 takes them."""
    return [
        Cell(
            size.settings.model.context_size,
            size.buckets[place],
            size.n[place],
            size.source_words[place],
            size.compression_ratio[place],
            size.none.estimates[place],
        )
        for size in sizes
        for place in range(len(size.buckets))
        if size.n[place]
    ]


def compression_table(frame: pd.DataFrame) -> Table:
    """L4 for a terminal: words, numbers into numbers, ratio, the slide's word, BLEU."""
    heads = ["mean", "n", "numbers", "ratio", "slide L4", "BLEU", "BP"]
    table = new_table(TITLE, ["source\nwords", *heads])
    for row in frame.to_dict("records"):
        table.add_row(
            row["bucket"],
            number(row["source_words"], "{:.1f}"),
            count(row["n"]),
            number(row["numbers"], "{:,.0f}:") + str(row["context_size"]),
            number(row["compression_ratio"], "{:.1f}:1"),
            row["slide_word"],
            ranged(row, "bleu", "{:.1f}"),
            number(row["brevity_penalty"], "{:.2f}"),
        )
    return table
