"""C1: does the compression ratio predict the loss, and does length say more than the ratio does?

A cell is one context size x bucket of the arm without attention. All cells of a bucket are scored
on the same resamples, and a statistic of all cells is computed once a resample, so its interval
respects that pairing; it speaks of other test sentences, not of other seeds. A cell's ratio and
length are taken as given: they are not resampled.

Length is judged as the correlation is, in ranks: by two lines through the cells, the rank of BLEU
on the rank of the ratio, and on the ranks of ratio and length. Within one context size the two
order alike, so that the question has an answer from two context sizes on. Ranks keep a bend in the
curve from passing for length: whatever falls with the ratio alone, like the lecture's own curve,
has the ratio's order reversed, and length adds exactly nothing, whichever context sizes were run;
and every cell has a rank, however low its BLEU. What ranks cannot see is an effect of length too
small to change the order of two cells; the closer the ratios, the less escapes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..lecture.slides import L_FAIL, log_linear_fit
from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    Verdict,
    at_floor,
    decided,
    small_buckets,
    with_interval,
)

CLEAR_CORRELATION = -0.8
LENGTH_POINTS = 5.0
"""Points of R2, per cent of the variance of BLEU's rank."""
LEAST_BLEU = 0.5
"""Cells under this BLEU have a rank but no useful logarithm: they are left out of the exponential
fit, on which no verdict rests, and named. In a resample, a fitted cell that falls below it counts
as this much."""
COMPRESSION_RULE = (
    "Held if Spearman's rank correlation of BLEU without attention with the compression ratio, "
    "over all cells (context size x filled bucket), has a 95 % interval below "
    f"{CLEAR_CORRELATION} and length adds under {LENGTH_POINTS:g} points of R2 once the ratio is "
    "known (R2 of BLEU's rank by the ratio's, and by the ratio's and length's); partly if only the "
    "correlation holds; otherwise not held. Not measured with fewer than two context sizes or "
    f"filled buckets, or if BLEU is under {FLOOR_BLEU:g}, or the same, in every cell. A resample "
    "in which all cells score the same counts as no correlation."
)

Statistic = Callable[[Float[ndarray, "*rows cells"]], Float[ndarray, "*rows"]]
"""From the BLEU (or log BLEU) of all cells to a number, for the test set and for each resample."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One context size x bucket: sentences, mean source words, ratio (L4), BLEU of none (0-100)."""

    context_size: int
    bucket: str
    sentences: int
    source_words: float
    compression_ratio: float
    bleu: Estimate


@dataclass(frozen=True, eq=False)
class Fit:
    """BLEU = scale exp(-rate ratio) by least squares of log BLEU, and log BLEU's correlation."""

    scale: Estimate
    rate: Estimate
    correlation: Estimate


@dataclass(frozen=True, eq=False)
class Curve:
    """What C1 is judged by, and the fit, which is absent if too few cells have a logarithm.

    ``ratio_points`` and ``length_points`` are per cent of the variance of BLEU's rank: explained by
    the ratio's rank, and added by length's. ``left_out`` are the cells that the fit leaves out.
    """

    left_out: tuple[Cell, ...]
    rank_correlation: Estimate
    ratio_points: Estimate
    length_points: Estimate
    fit: Fit | None


def compression_predicts_loss(cells: Sequence[Cell]) -> Verdict:
    """C1: the compression ratio predicts the loss of quality, and length adds little to it."""
    rows = [cell for cell in cells if cell.bleu.filled]
    if reason := _unmeasured(rows):
        return Verdict("C1", "not measured", COMPRESSION_RULE, reason)
    curve = measure_curve(rows)
    sizes = len({cell.context_size for cell in rows})
    left_out = ", ".join(f"{cell.context_size} x {cell.bucket}" for cell in curve.left_out)
    clauses = [
        f"over {len(rows)} cells of {sizes} context sizes the rank correlation of BLEU with the "
        f"compression ratio is {with_interval(curve.rank_correlation, '{:.3f}')}",
        f"of the variance of BLEU's rank the ratio explains {curve.ratio_points.value:.1f} %, and "
        f"length adds {with_interval(curve.length_points, '{:.1f}')} points",
        _fit_clause(curve.fit),
        f"left out of the fit, BLEU under {LEAST_BLEU}: {left_out}" if left_out else "",
        # A bucket has the same sentences at every context size.
        small_buckets({cell.bucket: cell.sentences for cell in rows}),
    ]
    word = "held" if curve.length_points.value < LENGTH_POINTS else "partly"
    if not curve.rank_correlation.interval.high < CLEAR_CORRELATION:
        word = "not held"
    measure = "rank correlation of BLEU with the ratio"
    return decided("C1", word, COMPRESSION_RULE, clauses, measure, curve.rank_correlation)


def _unmeasured(rows: Sequence[Cell]) -> str:
    """Why the filled cells cannot be judged; empty if they can."""
    sizes, buckets = ({getattr(row, name) for row in rows} for name in ("context_size", "bucket"))
    if len(sizes) < 2 or len(buckets) < 2:
        return (
            "two context sizes and two filled length buckets are needed, and there are "
            f"{len(sizes)} and {len(buckets)}"
        )
    if np.ptp(_order(np.array([row.bleu.value for row in rows]))) == 0:
        return f"BLEU is {rows[0].bleu.value:.1f} in every cell: there is no order to judge"
    if at_floor([row.bleu for row in rows]):
        return f"BLEU is under {FLOOR_BLEU:g} in every cell: nothing has been learned to judge"
    return ""


def _fit_clause(fit: Fit | None) -> str:
    """The fit, and that of the slide's table."""
    if fit is None:
        return "too few cells for a fit of log BLEU"
    printed = L_FAIL.values()
    scale, rate, correlation = log_linear_fit(
        [row.compression_ratio for row in printed], [row.bleu for row in printed]
    )
    return (
        f"the fit is BLEU = {fit.scale.value:.1f} exp(-b ratio), b "
        f"{with_interval(fit.rate, '{:.3f}')}, correlation of log BLEU with the ratio "
        f"{fit.correlation.value:.4f} (the slide's table: {scale:.1f} exp(-b ratio), b {rate:.3f}, "
        f"{correlation:.4f})"
    )


def measure_curve(cells: Sequence[Cell]) -> Curve:
    """Ranks over all filled cells; the fit over those that have a logarithm."""
    ratio = ranks(np.array([cell.compression_ratio for cell in cells]))
    length = ranks(np.array([cell.source_words for cell in cells]))
    alone = np.stack([np.ones(len(cells)), ratio], axis=1)
    both = np.column_stack([alone, length])
    by_ratio = _estimate(cells, lambda bleu: 100 * r_squared(alone, _order(bleu)))
    by_both = _estimate(cells, lambda bleu: 100 * r_squared(both, _order(bleu)))
    added = difference(by_both, by_ratio)
    fitted = [cell for cell in cells if cell.bleu.value >= LEAST_BLEU]
    return Curve(
        left_out=tuple(cell for cell in cells if cell.bleu.value < LEAST_BLEU),
        rank_correlation=_estimate(cells, lambda bleu: correlation(ratio, _order(bleu))),
        ratio_points=by_ratio,
        # Another column never takes away from R2, except by rounding.
        length_points=Estimate(max(added.value, 0.0), np.maximum(added.draws, 0.0)),
        fit=exponential_fit(fitted) if len({c.compression_ratio for c in fitted}) > 2 else None,
    )


def exponential_fit(cells: Sequence[Cell]) -> Fit:
    """Least squares of log BLEU on the ratio, as the printed table's fit (LECTURE B) was made."""
    ratio = np.array([cell.compression_ratio for cell in cells])
    centred = ratio - ratio.mean()
    slopes = centred / (centred**2).sum()
    at_zero = 1 / len(cells) - slopes * ratio.mean()

    def of_logarithm(statistic: Statistic) -> Estimate:
        return _estimate(cells, lambda bleu: statistic(np.log(np.maximum(bleu, LEAST_BLEU))))

    return Fit(
        scale=of_logarithm(lambda y: np.asarray(np.exp(y @ at_zero))),
        rate=of_logarithm(lambda y: np.asarray(-(y @ slopes))),
        correlation=of_logarithm(lambda y: correlation(ratio, y)),
    )


def _estimate(cells: Sequence[Cell], statistic: Statistic) -> Estimate:
    """A statistic of all cells' BLEU, on the test set and on each resample."""
    values = np.array([cell.bleu.value for cell in cells])
    draws = np.stack([cell.bleu.draws for cell in cells], axis=-1)
    return Estimate(float(statistic(values)), statistic(draws))


def _order(bleu: Float[ndarray, "*rows cells"]) -> Float[ndarray, "*rows cells"]:
    """Ranks of BLEU, in which what differs by rounding alone is a tie."""
    return ranks(np.round(bleu, 9))


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


def r_squared(
    design: Float[ndarray, "cells terms"], y: Float[ndarray, "*rows cells"]
) -> Float[ndarray, "*rows"]:
    """Share (0 to 1) of y's variance that the design's columns explain, ones among them.

    None of a constant row, which has no variance.
    """
    varies = np.ptp(y, axis=-1) > 0
    basis, _ = np.linalg.qr(design)
    centred = y - y.mean(axis=-1, keepdims=True)
    explained = ((centred @ basis) ** 2).sum(axis=-1)
    return np.where(varies, explained / np.where(varies, (centred**2).sum(axis=-1), 1.0), 0.0)
