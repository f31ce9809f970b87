"""Survival by group and band: planted classes and positions, loops as oracle, the bootstrap."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions.survival_sums import (
    Layout,
    chance,
    less_chance,
    matched_rates,
    matched_score,
    matching,
    normalised,
    overall_score,
    rates,
    recall,
    regrouped,
    relative_bands,
    standardised_rates,
    standardised_score,
    survival_sums,
)
from seq2seq_bottleneck.questions.word_survival import (
    LinkedReference,
    chance_survivals,
    partners,
    survivals,
)
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate

LAYOUT = Layout(("noun", "name", "verb"), 5)


def _planted(seed: int, sentences: int = 300) -> list[list[np.ndarray]]:
    """Survival, chance, groups and bands; survival falls with the band alone.

    Nouns stand rather at the start, names at the end; verbs anywhere.
    """
    rng = np.random.default_rng(seed)
    columns: list[list[np.ndarray]] = [[], [], [], []]
    for words in rng.integers(5, 20, size=sentences).tolist():
        bands = relative_bands(words, 5)
        late = rng.random(words) < (bands + 0.5) / 5
        groups = np.where(rng.random(words) < 0.3, 2, late.astype(np.int64))
        found = (rng.random(words) < 0.9 - 0.15 * bands).astype(np.float64)
        found[rng.random(words) < 0.1] = np.nan
        for column, own in zip(columns, (found, found * 0 + 0.1, groups, bands), strict=True):
            column.append(own)
    return columns


def test_sums_are_what_a_loop_counts() -> None:
    columns = _planted(1, sentences=20)
    columns[2][3][1] = -1
    columns[3][4][0] = -1
    cells = LAYOUT.cells(survival_sums(LAYOUT, *columns))
    expected = np.zeros_like(cells)
    for sentence, rows in enumerate(zip(*columns, strict=True)):
        for found, by_chance, group, band in zip(*rows, strict=True):
            if not np.isnan(found) and group >= 0 and band >= 0:
                expected[sentence, int(group), int(band)] += (found, by_chance, 1)
    assert cells == pytest.approx(expected)


def test_equal_positions_undo_what_only_position_did() -> None:
    sums = survival_sums(LAYOUT, *_planted(2, sentences=6_000)).sum(axis=0)
    crude = recall(rates(LAYOUT.cells(sums).sum(axis=-2)))
    equal = [standardised_score(LAYOUT, group, recall)(sums) for group in LAYOUT.groups]
    assert crude[0] - crude[1] > 0.1
    assert equal == pytest.approx([0.6] * 3, abs=0.02)


def test_standardised_rates_are_the_formula() -> None:
    cells = LAYOUT.cells(survival_sums(LAYOUT, *_planted(3)).sum(axis=0))
    words = cells[..., 2]
    for group in range(3):
        parts = [
            words[:, band].sum() / words.sum() * cells[group, band, 0] / words[group, band]
            for band in range(5)
        ]
        assert standardised_rates(cells)[group] == pytest.approx([sum(parts), 0.1])


def test_with_the_same_places_standardising_changes_nothing() -> None:
    cells = np.full((2, 3, 3), 10.0)
    cells[..., 0] = [[1, 2, 3], [6, 5, 4]]
    assert standardised_rates(cells)[..., 0] == pytest.approx([0.2, 0.5])
    assert rates(cells.sum(axis=1))[..., 0] == pytest.approx([0.2, 0.5])


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


def test_matching_undoes_what_only_the_band_did() -> None:
    columns = _planted(9, sentences=6_000)
    sums = survival_sums(LAYOUT, *columns).sum(axis=0)
    crude = recall(rates(LAYOUT.cells(sums).sum(axis=-2)))
    assert crude[0] - crude[1] > 0.1
    assert matched_score(LAYOUT, "noun", "name", recall)(sums) == pytest.approx(0, abs=0.03)
    columns[0] = [
        np.where(own == 1, 0.0, gone) for own, gone in zip(columns[2], columns[0], strict=True)
    ]
    sums = survival_sums(LAYOUT, *columns).sum(axis=0)
    assert matched_score(LAYOUT, "noun", "name", recall)(sums) > 0.4


def test_groups_that_share_no_band_cannot_be_matched() -> None:
    cells = np.ones((2, 2, 3))
    cells[0, 0] = cells[1, 1] = 0
    assert np.isnan(matched_rates(cells)).all()


def test_measures_of_a_recall_and_a_chance() -> None:
    pair = np.array([[0.8, 0.6], [0.2, 0.6], [1.0, 1.0]])
    assert recall(pair).tolist() == [0.8, 0.2, 1.0]
    assert chance(pair).tolist() == [0.6, 0.6, 1.0]
    assert less_chance(pair) == pytest.approx([0.2, -0.4, 0.0])
    assert normalised(pair)[:2] == pytest.approx([0.5, -1.0])
    assert np.isnan(normalised(pair)[2])


def test_scores_keep_leading_axes_and_fit_the_bootstrap() -> None:
    statistics = np.stack([survival_sums(LAYOUT, *_planted(seed)) for seed in (4, 5)])
    weights = draw(300, 60, seed=1, bucket=0)
    scores = [
        overall_score(LAYOUT, less_chance),
        overall_score(LAYOUT, normalised),
        standardised_score(LAYOUT, "verb", recall),
        standardised_score(LAYOUT, "name", less_chance),
        matched_score(LAYOUT, "noun", "name", normalised),
    ]
    for score in scores:
        ours = estimate(score, statistics, weights)
        singly = [score(seed.sum(axis=0)) for seed in statistics]
        assert ours.value == pytest.approx(np.mean(singly))
        drawn = [
            score(np.repeat(seed, weights[7].astype(int), axis=0).sum(axis=0))
            for seed in statistics
        ]
        assert ours.draws[7] == pytest.approx(np.mean(drawn))
        assert ours.interval.low < ours.value < ours.interval.high


def test_references_against_themselves_and_against_shuffled_ones() -> None:
    rng = np.random.default_rng(6)
    texts = [[f"w{word}" for word in rng.integers(40, size=9)] for _ in range(200)]
    links = tuple((place, place) for place in range(9))
    pairs = [LinkedReference(9, tuple(text), links) for text in texts]
    bands = [relative_bands(9, 5)] * 200
    groups = [np.zeros(9, np.int64)] * 200
    others = partners(np.zeros(200, np.int64), 6, seed=0)

    def score(outputs: list[list[str]]) -> tuple[float, float]:
        by_chance = chance_survivals(pairs, outputs, others)
        sums = survival_sums(LAYOUT, survivals(pairs, outputs), by_chance, groups, bands)
        total = sums.sum(axis=0)
        return tuple(float(overall_score(LAYOUT, m)(total)) for m in (recall, less_chance))

    own = score(texts)
    assert own[0] == 1
    assert 0.7 < own[1] < 0.9
    shuffled = [texts[place] for place in rng.permutation(200)]
    assert score(shuffled)[0] == pytest.approx(9 / 40, abs=0.06)
    assert score(shuffled)[1] == pytest.approx(0, abs=0.03)


def test_no_sentences_give_blanks_and_a_lonely_one_a_blank_chance() -> None:
    empty = survival_sums(LAYOUT, [], [], [], [])
    assert empty.shape == (0, LAYOUT.columns)
    assert np.isnan(overall_score(LAYOUT, recall)(empty.sum(axis=0)))
    places = np.zeros(2, np.int64)
    lonely = survival_sums(LAYOUT, [np.ones(2)], [np.full(2, np.nan)], [places], [places])
    assert overall_score(LAYOUT, recall)(lonely.sum(axis=0)) == 1
    assert np.isnan(overall_score(LAYOUT, chance)(lonely.sum(axis=0)))


def test_columns_that_speak_of_different_words_are_refused() -> None:
    one, two = [np.zeros(1, np.int64)], [np.zeros(2, np.int64)]
    with pytest.raises(ValueError, match="differ in sentences or words"):
        survival_sums(LAYOUT, [np.ones(1)], [np.ones(1)], one, two)


def test_regrouping_adds_groups_up():
    layout = Layout(("a", "b", "c"), 2)
    sums = np.arange(2.0 * layout.columns).reshape(2, -1)
    made, merged = regrouped(layout, sums, {"ac": ("a", "c"), "b": ("b",)})
    assert made == Layout(("ac", "b"), 2)
    cells, before = made.cells(merged), layout.cells(sums)
    np.testing.assert_array_equal(cells[:, 0], before[:, 0] + before[:, 2])
    np.testing.assert_array_equal(cells[:, 1], before[:, 1])
