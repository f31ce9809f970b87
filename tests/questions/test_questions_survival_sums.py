"""Survival by group and band: planted classes and positions, loops as oracle, the bootstrap."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.questions.survival_sums import (
    MEASURES,
    first_minus,
    flat,
    matched_rates,
    matching,
    normalised,
    overall,
    rates,
    relative_bands,
    standardised,
    standardised_rates,
    survival_cells,
)
from seq2seq_bottleneck.questions.word_survival import (
    LinkedReference,
    chance_survivals,
    partners,
    survival,
)
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate

NOUN, NAME, VERB = range(3)
RECALL, LESS_CHANCE = MEASURES["recall"], MEASURES["less_chance"]


def _planted(seed: int, sentences: int = 300) -> list[np.ndarray]:
    """Sentence, survival, chance, group and band of words; survival falls with the band alone.

    Nouns stand rather at the start, names at the end; verbs anywhere.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 20, size=sentences)
    bands = np.concatenate([relative_bands(words, 5) for words in lengths.tolist()])
    late = rng.random(len(bands)) < (bands + 0.5) / 5
    groups = np.where(rng.random(len(bands)) < 0.3, VERB, late.astype(np.int64))
    found = (rng.random(len(bands)) < 0.9 - 0.15 * bands).astype(np.float64)
    found[rng.random(len(bands)) < 0.1] = np.nan
    sentence = np.repeat(np.arange(sentences), lengths)
    return [sentence, found, np.full(len(bands), 0.1), groups, bands]


def _cells(columns: list[np.ndarray], sentences: int = 300) -> np.ndarray:
    return survival_cells(*columns, shape=(sentences, 3, 5))


def test_fifths_by_hand() -> None:
    assert relative_bands(10, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert relative_bands(1, 5).tolist() == [2]
    assert relative_bands(0, 5).shape == (0,)


@given(words=st.integers(1, 80), bands=st.integers(1, 10))
def test_bands_mirror_each_other_ascend_and_are_filled(words: int, bands: int) -> None:
    ours = relative_bands(words, bands)
    middles = (np.arange(words) + 0.5) / words * bands
    inside = ~np.isclose(middles, np.round(middles))  # not on an edge between two bands
    assert np.array_equal(ours[inside], np.floor(middles[inside]))
    assert np.array_equal(ours[inside], (bands - 1 - ours[::-1])[inside])
    assert (np.diff(ours) >= 0).all()
    if words >= bands:
        assert set(ours) == set(range(bands))


def test_cells_are_what_a_loop_counts() -> None:
    columns = _planted(1, sentences=20)
    columns[3][7] = -1
    expected = np.zeros((20, 3, 5, 3))
    for sentence, found, by_chance, group, band in zip(*columns, strict=True):
        if not np.isnan(found) and group >= 0:
            expected[sentence, group, band] += (found, by_chance, 1)
    assert _cells(columns, 20) == pytest.approx(expected)


def test_equal_positions_and_matching_undo_what_only_position_did() -> None:
    columns = _planted(2, sentences=6_000)
    cells = _cells(columns, 6_000).sum(axis=0)
    crude = RECALL(rates(cells.sum(axis=-2)))
    assert crude[NOUN] - crude[NAME] > 0.1
    equal = [standardised(RECALL, group, cells) for group in (NOUN, NAME, VERB)]
    assert equal == pytest.approx([0.6] * 3, abs=0.02)
    assert first_minus(matched_rates, NAME, cells[:2]) == pytest.approx(0, abs=0.03)
    columns[1] = np.where(columns[3] == NAME, 0.0, columns[1])
    without = _cells(columns, 6_000).sum(axis=0)
    assert first_minus(matched_rates, NAME, without[:2]) > 0.4


def test_standardised_rates_are_the_formula() -> None:
    cells = _cells(_planted(3)).sum(axis=0)
    words = cells[..., 2]
    for group in range(3):
        parts = [
            words[:, band].sum() / words.sum() * cells[group, band, 0] / words[group, band]
            for band in range(5)
        ]
        assert standardised_rates(cells)[group] == pytest.approx([sum(parts), 0.1])
    same = np.full((2, 3, 3), 10.0)  # with the same places it changes nothing
    same[..., 0] = [[1, 2, 3], [6, 5, 4]]
    assert standardised_rates(same)[..., 0] == pytest.approx([0.2, 0.5])


def test_a_group_that_lacks_a_band_has_no_rate_at_equal_positions() -> None:
    cells = np.ones((2, 3, 3))
    cells[0, 1] = 0
    cells[:, 2] = 0  # a band that nobody fills does no harm
    ours = standardised_rates(cells)
    assert np.isnan(ours[0]).all()
    assert ours[1].tolist() == [1.0, 1.0]
    assert np.isnan(standardised_rates(np.zeros((2, 3, 3)))).all()


def test_matched_rates_differ_by_the_estimate_of_mantel_and_haenszel() -> None:
    rng = np.random.default_rng(8)
    words = rng.integers(0, 9, size=(2, 12))
    words[0, :2] = words[1, 2:4] = words[:, 4] = 0
    found = rng.binomial(words, 0.4)
    cells = np.stack([found, words * 0.1, words], axis=-1).astype(np.float64)
    above = below = 0.0
    for (a, _, n), (b, _, m) in zip(*cells, strict=True):
        if n + m:
            above += (a * m - b * n) / (n + m)
            below += n * m / (n + m)
    ours = matched_rates(cells)
    assert ours[0, 0] - ours[1, 0] == pytest.approx(above / below)
    assert ours[:, 1] == pytest.approx([0.1, 0.1])
    assert (matching(cells)[:5] == 0).all()
    assert np.isnan(matched_rates(cells[:, :5])).all()  # no band has both


def test_measures_of_a_recall_and_a_chance() -> None:
    pair = np.array([[0.8, 0.6], [0.2, 0.6], [1.0, 1.0]])
    assert RECALL(pair).tolist() == [0.8, 0.2, 1.0]
    assert MEASURES["chance"](pair).tolist() == [0.6, 0.6, 1.0]
    assert LESS_CHANCE(pair) == pytest.approx([0.2, -0.4, 0.0])
    assert normalised(pair) == pytest.approx([0.5, -1.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    "score",
    [
        partial(overall, LESS_CHANCE),
        partial(overall, normalised),
        partial(standardised, RECALL, VERB),
        partial(standardised, LESS_CHANCE, NAME),
        partial(first_minus, standardised_rates, NAME),
    ],
)
def test_scores_keep_leading_axes_and_fit_the_bootstrap(score: partial) -> None:
    cells = np.stack([_cells(_planted(seed)) for seed in (4, 5)])
    weights = draw(300, 60, seed=1, bucket=0)
    ours = estimate(*flat(score, cells), weights)
    assert ours.value == pytest.approx(np.mean([score(seed.sum(axis=0)) for seed in cells]))
    repeats = weights[7].astype(int)
    drawn = [score(np.repeat(seed, repeats, axis=0).sum(axis=0)) for seed in cells]
    assert ours.draws[7] == pytest.approx(np.mean(drawn))
    assert ours.interval.low < ours.value < ours.interval.high


def test_references_against_themselves_and_against_shuffled_ones() -> None:
    rng = np.random.default_rng(6)
    texts = [[f"w{word}" for word in rng.integers(40, size=9)] for _ in range(200)]
    links = tuple((place, place) for place in range(9))
    pairs = [LinkedReference(9, tuple(text), links) for text in texts]
    bands = np.tile(relative_bands(9, 5), 200)
    others = partners(np.zeros(200, np.int64), 6, seed=0)

    def score(outputs: list[list[str]]) -> tuple[float, float]:
        found = np.concatenate(list(map(survival, pairs, outputs)))
        by_chance = np.concatenate(chance_survivals(pairs, outputs, others))
        sentence, group = np.repeat(np.arange(200), 9), np.zeros(1800, np.int64)
        total = _cells([sentence, found, by_chance, group, bands], 200).sum(axis=0)
        return float(overall(RECALL, total)), float(overall(LESS_CHANCE, total))

    recall, less_chance = score(texts)
    assert recall == 1
    assert 0.7 < less_chance < 0.9
    shuffled = score([texts[place] for place in rng.permutation(200)])
    assert shuffled == (pytest.approx(9 / 40, abs=0.06), pytest.approx(0, abs=0.03))


def test_no_words_give_blanks_and_a_lonely_sentence_a_blank_chance() -> None:
    assert np.isnan(overall(RECALL, np.zeros((3, 5, 3))))
    places = np.zeros(2, np.int64)
    lonely = _cells([places, np.ones(2), np.full(2, np.nan), places, places], 1).sum(axis=0)
    assert overall(RECALL, lonely) == 1
    assert np.isnan(overall(MEASURES["chance"], lonely))
