"""C4: how many of the context's numbers are in use ("capacity used: 200 of 256").

Three measures of the spectrum of the contexts' covariance, which answer for different things: the
participation ratio for the few strong directions, the components for most of the variance, the
effective rank for something between. All grow with the number of sentences, so that each is also
taken at half of them (`half_of`), and none says how much *information* is in the dimensions.

Intervals are not bootstrapped. A resample holds sentences twice and has, like a smaller sample,
fewer dimensions: its percentile interval can lie below the value altogether. The delete-a-group
jackknife (Quenouille 1949, Tukey 1958, Kott 2001) leaves out one of G groups of sentences at a
time, which moves all G values alike; what they scatter is the error:
    se^2 = (G - 1) / G  sum_g (theta_(-g) - mean theta_(-g))^2,  value +- t_(G-1, .975) se.
The interval speaks of other sentences of the same number, not of infinitely many, and is rather too
wide than too narrow (Efron and Stein 1981): with 7 to 33 planted sentences a dimension by up to
three quarters for the components, by up to half for the other two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Interval
from ..scoring.spread import spread

GROUPS = 20
"""Groups of sentences that the jackknife leaves out in turn."""
SHARE = 0.95
"""Share of the variance that `components` are counted for."""
WANTED = 2_500
"""Sentences that are drawn a bucket: about ten a dimension of the lecture's context."""


@dataclass(frozen=True, eq=False)
class Jackknifed:
    """A statistic of all sentences, and the same statistic without each group."""

    value: float
    left_out: Float[ndarray, "groups"]

    @property
    def interval(self) -> Interval:
        """95 % t-interval about the value: Tukey's pseudo-values have the jackknife's error."""
        groups = len(self.left_out)
        pseudo = spread(groups * self.value - (groups - 1) * self.left_out)
        half = (pseudo.high - pseudo.low) / 2
        return Interval(self.value - half, self.value + half)


@dataclass(frozen=True, eq=False)
class Dimensions:
    """Dimensions in use; ``spectrum`` are the variances along the principal axes, descending.

    ``components`` counts the last component by the part of it that is needed: a whole number jumps,
    and has no jackknife. Rounded up it is the usual count.
    """

    sentences: int
    spectrum: Float[ndarray, "context"]
    participation_ratio: Jackknifed
    components: Jackknifed
    effective_rank: Jackknifed


def dimensions(
    contexts: Float[ndarray, "sentences context"],
    *,
    seed: int,
    groups: int = GROUPS,
    share: float = SHARE,
) -> Dimensions:
    """The three measures of contexts; two encoders' are paired by the same sentences and seed.

    Raises ValueError under two sentences a group, or where a number is not finite.
    """
    _check(contexts, groups)
    spectra = _spectra(contexts, _groups(len(contexts), groups, seed))
    return Dimensions(
        sentences=len(contexts),
        spectrum=spectra[0],
        participation_ratio=_jackknifed(participation_ratio(spectra)),
        components=_jackknifed(components(spectra, share)),
        effective_rank=_jackknifed(effective_rank(spectra)),
    )


def half_of(
    contexts: Float[ndarray, "sentences context"], *, seed: int
) -> Float[ndarray, "half context"]:
    """Half of the sentences, the same for the same seed; an odd one is left out."""
    return contexts[_stream(seed, 1).permutation(len(contexts))[: len(contexts) // 2]]


def difference(minuend: Jackknifed, subtrahend: Jackknifed) -> Jackknifed:
    """First minus second of the same sentences in the same groups (trained minus untrained).

    Raises ValueError where the groups are not as many.
    """
    if len(minuend.left_out) != len(subtrahend.left_out):
        raise ValueError("a difference needs the same groups of sentences")
    left_out = minuend.left_out - subtrahend.left_out
    return Jackknifed(minuend.value - subtrahend.value, left_out)


def mean(seeds: Sequence[Jackknifed]) -> Jackknifed:
    """Mean over seeds of the same sentences in the same groups."""
    left_out = np.stack([seed.left_out for seed in seeds]).mean(axis=0)
    return Jackknifed(float(np.mean([seed.value for seed in seeds])), left_out)


def participation_ratio(spectrum: Float[ndarray, "*rows context"]) -> Float[ndarray, "*rows"]:
    """(sum lambda)^2 / sum lambda^2: k for k equal variances (Gao et al. 2017); nan without any."""
    parts, varies = _parts(spectrum)
    squares = (parts**2).sum(axis=-1)
    return np.where(varies, 1 / np.where(varies, squares, 1.0), np.nan)


def components(
    spectrum: Float[ndarray, "*rows context"], share: float = SHARE
) -> Float[ndarray, "*rows"]:
    """Principal components for a share of the variance, the last one counted by its part.

    The spectrum is descending; nan where nothing varies.
    """
    parts, varies = _parts(spectrum)
    reached = np.cumsum(parts, axis=-1)
    whole = np.minimum((reached < share).sum(axis=-1, keepdims=True), parts.shape[-1] - 1)
    last = np.take_along_axis(parts, whole, axis=-1)
    before = np.take_along_axis(reached, whole, axis=-1) - last
    counted = whole + (share - before) / np.where(last > 0, last, 1.0)
    return np.where(varies, counted[..., 0], np.nan)


def effective_rank(spectrum: Float[ndarray, "*rows context"]) -> Float[ndarray, "*rows"]:
    """exp of the entropy of the normalised spectrum (Roy and Vetterli 2007); nan as above.

    Theirs is of a matrix's singular values; the matrix here is the covariance.
    """
    parts, varies = _parts(spectrum)
    entropy = -(parts * np.log(np.where(parts > 0, parts, 1.0))).sum(axis=-1)
    return np.where(varies, np.exp(entropy), np.nan)


def _parts(spectrum: Float[ndarray, "*rows context"]) -> tuple[ndarray, ndarray]:
    """Each variance's part of the total, and whether there is any."""
    total = spectrum.sum(axis=-1, keepdims=True)
    return spectrum / np.where(total > 0, total, 1.0), np.asarray(total[..., 0] > 0)


def _check(contexts: Float[ndarray, "sentences context"], groups: int) -> None:
    if len(contexts) < 2 * groups:
        raise ValueError(f"{groups} groups need {2 * groups} sentences, not {len(contexts)}")
    if not np.isfinite(contexts).all():
        raise ValueError("a context holds a number that is not finite")


def _stream(seed: int, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, purpose]))


def _groups(sentences: int, groups: int, seed: int) -> Int[ndarray, "sentences"]:
    """Each sentence's group: drawn, and of sizes that differ by one at most."""
    return _stream(seed, 0).permutation(sentences) % groups


def _spectra(
    contexts: Float[ndarray, "sentences context"], group: Int[ndarray, "sentences"]
) -> Float[ndarray, "spectra context"]:
    """Spectrum of all sentences, then of all but each group.

    Each group's products are made once and taken off the total. Moving the origin to a sentence
    keeps the sums small, and makes contexts that are all the same exactly nothing.
    """
    moved = contexts.astype(np.float64) - contexts[0]
    parts = [moved[group == place] for place in range(group.max() + 1)]
    products, sums = [part.T @ part for part in parts], [part.sum(axis=0) for part in parts]
    product, total, count = sum(products), sum(sums), len(contexts)
    rows = [_spectrum(product, total, count)]
    for own, part_sum, part in zip(products, sums, parts, strict=True):
        rows.append(_spectrum(product - own, total - part_sum, count - len(part)))
    return np.stack(rows)


def _spectrum(
    product: Float[ndarray, "context context"], total: Float[ndarray, "context"], sentences: int
) -> Float[ndarray, "context"]:
    """Eigenvalues of the covariance, descending; rounding below zero is zero."""
    covariance = (product - np.outer(total, total) / sentences) / (sentences - 1)
    return np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)


def _jackknifed(values: Float[ndarray, "spectra"]) -> Jackknifed:
    return Jackknifed(float(values[0]), values[1:])
