"""Two systems on the same sentences: paired bootstrap and approximate randomisation by part.

A part is a length bucket, or the whole test set. One resample draws the same sentences for both
systems, so the interval of their difference is a paired one. Neither p-value is corrected for the
number of parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Real
from numpy import ndarray

from .bootstrap import Estimate, Score, difference, draw_blocks
from .randomisation import randomisation_p


@dataclass(frozen=True)
class Resampling:
    """How often sentences are resampled (bootstrap) and outputs swapped (trials), from one seed."""

    resamples: int
    trials: int
    seed: int


@dataclass(frozen=True, eq=False)
class Paired:
    """Systems A and B in one part: each one's score, and how sure their difference is.

    ``p_randomisation`` is two-sided.
    """

    a: Estimate
    b: Estimate
    p_randomisation: float

    @property
    def gain(self) -> Estimate:
        """B minus A."""
        return difference(self.b, self.a)


def pair(
    score: Score,
    a: Int[ndarray, "sentences columns"],
    b: Int[ndarray, "sentences columns"],
    how: Resampling,
    *,
    bucket: int,
) -> Paired:
    """Compare the statistics of two systems in one part; ``bucket`` is its own random stream."""
    first, second = estimates(score, [a, b], how.resamples, seed=how.seed, bucket=bucket)
    p = randomisation_p(score, a, b, how.trials, seed=how.seed, bucket=bucket)
    return Paired(first, second, p)


def estimates(
    score: Score,
    systems: Sequence[Real[ndarray, "sentences columns"]],
    resamples: int,
    *,
    seed: int,
    bucket: int,
) -> tuple[Estimate, ...]:
    """Each system's score with its resamples, the same sentences for all; nan where there are none.

    These are the numbers of `estimate` with the weights of `draw`, made a block at a time.
    """
    count = len(systems[0])
    drawn: list[list[ndarray]] = [[] for _ in systems]
    for weights in draw_blocks(count, resamples, seed=seed, bucket=bucket):
        for samples, statistics in zip(drawn, systems, strict=True):
            samples.append(score(weights @ statistics))
    values = [float(score(statistics.sum(axis=0))) for statistics in systems]
    return tuple(
        Estimate(value, np.concatenate(samples))
        for value, samples in zip(values, drawn, strict=True)
    )


def bootstrap_p(gain: Estimate) -> float:
    """Two-sided p-value of the paired bootstrap; nan where there was nothing to score.

    Koehn 2004 (section 4) counts the resamples in which the other system is ahead; here that share
    is doubled, for either of two may be. The resample that was observed counts as one (Riezler and
    Maxwell 2005, figure 2). So it is about 0.05 where the 95 % interval begins to leave zero out,
    one resample more or less, and with N of them never under 2 / (N + 1).
    """
    if np.isnan(gain.draws).any():
        return np.nan
    tail = min((gain.draws <= 0).sum(), (gain.draws >= 0).sum())
    return float(min(1.0, 2 * (tail + 1) / (len(gain.draws) + 1)))
