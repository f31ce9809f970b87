"""Survival by group and position from per-sentence sums, ready for the bootstrap.

Columns are (group, band, cell): groups are word classes or frequency bands, bands are places in
the sentence, and a cell is (words found, found by chance, words). Sums over sentences keep the
columns; every score here takes such sums in the last axis and keeps the axes before it.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..scoring.bootstrap import Score, ratio_of_sums

CELL = ("found", "by_chance", "words")
"""Words of a group and band: the first two are sums of shares, the last a count."""

Measure = Callable[[Float[ndarray, "*rows 2"]], Float[ndarray, "*rows"]]
"""From the rates (recall, chance) to a number."""


@dataclass(frozen=True)
class Layout:
    """The names of the groups, and the number of position bands."""

    groups: tuple[str, ...]
    bands: int

    @property
    def columns(self) -> int:
        """Columns of a row of sums."""
        return len(self.groups) * self.bands * len(CELL)

    def cells(self, sums: Real[ndarray, "*rows columns"]) -> Real[ndarray, "*rows groups bands 3"]:
        """Sums with an axis for groups, one for bands, one for the cell."""
        return sums.reshape(*sums.shape[:-1], len(self.groups), self.bands, len(CELL))


def relative_bands(words: int, bands: int) -> Int[ndarray, "words"]:
    """Band of each place of a sentence in ``bands`` equal parts: 0 is its first fifth of five.

    A word stands at its middle, (i + 1/2) / words, so that first and last are treated alike. A
    sentence of fewer words than bands leaves bands empty.
    """
    places = np.arange(words)
    return (2 * places + 1) * bands // (2 * max(words, 1))


def regrouped(
    layout: Layout,
    sums: Float[ndarray, "*rows columns"],
    kinds: Mapping[str, tuple[str, ...]],
) -> tuple[Layout, Float[ndarray, "*rows merged"]]:
    """Sums with some groups put together, and their layout; the kinds should cover all groups."""
    cells = layout.cells(sums)
    merged = [
        cells[..., [layout.groups.index(group) for group in groups], :, :].sum(axis=-3)
        for groups in kinds.values()
    ]
    result = Layout(tuple(kinds), layout.bands)
    return result, np.stack(merged, axis=-3).reshape(*sums.shape[:-1], result.columns)


def survival_sums(
    layout: Layout,
    survived: Sequence[Float[ndarray, "_"]],
    by_chance: Sequence[Float[ndarray, "_"]],
    groups: Sequence[Int[ndarray, "_"]],
    bands: Sequence[Int[ndarray, "_"]],
) -> Float[ndarray, "sentences columns"]:
    """Count every sentence's words by group and band; all arguments have an array per sentence.

    Words without a link (nan in ``survived``), group or band (-1) are left out. The sums by chance
    are nan for a sentence without a partner. Raises ValueError if the arguments differ in sentences
    or words.
    """
    columns = (survived, by_chance, groups, bands)
    lengths = [[len(words) for words in column] for column in columns]
    if any(other != lengths[0] for other in lengths):
        raise ValueError("survival, chance, groups and bands differ in sentences or words")
    found, chance, group, band = (np.concatenate([np.zeros(0), *column]) for column in columns)
    owner = np.repeat(np.arange(len(survived)), lengths[0])
    kept = ~np.isnan(found) & (group >= 0) & (band >= 0)
    cells = (owner * len(layout.groups) + group.astype(np.int64)) * layout.bands
    cells = (cells + band.astype(np.int64))[kept]
    size = len(survived) * len(layout.groups) * layout.bands
    sums = [np.bincount(cells, values[kept], size) for values in (found, chance, found * 0 + 1)]
    # bincount of nothing is of integers
    return np.stack(sums, axis=-1).reshape(len(survived), layout.columns).astype(np.float64)


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


def recall(rates: Float[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """Share of words that survived."""
    return rates[..., 0]


def chance(rates: Float[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """Share of words that stand in other sentences' outputs."""
    return rates[..., 1]


def less_chance(rates: Float[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """Recall minus chance: r - c."""
    return np.asarray(rates[..., 0] - rates[..., 1])


def normalised(rates: Float[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """Recall beyond chance, (r - c) / (1 - c); nan where chance is 1."""
    return ratio_of_sums(np.stack([less_chance(rates), 1 - chance(rates)], axis=-1))


MEASURES: dict[str, Measure] = {
    "recall": recall,
    "chance": chance,
    "less_chance": less_chance,
    "corrected": normalised,
}
"""By the names that tables have for them."""


def overall_score(layout: Layout, measure: Measure) -> Score:
    """A score of all words together."""
    return lambda sums: measure(rates(layout.cells(sums).sum(axis=(-3, -2))))


def standardised_score(layout: Layout, group: str, measure: Measure) -> Score:
    """A score of one group at the positions of all words, to compare with other groups."""
    place = layout.groups.index(group)
    return lambda sums: measure(standardised_rates(layout.cells(sums))[..., place, :])


def matched_rates(cells: Real[ndarray, "*rows 2 bands 3"]) -> Float[ndarray, "*rows 2 2"]:
    """Recall and chance of two groups in the bands that both have; nan where there are none."""
    weights = matching(cells)
    shared = weights[..., None, :, None]
    found = (shared * np.where(shared > 0, rates(cells), 0.0)).sum(axis=-2)
    whole = weights.sum(axis=-1)[..., None, None]
    return np.where(whole > 0, found / np.where(whole > 0, whole, 1), np.nan)


def matching(cells: Real[ndarray, "*rows 2 bands 3"]) -> Float[ndarray, "*rows bands"]:
    """What each band weighs in `matched_rates`: 0 where either group has no word."""
    words = cells[..., 2]
    return np.asarray(words.prod(axis=-2) / np.maximum(words.sum(axis=-2), 1))


def matched_score(layout: Layout, group: str, other: str, measure: Measure) -> Score:
    """A score: one group less another, in the bands that both have."""
    places = [layout.groups.index(name) for name in (group, other)]

    def score(sums: Float[ndarray, "*rows columns"]) -> Float[ndarray, "*rows"]:
        measured = measure(matched_rates(layout.cells(sums)[..., places, :, :]))
        return np.asarray(measured[..., 0] - measured[..., 1])

    return score
