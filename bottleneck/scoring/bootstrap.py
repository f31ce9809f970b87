"""Percentile bootstrap over test sentences (Koehn 2004), for several systems at once.

One resample draws the same sentences for every seed and arm of a bucket: `draw` makes the weights
of a bucket once, and every estimate of that bucket uses them. The difference of two such estimates
is then paired. Buckets have their own weights, so a difference between buckets is independent.
The interval speaks of other test sentences, not of other seeds: for those see `spread`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

Score = Callable[[Real[ndarray, "..."]], Float[ndarray, "..."]]
"""From sums of statistics in the last axis to scores: `bleu`, `chrf`, `ratio_of_sums`."""

LEVEL = 0.95
"""Share of the resamples that lies within every interval."""
BLOCK = 2**22
"""Numbers in one block of weights: 32 MiB."""
PRODUCT, CACHED = 2**20, 2**17
"""Sums that are one product, and that are scored at a time: as much as stays near the processor."""
EXACT = 2**24
"""Below it every whole number is one in single precision."""


@dataclass(frozen=True)
class Interval:
    """A 95 % interval; an undefined one (nan) is on neither side of zero."""

    low: float
    high: float

    @property
    def above_zero(self) -> bool:
        """Whether all of it is above zero."""
        return self.low > 0

    @property
    def below_zero(self) -> bool:
        """Whether all of it is below zero."""
        return self.high < 0


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic of the test set, and the same statistic of each resample."""

    value: float
    draws: Float[ndarray, "resamples"]

    @property
    def interval(self) -> Interval:
        """Percentile interval of the draws, 95 %."""
        low, high = np.quantile(self.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(float(low), float(high))

    @property
    def filled(self) -> bool:
        """Whether there was anything to score."""
        return not np.isnan(self.value)


def draw(
    sentences: int, resamples: int, *, seed: int, bucket: int
) -> Float[ndarray, "resamples sentences"]:
    """How often each sentence of a bucket stands in each resample; the same for the same seeds.

    The stream is PCG64 seeded by (seed, bucket). Whole numbers, kept as floats for fast products.
    """
    cells = resamples * max(1, sentences)
    (weights,) = draw_blocks(sentences, resamples, seed=seed, bucket=bucket, cells=cells)
    return weights


def draw_blocks(
    sentences: int, resamples: int, *, seed: int, bucket: int, cells: int = BLOCK
) -> Iterator[Float[ndarray, "block sentences"]]:
    """The rows of `draw` in order, a block of about so many numbers at a time.

    A test set of any size then needs little memory.
    """
    stream = np.random.Generator(np.random.PCG64([seed, bucket]))
    most = max(1, cells // max(1, sentences))
    for done in range(0, resamples, most):
        rows = min(most, resamples - done)
        ids = stream.integers(sentences, size=(rows, sentences))
        places = ids + sentences * np.arange(rows)[:, None]
        counts = np.bincount(places.ravel(), minlength=rows * sentences)
        yield counts.reshape(rows, sentences).astype(np.float64)


def estimate(
    score: Score,
    statistics: Real[ndarray, "seeds sentences columns"],
    weights: Float[ndarray, "resamples sentences"],
) -> Estimate:
    """Mean over seeds of the score of a bucket, with its resamples; nan for an empty bucket.

    A few seeds are resampled at a time, so that thousands of them need little memory.
    """
    value = score(statistics.sum(axis=1)).mean()
    total = np.zeros(len(weights))
    for sums in _resampled(statistics, weights):
        for draws in score(sums):
            total += draws
    return Estimate(float(value), total / len(statistics))


def _resampled(
    statistics: Real[ndarray, "seeds sentences columns"],
    weights: Float[ndarray, "resamples sentences"],
) -> Iterator[Float[ndarray, "some resamples columns"]]:
    """The sums of every resample, a few seeds at a time.

    Whole numbers are added without rounding, in single precision as long as no sum can reach 2^24;
    many seeds are one product, of which a few at a time are scored, each column in one piece.
    """
    seeds, sentences, columns = statistics.shape
    if not np.issubdtype(statistics.dtype, np.integer) or not statistics.size:
        yield weights @ statistics
        return
    kind = np.float32 if sentences * int(statistics.max()) < EXACT else np.float64
    transposed = weights.T.astype(kind)
    many, some = (max(1, cells // (columns * len(weights))) for cells in (PRODUCT, CACHED))
    for first in range(0, seeds, many):
        block = np.moveaxis(statistics[first : first + many], 1, 2).astype(kind, order="C")
        sums = (block.reshape(-1, sentences) @ transposed).reshape(-1, columns, len(weights))
        for place in range(0, len(sums), some):
            yield sums[place : place + some].astype(np.float64).swapaxes(1, 2)


def difference(minuend: Estimate, subtrahend: Estimate) -> Estimate:
    """First minus second: paired where both come from the same weights (attention minus none)."""
    return Estimate(minuend.value - subtrahend.value, minuend.draws - subtrahend.draws)


def percent_change(new: Estimate, base: Estimate) -> Estimate:
    """100 (new / base - 1): a drop against the first bucket, a gain over none; nan at base 0."""
    ratio = ratio_of_sums(np.array([new.value, base.value]))
    ratios = ratio_of_sums(np.stack([new.draws, base.draws], axis=-1))
    return Estimate(100.0 * (float(ratio) - 1.0), 100.0 * (ratios - 1.0))


def interaction(gains: Sequence[Estimate]) -> Estimate:
    """Gain in the longest filled bucket minus gain in the shortest; gains in order of length.

    Raises ValueError with fewer than two filled buckets.
    """
    filled = [gain for gain in gains if gain.filled]
    if len(filled) < 2:
        raise ValueError(f"an interaction needs two filled buckets, not {len(filled)}")
    return difference(filled[-1], filled[0])


def ratio_of_sums(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """First sum over second, as for a loss per token (nats, tokens); nan where the second is 0."""
    filled = sums[..., 1] != 0
    return np.where(filled, sums[..., 0] / np.where(filled, sums[..., 1], 1), np.nan)


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation and 95 % t-interval over seeds; nan where too few.

    Resampling one output's sentences says nothing of training noise (Clark et al. 2011).
    """

    seeds: int
    mean: float
    sd: float
    low: float
    high: float


def spread(values: Float[ndarray, "seeds"]) -> Spread:
    """Spread of one number per seed, as if seeds were drawn from a normal distribution."""
    from scipy.special import stdtrit  # here, because it takes half a second to import

    seeds = len(values)
    mean = float(values.mean()) if seeds else np.nan
    sd = float(values.std(ddof=1)) if seeds > 1 else np.nan
    half = stdtrit(seeds - 1, 0.975) * sd / np.sqrt(seeds) if seeds > 1 else np.nan
    return Spread(seeds, mean, sd, float(mean - half), float(mean + half))
