"""The figure of C1: BLEU against the compression ratio, context sizes apart. One curve or several?

From the runs of a bundle, of one context size or more.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..claims.compression import compression_predicts_loss, measure_curve
from ..lecture.slides import L_FAIL
from ..results.bundle import Bundle
from ..tables.comparison import NONE, Arm, Comparison, compare_sizes
from ..tables.compression import cells
from .plot import (
    MEAN,
    SEED,
    SLIDE_NOTE,
    Panel,
    Plot,
    arm_title,
    bars,
    data_frame,
    roof,
    run_facts,
    slide_rows,
)

X, Y = "compression ratio", "BLEU (0 to 100)"


def plot(bundle: Bundle) -> Plot:
    """A panel an arm; a line a context size, along which the buckets stand."""
    sizes = compare_sizes(bundle)
    rows = [row for one in sizes for arm in one.arms for row in _rows(arm, one)]
    slide = {str(row.compression_ratio): row.bleu for row in L_FAIL.values()}
    rows += slide_rows(arm_title(NONE), NONE, slide)
    shape = {"numeric": True, "log_x": True, "limits": (0, roof(rows))}
    arms = dict.fromkeys(row["arm"] for row in rows)
    panels = tuple(Panel(arm_title(arm), X, Y, "sentences", arm=arm, **shape) for arm in arms)
    steps = tuple(_step(one) for one in sizes)
    title = "Does the compression ratio alone set BLEU?"
    return Plot(title, panels, data_frame(rows), (_judged(sizes), _facts(sizes)), steps)


def _rows(arm: Arm, comparison: Comparison) -> Iterator[dict[str, Any]]:
    """The mean over seeds with its interval at each filled bucket's ratio, then each seed."""
    ratios = zip(comparison.buckets, comparison.n, comparison.compression_ratio, strict=True)
    held = zip(ratios, arm.estimates, arm.by_seed.T, strict=True)
    for (bucket, n, ratio), estimate, alone in held:
        if not estimate.filled:
            continue
        row = {"panel": arm_title(arm.name), "x": _place(ratio), "arm": arm.name, "n": n}
        row |= {"control": _step(comparison), "note": f"{bucket} source words"}
        ends = {"low": estimate.interval.low, "high": estimate.interval.high}
        yield row | {"kind": MEAN, "value": estimate.value} | ends
        for seed, value in zip(arm.seeds, alone.tolist(), strict=True):
            yield row | {"kind": SEED, "seed": seed, "value": value}


def _place(ratio: float) -> str:
    return f"{ratio:.6g}"


def _step(comparison: Comparison) -> str:
    return f"context {comparison.settings.model.context_size}"


def _judged(sizes: Sequence[Comparison]) -> str:
    """What C1 is judged by as a sentence; the reason where it cannot be judged."""
    filled = [cell for cell in cells(sizes) if cell.bleu.filled]
    verdict = compression_predicts_loss(filled)
    if verdict.verdict == "not measured":
        return f"Whether all context sizes fall on one curve (C1) is open: {verdict.because}."
    curve = measure_curve(filled)
    found, interval = curve.rank_correlation.value, curve.rank_correlation.interval
    return (
        f"Without attention (C1: {verdict.verdict}): rank correlation of BLEU with the ratio "
        f"{found:.3f} [{interval.low:.3f}, {interval.high:.3f}]; the ratio explains "
        f"{curve.ratio_points.value:.1f} % of BLEU's rank, length {curve.length_points.value:.1f} "
        "more."
    )


def _facts(sizes: Sequence[Comparison]) -> str:
    buckets = sizes[0].buckets
    return (
        "Ratio: mean source words x embedding size / context size. Along each line the buckets "
        f"{buckets[0]} to {buckets[-1]}, whose levels are compared loosely: other texts have other "
        f"n-grams. {bars(sizes)} {run_facts(sizes)} {SLIDE_NOTE}"
    )
