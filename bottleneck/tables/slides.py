"""The two tables that mirror the slides: measured numbers beside the printed ones."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..claims.verdict import LEAST_BASE
from ..lecture.slides import L_FAIL, L_VIND
from ..scoring.bootstrap import Estimate, difference, percent_change
from .comparison import Comparison
from .render import BarTable, CompactTable, count, new_table, number, ranged, with_bars

FAILURE_TITLE = "The failure pattern (L-FAIL): no attention, by sentence length"
VINDICATION_TITLE = "The vindication (L-VIND): no attention against {attention}"
BASELINE = "baseline"
"""Stands for the drop of the row that the drops of the others are relative to."""


def failure_pattern(comparison: Comparison) -> pd.DataFrame:
    """L-FAIL, one row per bucket: BLEU of the arm without attention and its fall from the first.

    ``quality_drop`` is per cent of the first filled bucket, ``slide_drop`` of the slide's first
    row; BLEU is 0-100.
    """
    base = next((e for e in comparison.none.estimates if e.filled), None)
    rows = []
    for place, bucket in enumerate(comparison.buckets):
        measured, printed = comparison.none.estimates[place], L_FAIL.get(bucket)
        drop = relative(measured, base)
        rows.append(
            {
                "bucket": bucket,
                "n": comparison.n[place],
                "compression_ratio": comparison.compression_ratio[place],
                "bleu": measured.value,
                "quality_drop": drop.value if drop else None,
                "slide_bleu": printed.bleu if printed else None,
                "slide_drop": printed.drop_percent if printed else None,
                **bounds("bleu", measured),
                **bounds("quality_drop", drop),
                "brevity_penalty": comparison.none.brevity[place],
            }
        )
    return typed_frame(rows)


def vindication(comparison: Comparison) -> pd.DataFrame:
    """L-VIND, one row per bucket: both arms, the paired gain in BLEU, the improvement in per cent.

    The improvement is of the arm without attention; BLEU is 0-100.
    """
    rows = []
    for place, bucket in enumerate(comparison.buckets):
        none, attention = (arm.estimates[place] for arm in comparison.arms)
        gain, improvement = difference(attention, none), relative(attention, none)
        printed = L_VIND.get(bucket)
        rows.append(
            {
                "bucket": bucket,
                "n": comparison.n[place],
                "bleu_none": none.value,
                "bleu_attention": attention.value,
                "gain": gain.value,
                "improvement": improvement.value if improvement else None,
                "slide_none": printed.none if printed else None,
                "slide_attention": printed.attention if printed else None,
                "slide_improvement": printed.improvement_percent if printed else None,
                **bounds("bleu_none", none),
                **bounds("bleu_attention", attention),
                **bounds("gain", gain),
                **bounds("improvement", improvement),
                "brevity_penalty_none": comparison.none.brevity[place],
                "brevity_penalty_attention": comparison.arms[1].brevity[place],
            }
        )
    return typed_frame(rows)


def failure_table(frame: pd.DataFrame) -> BarTable:
    """The failure pattern for a terminal of 80 columns or more."""
    return BarTable(lambda width: _failure_table(frame, width))


def _failure_table(frame: pd.DataFrame, width: int) -> CompactTable:
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


def vindication_table(frame: pd.DataFrame, attention: str) -> BarTable:
    """The vindication for a terminal of 80 columns or more."""
    return BarTable(lambda width: _vindication_table(frame, attention, width))


def _vindication_table(frame: pd.DataFrame, attention: str, width: int) -> CompactTable:
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


def relative(measured: Estimate, base: Estimate | None) -> Estimate | None:
    """Per cent over the base; None for an empty bucket, or a base under `LEAST_BASE`."""
    if base is None or not measured.filled or not base.value >= LEAST_BASE:
        return None
    return percent_change(measured, base)


def bounds(name: str, measured: Estimate | None) -> dict[str, Any]:
    """The 95 % interval as ``name_low`` and ``name_high``; blank for an empty bucket."""
    filled = measured is not None and measured.filled
    interval = measured.interval if filled else None
    return {
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def typed_frame(rows: list[dict[str, Any]], kept: Sequence[str] = ("bucket", "n")) -> pd.DataFrame:
    """A data frame in which all but the ``kept`` columns (texts and counts) are floats."""
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame.columns if name not in kept]
    return frame.astype(dict.fromkeys(numbers, "float64"))
