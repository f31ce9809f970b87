"""Approximate randomisation of two systems' outputs (Riezler and Maxwell 2005, figure 1).

If the systems did not differ, it would not matter which of them wrote which of a sentence's two
outputs. Each trial swaps every sentence's outputs or not, by the toss of a coin, and scores both
halves anew.
"""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from .bootstrap import BLOCK, Score

ROUNDING = 1e-9
"""Difference in score under which two trials tie: swapping all sentences is to tie with none."""


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
    total = a.sum(axis=0) + b.sum(axis=0)
    observed = _distance(score, a.sum(axis=0)[None], total)[0]
    if np.isnan(observed):
        return np.nan
    stream = np.random.Generator(np.random.PCG64([seed, bucket, 1]))
    rows = max(1, BLOCK // max(1, len(a)))
    beyond = 0
    for done in range(0, trials, rows):
        swapped = stream.integers(2, size=(min(rows, trials - done), len(a)), dtype=bool)
        distances = _distance(score, _swap(swapped, a, b), total)
        beyond += int((distances >= observed - ROUNDING).sum())
    return (beyond + 1) / (trials + 1)


def _swap(
    swapped: Bool[ndarray, "trials sentences"],
    a: Int[ndarray, "sentences columns"],
    b: Int[ndarray, "sentences columns"],
) -> Float[ndarray, "trials columns"]:
    """Sums of the first half: A's output of a sentence, or B's where the two are swapped."""
    return a.sum(axis=0) + swapped.astype(np.float64) @ (b - a)


def _distance(
    score: Score, first: ndarray, total: Int[ndarray, "columns"]
) -> Float[ndarray, "trials"]:
    """How far apart the scores of both halves are."""
    return np.abs(score(total - first) - score(first))
