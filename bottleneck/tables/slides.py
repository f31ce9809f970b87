"""The two tables that mirror the slides: measured numbers beside the printed ones."""

from typing import Any

import pandas as pd

from ..lecture.printed import L_FAIL, L_VIND
from ..scoring.bootstrap import Estimate, difference, percent_change
from .comparison import Comparison


def failure_pattern(comparison: Comparison) -> pd.DataFrame:
    """L-FAIL, a row a bucket: BLEU of the arm without attention and its fall from the first.

    ``quality_drop`` and ``slide_drop`` are per cent of the first filled bucket; BLEU is 0-100.
    """
    base = next((e for e in comparison.none.estimates if e.filled), None)
    rows = []
    for place, bucket in enumerate(comparison.buckets):
        measured, printed = comparison.none.estimates[place], L_FAIL.get(bucket)
        drop = percent_change(measured, base) if base and measured.filled else None
        rows.append(
            {
                "bucket": bucket,
                "n": comparison.n[place],
                "compression_ratio": comparison.compression_ratio[place],
                "bleu": measured.value,
                "quality_drop": drop.value if drop else None,
                "slide_bleu": printed.bleu if printed else None,
                "slide_drop": (printed.drop_percent or 0) if printed else None,
                **_bounds("bleu", measured),
                **_bounds("quality_drop", drop),
                "brevity_penalty": comparison.none.brevity[place],
            }
        )
    return _frame(rows)


def vindication(comparison: Comparison) -> pd.DataFrame:
    """L-VIND, a row a bucket: both arms, the paired gain in BLEU, the improvement in per cent."""
    rows = []
    for place, bucket in enumerate(comparison.buckets):
        none, attention = (arm.estimates[place] for arm in (comparison.none, comparison.attention))
        gain, improvement = difference(attention, none), percent_change(attention, none)
        printed = L_VIND.get(bucket)
        rows.append(
            {
                "bucket": bucket,
                "n": comparison.n[place],
                "bleu_none": none.value,
                "bleu_attention": attention.value,
                "gain": gain.value,
                "improvement": improvement.value,
                "slide_none": printed.none if printed else None,
                "slide_attention": printed.attention if printed else None,
                "slide_improvement": printed.improvement_percent if printed else None,
                **_bounds("bleu_none", none),
                **_bounds("bleu_attention", attention),
                **_bounds("gain", gain),
                "brevity_penalty_none": comparison.none.brevity[place],
                "brevity_penalty_attention": comparison.attention.brevity[place],
            }
        )
    return _frame(rows)


def _bounds(name: str, measured: Estimate | None) -> dict[str, Any]:
    """The 95 % interval as ``name_low`` and ``name_high``; blank for an empty bucket."""
    filled = measured is not None and measured.filled
    interval = measured.interval if filled else None
    return {
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A data frame in which all but the bucket and its count are floats."""
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame.columns if name not in ("bucket", "n")]
    return frame.astype(dict.fromkeys(numbers, "float64"))
