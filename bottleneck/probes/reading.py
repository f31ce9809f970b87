"""C14: which of the words so far a probe reads from the state after each word.

A record is one question: after step t of a sentence, which word stood d steps back (0 is the word
just read)? The baseline answers with the training set's most frequent word, and needs no state.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Estimate, difference
from .distances import means_by_distance, sums_by_distance


@dataclass(frozen=True, eq=False)
class Readings:
    """A probe's answers for one network: right or wrong, and whether the baseline was right.

    ``step`` counts the words read, from 1; ``distance`` is back from the last of them, from 0.
    """

    sentence: Int[ndarray, "answers"]
    step: Int[ndarray, "answers"]
    distance: Int[ndarray, "answers"]
    right: Bool[ndarray, "answers"]
    baseline_right: Bool[ndarray, "answers"]

    def at_steps(self, first: int, last: int) -> "Readings":
        """The answers after steps ``first`` to ``last`` (from 1), both counted in."""
        kept = (self.step >= first) & (self.step <= last)
        fields = (self.sentence, self.step, self.distance, self.right, self.baseline_right)
        return Readings(*(field[kept] for field in fields))


@dataclass(frozen=True, eq=False)
class ReadingCurve:
    """Accuracy (0 to 1) by distance, 0 first, and words read; answers are counted over seeds.

    ``words_read`` is the sum over distances of accuracy minus baseline, as it is: distances at
    which the probe is worse count against it, for to drop them would make words out of noise.
    """

    answers: Int[ndarray, "distances"]
    accuracy: tuple[Estimate, ...]
    baseline: tuple[Estimate, ...]
    beyond: tuple[Estimate, ...]
    words_read: Estimate


def reading_curve(
    seeds: Sequence[Readings], weights: Float[ndarray, "resamples sentences"], *, farthest: int
) -> ReadingCurve:
    """Accuracy at each distance up to ``farthest``, on the same resamples; farther ones are unused.

    Raises ValueError for a distance without answers, which has no accuracy to add up.
    """
    sums = np.stack([_sums(one, weights.shape[1], farthest + 1) for one in seeds])
    empty = np.flatnonzero((sums[..., 2].sum(axis=1) == 0).any(axis=0))
    if len(empty):
        raise ValueError(f"nothing was asked at distance {empty[0]}")
    accuracy = means_by_distance(sums[..., [0, 2]], weights)
    baseline = means_by_distance(sums[..., [1, 2]], weights)
    beyond = tuple(difference(ours, base) for ours, base in zip(accuracy, baseline, strict=True))
    return ReadingCurve(
        answers=sums[..., 2].sum(axis=(0, 1)).round().astype(np.int64),
        accuracy=accuracy,
        baseline=baseline,
        beyond=beyond,
        words_read=_total(beyond),
    )


def _sums(
    readings: Readings, sentences: int, distances: int
) -> Float[ndarray, "sentences distances 3"]:
    """Sums of right answers, the baseline's right answers, and answers."""
    used = readings.distance < distances
    right, base = readings.right[used], readings.baseline_right[used]
    columns = np.stack([right, base, np.ones_like(right)], axis=-1).astype(np.float64)
    return sums_by_distance(
        readings.sentence[used],
        readings.distance[used],
        columns,
        sentences=sentences,
        distances=distances,
    )


def _total(parts: Sequence[Estimate]) -> Estimate:
    """Sum of estimates of the same resamples."""
    draws = np.stack([part.draws for part in parts]).sum(axis=0)
    return Estimate(float(sum(part.value for part in parts)), draws)
