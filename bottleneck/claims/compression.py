"""C1: does the compression ratio predict the loss, and does length say more than the ratio does?

A cell is one context size x bucket of the arm without attention. A statistic of all cells is
computed once a resample, in which the cells of a bucket have the same sentences; ratio and length
are not resampled.

Length is judged in ranks, as the correlation is: by the rank of BLEU on the rank of the ratio, and
on the ranks of ratio and length, which order differently from two context sizes on. Ranks keep a
bend in the curve from passing for length: whatever falls with the ratio alone has the ratio's order
reversed, and length adds exactly nothing, whichever context sizes were run; and every cell has a
rank, however low its BLEU. What ranks cannot see is an effect of length too small to change the
order of two cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import Estimate as Resampled
from .verdict import FLOOR_BLEU, Estimate, Judgement, learned, small_buckets

CLEAR_CORRELATION = -0.8
LENGTH_POINTS = 5.0
"""Points of R2, per cent of the variance of BLEU's rank."""
COMPRESSION_RULE = (
    "Held if Spearman's rank correlation of BLEU without attention with the compression ratio, "
    "over all cells (context size x filled bucket), has a 95 % interval below "
    f"{CLEAR_CORRELATION} and length adds under {LENGTH_POINTS:g} points of R2 once the ratio is "
    "known (R2 of BLEU's rank by the ratio's, and by the ratio's and length's); partly if only the "
    "correlation holds; otherwise not held. Not measured with fewer than two context sizes or "
    f"filled buckets, or if BLEU is under {FLOOR_BLEU:g}, or the same, in every cell. A resample "
    "in which all cells score the same counts as no correlation."
)


@dataclass(frozen=True, eq=False)
class Cell:
    """One context size x bucket: sentences, mean source words, ratio (L4), BLEU of none (0-100)."""

    context_size: int
    bucket: str
    sentences: int
    source_words: float
    compression_ratio: float
    bleu: Resampled


@dataclass(frozen=True)
class Curve:
    """What C1 is judged by.

    ``ratio_points`` and ``length_points`` are per cent of the variance of BLEU's rank: explained by
    the ratio's rank, and added by length's.
    """

    rank_correlation: Estimate
    ratio_points: Estimate
    length_points: Estimate


def compression_predicts_loss(cells: Sequence[Cell]) -> Judgement | str:
    """C1: the compression ratio predicts the loss of quality, and length adds little to it."""
    rows = [cell for cell in cells if cell.bleu.filled]
    sizes, buckets = ({getattr(row, name) for row in rows} for name in ("context_size", "bucket"))
    if len(sizes) < 2 or len(buckets) < 2:
        return (
            "two context sizes and two filled length buckets are needed, and there are "
            f"{len(sizes)} and {len(buckets)}"
        )
    if np.ptp(np.round([row.bleu.value for row in rows], 9)) == 0:
        return f"BLEU is {rows[0].bleu.value:.1f} in every cell: there is no order to judge"
    if not any(learned(row.bleu.value) for row in rows):
        return f"BLEU is under {FLOOR_BLEU:g} in every cell: nothing has been learned to judge"
    curve = measure_curve(rows)
    rank = curve.rank_correlation
    clauses = [
        f"over {len(rows)} cells of {len(sizes)} context sizes the rank correlation of BLEU with "
        f"the compression ratio is {rank.text('{:.3f}')}",
        f"of the variance of BLEU's rank the ratio explains {curve.ratio_points.value:.1f} %, and "
        f"length adds {curve.length_points.text()} points",
        # A bucket has the same sentences at every context size.
        small_buckets({row.bucket: row.sentences for row in rows}),
    ]
    partly = rank.high < CLEAR_CORRELATION
    held = partly and curve.length_points.value < LENGTH_POINTS
    return Judgement(held, partly, clauses, "rank correlation of BLEU with the ratio", rank)


def measure_curve(cells: Sequence[Cell]) -> Curve:
    """What the ranks of ratio and length say of that of BLEU, over all filled cells.

    What length adds to R2 is its squared part correlation,
    (r_length - r_ratio r)^2 / (1 - r^2), with r the correlation of ratio and length.
    """
    ratio, length = (
        ranks(np.array([getattr(cell, name) for cell in cells]))
        for name in ("compression_ratio", "source_words")
    )
    # The test set's BLEU in the first row, a resample's in every other; rounding makes no order.
    bleu = np.stack([np.array([cell.bleu.value, *cell.bleu.draws]) for cell in cells], axis=-1)
    order, common = ranks(np.round(bleu, 9)), float(correlation(ratio, length))
    by_ratio, by_length = correlation(ratio, order), correlation(length, order)
    added = (by_length - by_ratio * common) ** 2 / (1 - common**2)
    rows = by_ratio, 100 * by_ratio**2, 100 * added
    return Curve(*(Estimate.of(Resampled(float(row[0]), row[1:])) for row in rows))


def ranks(values: Float[ndarray, "*rows cells"]) -> Float[ndarray, "*rows cells"]:
    """Rank of each cell among its row's, 1 the lowest; ties share their mean rank."""
    cells, others = values[..., :, None], values[..., None, :]
    return (others < cells).sum(axis=-1) + ((others == cells).sum(axis=-1) + 1) / 2


def correlation(
    x: Float[ndarray, "cells"], y: Float[ndarray, "*rows cells"]
) -> Float[ndarray, "*rows"]:
    """Pearson's correlation of x with each row of y; none (0) with a row that is constant."""
    varies = np.ptp(y, axis=-1) > 0
    dx, dy = x - x.mean(), y - y.mean(axis=-1, keepdims=True)
    spreads = np.sqrt((dx**2).sum() * (dy**2).sum(axis=-1))
    return np.where(varies, dy @ dx / np.where(varies, spreads, 1.0), 0.0)
