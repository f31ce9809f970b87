"""C2, C12: the length up to which 90 % or 50 % of the words survive, and its growth.

The share of surviving words is measured at some lengths. It is made to fall with length (isotonic
regression, weighted by words: Barlow et al. 1972), for a noisy rise is no capacity, and joined by
straight lines; the length is the last at which the line is still at the share. Beyond the tested
lengths it is censored. And a length is what one training budget reached: "at least N words".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import Estimate
from .censored import Censored


@dataclass(frozen=True, eq=False)
class SurvivalAt:
    """Words of one length's test sentences: how many, and the share (0 to 1) that survives.

    ``length`` is in source words.
    """

    length: float
    words: int
    share: Estimate


def capacity(points: Sequence[SurvivalAt], share: float) -> Censored:
    """Length at which so large a share (0 to 1) of the words survives.

    "Under" the shortest where fewer survive even there, "at least" the longest where more do.
    Lengths without words are left out; raises ValueError with fewer than two, or with one twice.
    """
    used = sorted((point for point in points if point.share.filled), key=lambda p: p.length)
    lengths = np.array([point.length for point in used], dtype=np.float64)
    if len(np.unique(lengths)) < max(2, len(lengths)):
        raise ValueError("a capacity needs two lengths or more, each once")
    words = np.array([point.words for point in used], dtype=np.float64)
    values = np.array([[point.share.value for point in used]])
    draws = np.stack([point.share.draws for point in used], axis=-1)
    ours, resampled = (_last_at(lengths, _falling(y, words), share) for y in (values, draws))
    return Censored(float(ours[0]), resampled, float(lengths[0]), float(lengths[-1]))


def _falling(
    y: Float[ndarray, "rows lengths"], weights: Float[ndarray, "lengths"]
) -> Float[ndarray, "rows lengths"]:
    """Nearest falling curve to each row by weighted least squares."""
    from scipy.optimize import isotonic_regression  # here, because it takes a second to import

    return np.array([isotonic_regression(row, weights=weights, increasing=False).x for row in y])


def _last_at(
    lengths: Float[ndarray, "lengths"], curves: Float[ndarray, "rows lengths"], share: float
) -> Float[ndarray, "rows"]:
    """Last length at which a falling curve is at the share; infinite beyond the lengths.

    Means that differ by rounding from the share are at it.
    """
    reached = (curves >= share - 1e-9).sum(axis=-1)
    at = np.clip(reached - 1, 0, len(lengths) - 2)[:, None]
    high, low = (np.take_along_axis(curves, at + k, axis=-1)[:, 0] for k in (0, 1))
    fall = high - low
    part = np.clip((high - share) / np.where(fall > 1e-12, fall, 1.0), 0.0, 1.0)
    before, after = lengths[at[:, 0]], lengths[at[:, 0] + 1]
    between = before + part * (after - before)
    beyond = np.where(reached == 0, -np.inf, np.inf)
    return np.where((reached > 0) & (reached < len(lengths)), between, beyond)


@dataclass(frozen=True, eq=False)
class CapacityGrowth:
    """Exponent b of length = a context^b, and the context sizes that it is and is not fitted to."""

    exponent: Estimate
    fitted: tuple[int, ...]
    left_out: tuple[int, ...]


def capacity_growth(capacities: dict[int, Censored]) -> CapacityGrowth | None:
    """Least squares of log length on log context size, by context size; None under two points.

    A context size whose length is censored has no point: it is left out and named, and the exponent
    is of the others. A draw of a fitted one that is censored counts as the end of the tested
    lengths, so that the interval is too narrow where many are.
    """
    fitted = [size for size, one in sorted(capacities.items()) if one.side == ""]
    left_out = tuple(sorted(set(capacities) - set(fitted)))
    if len(fitted) < 2:
        return None
    used = [capacities[size] for size in fitted]
    values = np.log([one.value for one in used])
    draws = np.log([np.clip(one.draws, one.lowest, one.highest) for one in used])
    centred = np.log(fitted) - np.log(fitted).mean()
    line = centred / (centred**2).sum()
    return CapacityGrowth(Estimate(float(line @ values), line @ draws), tuple(fitted), left_out)
