"""Survival by group and position from per-sentence sums, ready for the bootstrap.

Cells are (group, band, column): groups are word classes or frequency bands, bands are places in the
sentence, and the columns are words found, found by chance, and words. Rates and scores keep the
axes before these.

Classes have different places (a name is often last, a determiner first), and places differ in
how well they survive. So classes are compared at equal positions by direct standardisation: the
class's rate in each band, averaged with the same weights for all classes, the bands' shares of all
words,

    r_g = sum_b w_b found_gb / words_gb,   w_b = sum_g words_gb / sum_gb words_gb.

Two groups can be compared in finer bands, even if either lacks some, by matching: bands weigh

    w_b = words_gb words_hb / (words_gb + words_hb),

as in Mantel and Haenszel's estimate of a difference between two rates (1959; Greenland and Robins
1985), so that a band counts as far as both have words there.
"""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..scoring.bootstrap import Score, ratio_of_sums

CELL = ("found", "by_chance", "words")
"""Words of a group and band: the first two are sums of shares, the last a count."""

Measure = Callable[[Float[ndarray, "*rows 2"]], Float[ndarray, "*rows"]]
"""From the rates (recall, chance) to a number."""


def relative_bands(words: int, bands: int) -> Int[ndarray, "words"]:
    """Band of each place of a sentence in ``bands`` equal parts: 0 is its first fifth of five.

    A word stands at its middle, (i + 1/2) / words, so that first and last are treated alike. A
    sentence of fewer words than bands leaves bands empty.
    """
    places = np.arange(words)
    return (2 * places + 1) * bands // (2 * max(words, 1))


def survival_cells(
    sentence: Int[ndarray, "words"],
    survived: Float[ndarray, "words"],
    by_chance: Float[ndarray, "words"],
    group: Int[ndarray, "words"],
    band: Int[ndarray, "words"],
    *,
    shape: tuple[int, int, int],
) -> Float[ndarray, "sentences groups bands 3"]:
    """Count words by sentence, group and band; ``shape`` says how many there are of each.

    Words without a link (``survived`` is nan) or group (-1) are left out. The sums by chance are
    nan for a sentence without a partner.
    """
    counted = ~np.isnan(survived) & (group >= 0)
    cells = np.ravel_multi_index((sentence[counted], group[counted], band[counted]), shape)
    columns = (survived[counted], by_chance[counted], np.ones(counted.sum()))
    sums = [np.bincount(cells, column, int(np.prod(shape))) for column in columns]
    return np.stack(sums, axis=-1, dtype=np.float64).reshape(*shape, len(CELL))


def rates(cells: Real[ndarray, "*rows 3"]) -> Float[ndarray, "*rows 2"]:
    """Recall and chance (0 to 1) of cells (found, by chance, words); nan without words."""
    recall, chance = (ratio_of_sums(cells[..., [column, 2]]) for column in (0, 1))
    return np.stack([recall, chance], axis=-1)


def standardised_rates(
    cells: Real[ndarray, "*rows groups bands 3"],
) -> Float[ndarray, "*rows groups 2"]:
    """Recall and chance of each group, averaged over bands with the weights of all words.

    A group without words in a band that others fill cannot be compared at equal positions: nan.
    Groups that are too rare to have a rate in every band should be joined first.
    """
    words = cells[..., 2].sum(axis=-2)
    weights = words / np.maximum(words.sum(axis=-1, keepdims=True), 1)
    used = weights[..., None, :, None] > 0
    weighted = weights[..., None, :, None] * np.where(used, rates(cells), 0.0)
    filled = words.sum(axis=-1) > 0
    return np.where(filled[..., None, None], weighted.sum(axis=-2), np.nan)


def matching(cells: Real[ndarray, "*rows 2 bands 3"]) -> Float[ndarray, "*rows bands"]:
    """What each band weighs in `matched_rates`: 0 where either group has no word."""
    words = cells[..., 2]
    return np.asarray(words.prod(axis=-2) / np.maximum(words.sum(axis=-2), 1))


def matched_rates(cells: Real[ndarray, "*rows 2 bands 3"]) -> Float[ndarray, "*rows 2 2"]:
    """Recall and chance of two groups in the bands that both have; nan where there are none."""
    weights = matching(cells)
    shared = weights[..., None, :, None]
    weighted = (shared * np.where(shared > 0, rates(cells), 0.0)).sum(axis=-2)
    whole = weights.sum(axis=-1)[..., None, None]
    return np.where(whole > 0, weighted / np.where(whole > 0, whole, 1), np.nan)


def normalised(rates: Float[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """Recall beyond chance, (r - c) / (1 - c); nan where chance is 1."""
    recall, chance = rates[..., 0], rates[..., 1]
    return ratio_of_sums(np.stack([recall - chance, 1 - chance], axis=-1))


MEASURES: dict[str, Measure] = {
    "recall": lambda rates: rates[..., 0],
    "chance": lambda rates: rates[..., 1],
    "less_chance": lambda rates: np.asarray(rates[..., 0] - rates[..., 1]),
    "corrected": normalised,
}
"""By the names that tables have for them."""


def rates_score(measure: str) -> Score:
    """A measure, by its name, as a score of sums (found, by chance, words)."""
    return lambda sums: MEASURES[measure](rates(sums))


def overall(measure: Measure, cells: Real[ndarray, "..."]) -> Float[ndarray, "..."]:
    """A measure of all words together."""
    return measure(rates(cells.sum(axis=(-3, -2))))


def standardised(
    measure: Measure, group: int, cells: Real[ndarray, "..."]
) -> Float[ndarray, "..."]:
    """A measure of one group at the positions of all words, to compare with other groups."""
    return measure(standardised_rates(cells)[..., group, :])


def first_minus(
    rates_of: Callable[[ndarray], ndarray], group: int, cells: Real[ndarray, "..."]
) -> Float[ndarray, "..."]:
    """How much more of the first group survives than of another, beyond chance."""
    beyond = normalised(rates_of(cells))
    return np.asarray(beyond[..., 0] - beyond[..., group])


def flat(
    score: Callable[[ndarray], ndarray], cells: Real[ndarray, "seeds sentences *rest"]
) -> tuple[Score, Real[ndarray, "seeds sentences columns"]]:
    """A score of cells and the cells, with one axis for their columns, as the bootstrap has it."""
    seeds, sentences, *shape = cells.shape

    def of_columns(sums: Real[ndarray, "..."]) -> Float[ndarray, "..."]:
        return np.asarray(score(sums.reshape(*sums.shape[:-1], *shape)))

    return of_columns, cells.reshape(seeds, sentences, math.prod(shape))
