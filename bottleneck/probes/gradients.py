"""C8: how far a loss's gradient reaches back, by the steps between a word and its source.

A record is one target word: the norm of its own loss's gradient at the embedding of its aligned
source word, over the norm at the last source position. The ratio's geometric mean at each distance
is the curve, as what is handed back through n steps is a product of n factors.

A ratio under `LEAST_RATIO`, zero among them, has no useful logarithm: it counts as that much, and
is counted apart (``vanished``), so that a curve made of such words cannot pass for a measured one.
A word without any gradient at the last position has no ratio: it is left out and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Estimate
from .censored import Censored, censor
from .distances import means_by_distance, sums_by_distance

LEAST_RATIO = 1e-12
"""What a lesser ratio counts as."""


@dataclass(frozen=True, eq=False)
class GradientRecords:
    """Target words of a bucket, of one network; distances in steps, at least 0.

    ``at_aligned`` and ``at_last`` are Euclidean norms of the gradient of one word's -log P. A word
    with several sources has a record for each.
    """

    sentence: Int[ndarray, "words"]
    distance: Int[ndarray, "words"]
    at_aligned: Float[ndarray, "words"]
    at_last: Float[ndarray, "words"]


@dataclass(frozen=True, eq=False)
class GradientCurve:
    """Geometric mean ratio at each distance that has words in every seed; counts over all seeds."""

    distances: Int[ndarray, "distances"]
    ratios: tuple[Estimate, ...]
    words: Int[ndarray, "distances"]
    vanished: Int[ndarray, "distances"]
    left_out: int


def gradient_curve(
    seeds: Sequence[GradientRecords], weights: Float[ndarray, "resamples sentences"]
) -> GradientCurve:
    """The curve of a bucket's records, one set a seed; the mean over seeds is geometric too."""
    end = 1 + max((int(one.distance.max(initial=0)) for one in seeds), default=0)
    sums = np.stack([_sums(one, weights.shape[1], end) for one in seeds])
    kept = np.flatnonzero((sums[..., 1].sum(axis=1) > 0).all(axis=0))
    logs = means_by_distance(sums[:, :, kept, :2], weights)
    counts = sums[:, :, kept].sum(axis=(0, 1)).round().astype(np.int64)
    return GradientCurve(
        distances=kept,
        ratios=tuple(Estimate(float(np.exp(y.value)), np.exp(y.draws)) for y in logs),
        words=counts[:, 1],
        vanished=counts[:, 2],
        left_out=sum(int((~_usable(one)).sum()) for one in seeds),
    )


def half_distance(curve: GradientCurve) -> Censored:
    """Steps over which the curve falls to a half, by the exponential that fits it best.

    The fit is least squares of the log ratio on distance, each distance weighted by its words (a
    resample's missing ones by none): every word has a say, where a curve's first crossing would
    hang on its first point and come early by noise. "At least" the tested span, from the nearest to
    the farthest distance, where the exponential does not halve within it: a curve that rises or
    stays never does. Raises ValueError with fewer than two distances.
    """
    if len(curve.distances) < 2:
        raise ValueError(f"a half-distance needs two distances, not {len(curve.distances)}")
    values = np.log([[ratio.value for ratio in curve.ratios]])
    draws = np.log(np.stack([ratio.draws for ratio in curve.ratios], axis=-1))
    span = float(np.ptp(curve.distances))
    halves = [censor(_halving(_slopes(curve, rows)), 0.0, span) for rows in (values, draws)]
    return Censored(float(halves[0][0]), halves[1], 0.0, span)


def _usable(records: GradientRecords) -> Bool[ndarray, "words"]:
    return records.at_last > 0


def _sums(
    records: GradientRecords, sentences: int, distances: int
) -> Float[ndarray, "sentences distances 3"]:
    """Sums of log ratio, words and vanished words."""
    used = _usable(records)
    ratio = records.at_aligned[used].astype(np.float64) / records.at_last[used]
    logs = np.log(np.maximum(ratio, LEAST_RATIO))
    columns = np.stack([logs, np.ones(len(logs)), (ratio < LEAST_RATIO).astype(float)], axis=-1)
    return sums_by_distance(
        records.sentence[used],
        records.distance[used],
        columns,
        sentences=sentences,
        distances=distances,
    )


def _slopes(curve: GradientCurve, logs: Float[ndarray, "rows distances"]) -> Float[ndarray, "rows"]:
    """Weighted least squares of each row on distance; nan with fewer than two distances."""
    there = np.isfinite(logs)
    weights = curve.words * there
    y = np.where(there, logs, 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    centre = (weights * curve.distances).sum(axis=-1, keepdims=True) / np.where(total, total, 1.0)
    x = weights * (curve.distances - centre)
    spread = (x * (curve.distances - centre)).sum(axis=-1)
    fitted = spread > 0
    return np.where(fitted, (x * y).sum(axis=-1) / np.where(fitted, spread, 1.0), np.nan)


def _halving(slopes: Float[ndarray, "rows"]) -> Float[ndarray, "rows"]:
    """Steps to a half at so much a step; infinite where nothing is lost, nan stays."""
    falls = slopes < 0
    steps = log(0.5) / np.where(falls, slopes, -1.0)
    return np.where(falls, steps, np.where(np.isnan(slopes), np.nan, np.inf))
