"""The tables of runs: the two that mirror the slides, those over context sizes, and all arms.

BLEU is 0 to 100, each number has its 95 % interval in ``NAME_low`` and ``NAME_high``, and what was
not measured is blank.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..claims.rules import Cell
from ..claims.verdict import LEAST_BASE
from ..lecture.slides import L4, L_FAIL, L_VIND
from ..results.bundle import Results
from ..scoring.bootstrap import Estimate, difference, percent_change
from ..settings.errors import UserError
from .comparison import Comparison, arm_of, declared
from .render import (
    BUCKET_COLUMNS,
    Column,
    CompactTable,
    bounds,
    count,
    filled_table,
    new_table,
    ranged,
    typed_frame,
)

_PAIR = "bleu_none bleu_attention gain"
SPECS = {
    "failure-pattern": (
        "The failure pattern (L-FAIL): no attention, by sentence length",
        "bucket n compression_ratio bleu quality_drop slide_bleu slide_drop bleu: quality_drop: "
        "brevity_penalty",
    ),
    "vindication": (
        "The vindication (L-VIND): no attention against {attention}",
        f"bucket n {_PAIR} improvement slide_none slide_attention slide_improvement bleu_none: "
        "bleu_attention: gain: improvement: brevity_penalty_none brevity_penalty_attention",
    ),
    "context-size": (
        "BLEU by context size and source words",
        f"context_size bucket n compression_ratio {_PAIR} bleu_none: bleu_attention: gain: "
        "brevity_penalty_none brevity_penalty_attention",
    ),
    "compression": (
        "Compression (L4) and BLEU without attention, by ratio",
        "context_size bucket n source_words numbers compression_ratio slide_words slide_ratio "
        "slide_word bleu bleu: brevity_penalty",
    ),
    "arms": ("BLEU of every arm by sentence length", ""),
}
"""Title of each table, and columns of its data; ``NAME:`` is both ends of an interval."""
_COLUMNS = [
    Column("context", "context_size"),
    Column("mean", "source_words", "{:.1f}"),
    Column("ratio", "compression_ratio", "{:.1f}:1"),
    Column("slide L4", "slide_word"),
    Column("BLEU", "bleu", "{:.1f}"),
    Column("BP", "brevity_penalty", "{:.2f}"),
    Column("drop", "quality_drop", "{:+.0f}%", zero="baseline"),
    Column("BLEU\nnone", "bleu_none", "{:.1f}"),
    Column("BLEU\n{attention}", "bleu_attention", "{:.1f}"),
    Column("gain", "gain", "{:+.1f}"),
    Column("impr.", "improvement", lambda row: ranged({"": row["improvement"]}, "", "{:+.0f}%")),
    Column("slide\nBLEU", "slide_bleu", "{:.1f}", printed=True),
    Column("slide\ndrop", "slide_drop", "{:+.0f}%", zero="baseline", printed=True),
    Column("slide\nnone", "slide_none", "{:.1f}", printed=True),
    Column("slide\nattn", "slide_attention", "{:.1f}", printed=True),
    Column("slide\nimpr.", "slide_improvement", "{:+.3g}%", printed=True),
]
"""How a terminal shows a column of the data."""
QUALITY = "BLEU {bleu:.1f} (slide: {slide_word})"
LIKE_SLIDE = {
    "failure-pattern": [
        Column("Sentence Length", "bucket", "{} words"),
        Column("Compression Ratio", "compression_ratio", "{:.1f}:1"),
        Column("BLEU Score", "bleu", "{:.1f}"),
        Column("Quality Drop", "quality_drop", "{:+z.0f}%", zero="baseline"),
    ],
    "vindication": [
        Column("Sentence Length", "bucket", "{} words"),
        Column("No Attention", "bleu_none", "{:.1f}"),
        Column("With Attention", "bleu_attention", "{:.1f}"),
        Column("Improvement", "improvement", "{:+z.0f}%"),
    ],
    "compression": [
        Column("Length", "bucket", "{} words"),
        Column("Input Dims", "numbers", "{:.0f}"),
        Column("Context Dims", "context_size"),
        Column("Ratio", "compression_ratio", "{:.1f}:1"),
        Column("Quality", "bleu", lambda row: row["slide_word"] and QUALITY.format_map(row)),
    ],
}
"""The columns of the slide's own table, by the data that fill them."""


def run_data(name: str, sizes: Sequence[Comparison]) -> pd.DataFrame:
    """The data of a table: a row a context size x bucket.

    ``quality_drop`` is per cent of the first filled bucket without attention, ``slide_drop`` of the
    slide's first row; ``improvement`` is per cent of the arm without attention. ``source_words`` is
    the bucket's mean, ``numbers`` that times the embedding size; ``slide_words``, ``slide_ratio``
    and ``slide_word`` are of the row's L4. Compression has the lowest ratio first, and empty
    buckets last.
    """
    columns = re.sub(r"(\w+):", r"\1_low \1_high", SPECS[name][1]).split()
    rows = [_row(size, place) for size in sizes for place in range(len(size.none.buckets))]
    frame = typed_frame(
        [{column: row.get(column) for column in columns} for row in rows],
        ("context_size", "bucket", "n", "slide_word"),
    )
    if name == "compression":
        frame = frame.sort_values("compression_ratio", kind="stable", ignore_index=True)
    return frame


def _row(comparison: Comparison, place: int) -> dict[str, Any]:
    """All that is known of a bucket, by column."""
    none, other, model = comparison.none, comparison.attention, comparison.settings.model
    bucket, ratio = none.buckets[place], comparison.compression_ratio[place]
    measured, base = none.estimates[place], next((e for e in none.estimates if e.filled), None)
    estimates = {"bleu": measured, "bleu_none": measured, "quality_drop": _relative(measured, base)}
    row = {
        "context_size": model.context_size,
        "bucket": bucket,
        "n": none.n[place],
        "source_words": none.source_words[place],
        "numbers": none.source_words[place] * model.embedding_size,
        "compression_ratio": ratio,
        "slide_word": "",
        "brevity_penalty": none.brevity[place],
        "brevity_penalty_none": none.brevity[place],
    }
    if other:
        attention = other.estimates[place]
        estimates |= {"bleu_attention": attention, "gain": difference(attention, measured)}
        estimates["improvement"] = _relative(attention, measured)
        row["brevity_penalty_attention"] = other.brevity[place]
    for name, estimate in estimates.items():
        row |= {name: estimate.value if estimate else None, **bounds(name, estimate)}
    if printed := L_FAIL.get(bucket):
        row |= {"slide_bleu": printed.bleu, "slide_drop": printed.drop_percent}
    if printed := L_VIND.get(bucket):
        row |= {"slide_none": printed.none, "slide_attention": printed.attention}
        row["slide_improvement"] = printed.improvement_percent
    if none.n[place]:
        # The row of L4 with the highest unrounded ratio that is not above this one, else the first.
        lower = [row for row in L4 if row.ratio <= ratio] or [L4[0]]
        slide = max(lower, key=lambda row: row.ratio)
        row |= {"slide_words": slide.words, "slide_ratio": slide.printed_ratio}
        row["slide_word"] = slide.quality
    return row


def _relative(measured: Estimate, base: Estimate | None) -> Estimate | None:
    """Per cent over the base; None for an empty bucket, or a base under `LEAST_BASE`."""
    if base is None or not measured.filled or not base.value >= LEAST_BASE:
        return None
    return percent_change(measured, base)


def cells(sizes: Sequence[Comparison]) -> list[Cell]:
    """The filled cells without attention, as the rule of C1 takes them."""
    return [
        Cell(size.settings.model.context_size, bucket, size.none.n[place],
             size.none.source_words[place], size.compression_ratio[place],
             size.none.estimates[place])
        for size in sizes
        for place, bucket in enumerate(size.none.buckets)
        if size.none.n[place]
    ]  # fmt: skip


def run_table(name: str, frame: pd.DataFrame, attention: str | None = None) -> CompactTable:
    """A table's data for a terminal of 80 columns or more, without the columns that are blank."""
    title = SPECS[name][0].format(attention=attention)
    if name != "arms":
        chosen = [
            replace(column, head=column.head.format(attention=attention))
            for column in _COLUMNS
            if column.name in frame and frame[column.name].notna().any()
        ]
        start = int("context_size" in frame)
        return filled_table(title, frame, [*chosen[:start], *BUCKET_COLUMNS, *chosen[start:]])
    table = new_table(title, ["arm", *frame["bucket"].unique()])
    table.padding = 0  # five ranges leave no space
    above: dict[str, list[str]] = {}
    for arm, rows in frame.groupby("arm", sort=False):
        ratios = ["" if pd.isna(ratio) else f"{ratio:.1f}:1" for ratio in rows["compression_ratio"]]
        lines = {"": [f"n={count(n)}" for n in rows["n"]], "ratio": ratios}
        for head, texts in lines.items():
            if texts != above.get(head):  # of other test sentences or a different context
                table.add_row(head, *texts, style="dim")
        above = lines
        table.add_row(arm, *(ranged(row, "bleu", "{:.1f}") for row in rows.to_dict("records")))
    return table


def slide_table(
    name: str, frame: pd.DataFrame, title: str
) -> tuple[pd.DataFrame, CompactTable, str]:
    """A table's data in its slide's columns, one number per cell: as text, and for a terminal.

    And a phrase on what the cells leave out: the sentences per row, and the widest interval.
    """
    numbers = frame.drop(columns=[n for n in frame if n.endswith(("_low", "_high"))])
    columns, rows = LIKE_SLIDE[name], numbers.to_dict("records")
    texts = {column.head: [column.text(row) for row in rows] for column in columns}
    scores = [column.name for column in columns if column.name.startswith("bleu")]
    widest = max((frame[f"{score}_high"] - frame[f"{score}_low"]).max() for score in scores)
    counts = " to ".join(f"{n:,}" for n in sorted({frame["n"].min(), frame["n"].max()}))
    phrase = f"{counts} sentences per row; 95 % intervals over test sentences at most {widest:.1f}"
    return pd.DataFrame(texts), filled_table(title, numbers, columns), f"{phrase} BLEU wide"


def word_spans(frame: pd.DataFrame) -> str:
    """The BLEU that each word of L4 covers, if a better word covers a lower one; else empty."""
    spans = frame[frame["n"] > 0].groupby("slide_word")["bleu"].agg(["min", "max"])
    spans = spans.reindex([row.quality for row in L4]).dropna()
    if (spans["min"] > spans["max"].shift(-1, fill_value=-1.0)).all():
        return ""
    covers = (f"{word} {low:.1f} to {high:.1f}" for word, low, high in spans.itertuples())
    return f"The slide's words do not order the BLEU measured here: {', '.join(covers)}."


def arms(bundle: Results) -> pd.DataFrame:
    """One row per arm x bucket: BLEU, mean over seeds; errors as of `named_arms`."""
    rows = []
    for runs in named_arms(bundle):
        arm, first = arm_of(bundle, runs), runs.iloc[0]
        scale = first["embedding_size"] / first["context_size"]
        columns = zip(arm.buckets, arm.n, arm.source_words, arm.estimates, strict=True)
        for bucket, n, words, bleu in columns:
            rows.append(
                {"arm": first["arm"], "seeds": len(runs), "parameters": arm.parameters}
                | {"bucket": bucket, "n": n, "compression_ratio": words * scale}
                | {"bleu": bleu.value, **bounds("bleu", bleu)}
            )
    return typed_frame(rows, ("arm", "seeds", "parameters", "bucket", "n"))


def named_arms(bundle: Results) -> list[pd.DataFrame]:
    """The runs of each arm of the experiment, one row per run, in declared order.

    Runs that were scored in other buckets than the first are a ``UserError``.
    """
    runs = declared(bundle)
    if len(edges := runs["edges"].unique()) > 1:
        raise UserError(
            f"the runs were scored in other buckets ({'; '.join(edges)}): choose with "
            f"`--where`, as by `--where run={runs['run'].iloc[0]}`"
        )
    return [rows for _, rows in runs.groupby("arm", sort=False)]
