"""Percentile bootstrap over test sentences (Koehn 2004), and paired tests of two systems.

A resample draws the same sentences for every seed and arm of a bucket, so the difference between
two arms is paired. The difference between two buckets is not. An interval covers other test
sentences, not other seeds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

Score = Callable[[Real[ndarray, "..."]], Float[ndarray, "..."]]
"""Turns sums of statistics (last axis) into scores: `bleu`, `ratio_of_sums`."""
LEVEL = 0.95  # share of the resamples that lies within every interval


class Number:
    """A number and the ends of its 95 % interval; nan is neither above nor below 0."""

    value: float
    low: float
    high: float

    def row(self) -> dict[str, float]:
        """``value``, ``low`` and ``high`` for a table's row."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def text(self, form: str = "{:.1f}", unit: str = "", sign: int = 1) -> str:
        """``44 % [42, 46]``: the number times ``sign``, its unit, and its interval."""
        ends = (self.value, *(self.low, self.high)[::sign])
        value, low, high = (form.format(sign * end) for end in ends)
        return f"{value}{unit} [{low}, {high}]"

    def change(self, more: str, less: str, form: str = "{:.1f}", unit: str = "") -> str:
        """The number in the phrase for its sign: ``grows by {}`` or ``shrinks by {}``."""
        phrase, sign = (more, 1) if self.value >= 0 else (less, -1)
        return phrase.format(self.text(form, unit, sign))


@dataclass(frozen=True, eq=False)
class Estimate(Number):
    """A statistic of the test set, and the same statistic of each resample."""

    value: float
    draws: Float[ndarray, "resamples"]

    @cached_property
    def low(self) -> float:
        """The lower end of the percentile interval."""
        return float(np.quantile(self.draws, (1 - LEVEL) / 2))

    @cached_property
    def high(self) -> float:
        """The upper end of the percentile interval."""
        return float(np.quantile(self.draws, (1 + LEVEL) / 2))

    @property
    def filled(self) -> bool:
        """Whether there was anything to score."""
        return not np.isnan(self.value)


def draw(
    sentences: int, resamples: int, *, seed: int, bucket: int
) -> Float[ndarray, "resamples sentences"]:
    """How often each sentence of a bucket is in each resample, as floats for fast products."""
    stream = np.random.Generator(np.random.PCG64([seed, bucket]))
    chosen = (stream.integers(sentences, size=sentences) for _ in range(resamples))
    return np.array([np.bincount(ids, minlength=sentences) for ids in chosen], dtype=np.float64)


def estimate(
    score: Score,
    statistics: Real[ndarray, "seeds sentences columns"],
    weights: Float[ndarray, "resamples sentences"],
) -> Estimate:
    """Mean over seeds of the score of a bucket, with its resamples; nan for an empty bucket."""
    total = sum(score(weights @ rows) for rows in statistics)
    return Estimate(float(score(statistics.sum(axis=1)).mean()), total / len(statistics))


def difference(minuend: Estimate, subtrahend: Estimate) -> Estimate:
    """First minus second: paired where both come from the same weights (attention minus none)."""
    return Estimate(minuend.value - subtrahend.value, minuend.draws - subtrahend.draws)


def percent_change(new: Estimate, base: Estimate) -> Estimate:
    """100 (new / base - 1): a drop from the first bucket, a gain over none; nan if base is 0."""
    ratio = ratio_of_sums(np.array([new.value, base.value]))
    ratios = ratio_of_sums(np.stack([new.draws, base.draws], axis=-1))
    return Estimate(100.0 * (float(ratio) - 1.0), 100.0 * (ratios - 1.0))


def ratio_of_sums(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """First sum over second, as for a loss per token (nats, tokens); nan where the second is 0."""
    filled = sums[..., 1] != 0
    return np.where(filled, sums[..., 0] / np.where(filled, sums[..., 1], 1), np.nan)


def bootstrap_p(gain: Estimate) -> float:
    """Two-sided p-value of the paired bootstrap; nan if a resample has nothing to score.

    Koehn 2004 (section 4) counts the resamples in which the other system is ahead. Here their share
    is doubled, and the observed difference is one of them (Riezler and Maxwell 2005, figure 2).
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
    """Two-sided p-value of the difference between two systems' scores, from their statistics.

    Approximate randomisation (Riezler and Maxwell 2005, figure 1): in each trial, a coin toss for
    every sentence swaps the two outputs or not, and both halves are scored. The p-value is the
    share of trials that differ at least as much as the systems do; the systems themselves count as
    one trial. It is nan where there is nothing to score.
    """
    first, second = a.sum(axis=0), b.sum(axis=0)
    ours, theirs = score(np.stack([first, second]))
    observed = abs(ours - theirs)
    if np.isnan(observed):
        return np.nan
    stream = np.random.Generator(np.random.PCG64([seed, bucket, 1]))
    rows, beyond = max(1, 2**22 // max(1, len(a))), 0  # 32 MiB of coins at once, as floats
    for done in range(0, trials, rows):
        swapped = stream.integers(2, size=(min(rows, trials - done), len(a)), dtype=bool)
        # Sums of the first half: A's output of a sentence, or B's where the two are swapped.
        halves = first + swapped.astype(np.float64) @ (b - a)
        # Differences below 1e-9 are ties: swapping all sentences must tie with swapping none.
        differences = np.abs(score(first + second - halves) - score(halves))
        beyond += int((differences >= observed - 1e-9).sum())
    return (beyond + 1) / (trials + 1)
