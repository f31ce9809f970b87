"""Two systems on the same sentences: paired bootstrap and approximate randomisation by part.

A part is a length bucket, or the whole test set. One resample draws the same sentences for both
systems, so the interval of their difference is a paired one. Neither p-value is corrected for the
number of parts.

Approximate randomisation (Riezler and Maxwell 2005, figure 1): if the systems did not differ, it
would not matter which of them wrote which of a sentence's two outputs. Each trial swaps every
sentence's outputs or not, by the toss of a coin, and scores both halves.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from .bootstrap import BLOCK, Estimate, Score, difference, draw_blocks, estimate

ROUNDING = 1e-9
"""Difference in score under which two trials tie: swapping all sentences is to tie with none."""


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
    blocks = [
        [estimate(score, statistics[None], weights) for statistics in systems]
        for weights in draw_blocks(len(systems[0]), resamples, seed=seed, bucket=bucket)
    ]
    return tuple(
        Estimate(parts[0].value, np.concatenate([part.draws for part in parts]))
        for parts in zip(*blocks, strict=True)
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


def randomisation_p(
    score: Score,
    a: Int[ndarray, "sentences columns"],
    b: Int[ndarray, "sentences columns"],
    trials: int,
    *,
    seed: int,
    bucket: int,
) -> float:
    """Two-sided p-value of the difference in score of two systems, of their statistics.

    The share of trials that differ at least as much as the systems do, the systems' own difference
    counted as one of them; nan where there is nothing to score. The stream is PCG64 seeded by
    (seed, bucket, 1), apart from the bootstrap's.
    """
    first, total = a.sum(axis=0), a.sum(axis=0) + b.sum(axis=0)

    def distance(half: ndarray) -> Float[ndarray, "trials"]:
        """How far the scores of both halves lie from each other."""
        return np.abs(score(total - half) - score(half))

    observed = distance(first[None])[0]
    if np.isnan(observed):
        return np.nan
    stream = np.random.Generator(np.random.PCG64([seed, bucket, 1]))
    rows = max(1, BLOCK // max(1, len(a)))
    beyond = 0
    for done in range(0, trials, rows):
        swapped = stream.integers(2, size=(min(rows, trials - done), len(a)), dtype=bool)
        # Sums of the first half: A's output of a sentence, or B's where the two are swapped.
        halves = first + swapped.astype(np.float64) @ (b - a)
        beyond += int((distance(halves) >= observed - ROUNDING).sum())
    return (beyond + 1) / (trials + 1)
