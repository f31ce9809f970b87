"""The figure of BLEU by length (L-FAIL, L-VIND), from the runs of a bundle."""

from collections.abc import Iterator
from typing import Any

from ..lecture.slides import L_FAIL, L_VIND
from ..results.bundle import Bundle
from ..tables.comparison import NONE, Arm, Comparison, attentions, compare
from .plot import (
    MEAN,
    SEED,
    SLIDE_NOTE,
    Panel,
    Plot,
    bars,
    data_frame,
    drawn_buckets,
    left_out,
    run_facts,
    slide_rows,
)

NAME = "BLEU by length"


def plot(bundle: Bundle) -> Plot:
    """BLEU of both arms, or of the one without attention alone, beside the slide's numbers."""
    comparison = compare(bundle, alone=attentions(bundle) == [])
    panel = Panel(NAME, "source words", "BLEU (0 to 100)", "sentences", limits=(0, None))
    rows = [row for arm in comparison.arms for row in _rows(arm, comparison)]
    rows += _slide(comparison)
    both = comparison.attention is not None
    title = "BLEU by sentence length" + (", with and without attention" if both else "")
    return Plot(title, (panel,), data_frame(rows), (_facts(comparison),))


def _rows(arm: Arm, comparison: Comparison) -> Iterator[dict[str, Any]]:
    """The mean over seeds with its interval in each bucket that is drawn, then each seed."""
    drawn = drawn_buckets(comparison.buckets, comparison.n)
    held = zip(comparison.buckets, comparison.n, arm.estimates, arm.by_seed.T, strict=True)
    for bucket, n, estimate, alone in held:
        if bucket not in drawn:
            continue
        row = {"panel": NAME, "x": bucket, "arm": arm.name, "n": n}
        ends = {"low": estimate.interval.low, "high": estimate.interval.high}
        yield row | {"kind": MEAN, "value": estimate.value} | ends
        for seed, value in zip(arm.seeds, alone.tolist(), strict=True):
            yield row | {"kind": SEED, "seed": seed, "value": value}


def _slide(comparison: Comparison) -> list[dict[str, Any]]:
    """What the slides print for the buckets that are drawn."""
    drawn = drawn_buckets(comparison.buckets, comparison.n)
    if comparison.attention is None:
        printed = {bucket: L_FAIL[bucket].bleu for bucket in drawn if bucket in L_FAIL}
        return slide_rows(NAME, NONE, printed)
    known = [bucket for bucket in drawn if bucket in L_VIND]
    with_attention = {bucket: L_VIND[bucket].attention for bucket in known}
    without = {bucket: L_VIND[bucket].none for bucket in known}
    named = comparison.attention.name
    return slide_rows(NAME, NONE, without) + slide_rows(NAME, named, with_attention)


def _facts(comparison: Comparison) -> str:
    few = left_out(comparison.buckets, comparison.n)
    told = [bars([comparison]), run_facts([comparison]), few, SLIDE_NOTE]
    return " ".join(each for each in told if each)
