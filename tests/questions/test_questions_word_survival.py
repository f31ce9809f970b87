"""IBM model 1 against dictionaries and scipy; survival of words by hand; sums against loops."""

from collections import Counter, defaultdict
from itertools import combinations
from math import log
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from seq2seq_bottleneck.corpus.grammar import english_french, word_class
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions import word_survival
from seq2seq_bottleneck.questions.survival import relative_bands
from seq2seq_bottleneck.questions.word_survival import (
    MEASURES,
    LinkedReference,
    WordReport,
    band_weights,
    chance_survival,
    found_shares,
    group_score,
    nearest_to_diagonal,
    partners,
    rates,
    survival,
    survival_cells,
    train,
    word_reports,
)
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate


def pair(text):
    """Both sides of a line such as ``the lamp = la lampe``."""
    source, target = text.split(" = ")
    return source.split(), target.split()


TOY = [*map(pair, (
    "the green lamp = la lampe verte", "the lamp = la lampe", "the green door = la porte verte",
    "a door = une porte", "a lamp = une lampe",
))]  # fmt: skip
SIDE = {"min_size": 1, "max_size": 5}
PAIR = st.tuples(
    st.lists(st.sampled_from("abcd"), **SIDE), st.lists(st.sampled_from("vwxyz"), **SIDE)
)


def by_dictionary(pairs, iterations):
    """t(f | e), a dictionary entry at a time; the log-likelihood never falls."""
    targets = {f for _, target in pairs for f in target}
    t = defaultdict(lambda: 1 / len(targets))
    history = [log_likelihood(pairs, t)]
    for _ in range(iterations):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            words = [None, *source]
            for f in target:
                whole = sum(t[f, e] for e in words)
                for e in words:
                    counts[f, e] += t[f, e] / whole
                    totals[e] += t[f, e] / whole
        t = {(f, e): count / totals[e] for (f, e), count in counts.items()}
        history.append(log_likelihood(pairs, t))
    assert (np.diff(history) >= -1e-9).all()
    return t


def log_likelihood(pairs, t):
    return sum(
        log(sum(t[f, e] for e in [None, *source]) / (len(source) + 1))
        for source, target in pairs
        for f in target
    )


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(PAIR, min_size=1, max_size=6),
    iterations=st.integers(1, 6),
    cells=st.sampled_from([4, 2**20]),
)
def test_equals_the_equations_entry_by_entry_in_parts_as_in_one(pairs, iterations, cells):
    with patch.object(word_survival, "CHUNK_CELLS", cells):
        model = train(pairs, iterations=iterations)
    t = by_dictionary(pairs, iterations)
    for source, target in pairs:
        expected = [[t[f, e] for e in [None, *source]] for f in target]
        assert model.table(source, target) == pytest.approx(np.array(expected))
    assert len(model.probabilities) == len(t)
    sums = np.bincount(model.keys // len(model.target_ids), model.probabilities)
    assert sums == pytest.approx(1.0)


def test_em_reaches_the_maximum_that_scipy_finds():
    pairs = [(["a", "b"], ["x", "y"]), (["a"], ["x"]), (["b", "c"], ["y", "z", "z"])]
    entries = sorted({(f, e) for source, target in pairs for f in target for e in ["", *source]})

    def loss(logits):
        weights = dict(zip(entries, np.exp(logits), strict=True))
        sums = defaultdict(float)
        for (_, e), weight in weights.items():
            sums[e] += weight
        t = {(f, e or None): weight / sums[e] for (f, e), weight in weights.items()}
        return -log_likelihood(pairs, t)

    best = optimize.minimize(loss, np.zeros(len(entries)), method="L-BFGS-B")
    model = train(pairs, iterations=400)
    tables = [model.table(*sides).mean(axis=1) for sides in pairs]
    assert np.log(np.concatenate(tables)).sum() == pytest.approx(-best.fun, abs=1e-3)


NULL = [([f"s{n}", f"s{n + 1}"], [f"t{n}", "euh", f"t{n + 1}"]) for n in range(12)]


@pytest.mark.parametrize(
    ("corpus", "sentence", "expected"),
    [
        (TOY, pair("the green lamp = la lampe verte"), {(0, 0), (2, 1), (1, 2)}),
        # An unknown word: its place, the last.
        (TOY, pair("the zebra lamp = la lampe zébrée"), {(0, 0), (2, 1), (2, 2)}),
        # Copies of a word go to the copy nearest to the diagonal.
        (TOY, pair("the lamp the door = la lampe la porte"), {(0, 0), (1, 1), (2, 2), (3, 3)}),
        # A word that stands everywhere comes from NULL.
        (NULL, NULL[5], {(0, 0), (1, 2)}),
        (TOY, ([], ["la"]), set()),
        (TOY, (["the"], []), set()),
    ],
)
def test_a_known_corpus_is_understood(corpus, sentence, expected):
    model = train([*corpus, ([], ["la"]), (["the"], [])], iterations=20)  # empty: left out
    assert model.align([sentence]) == [expected]


@given(sources=st.integers(1, 30), targets=st.integers(1, 30))
def test_unknown_words_lie_on_the_diagonal_and_the_nearest_keeps_to_what_is_allowed(
    sources, targets
):
    (links,) = train(TOY, iterations=1).align([(["?"] * sources, ["!"] * targets)])
    assert links == {((2 * j + 1) * sources // (2 * targets), j) for j in range(targets)}
    assert links == nearest_to_diagonal(np.ones((targets, sources), bool))
    allowed = np.array([[False, False, True], [True, False, True], [True, True, False]])
    assert nearest_to_diagonal(allowed) == {(2, 0), (2, 1), (1, 2)}


TOKENS = st.lists(st.sampled_from(["le", "la", "chat", "noir", "dort"]), max_size=8)
NOUN, NAME, VERB = range(3)


@st.composite
def linked(draw):
    """Up to six source words, a reference, and any links at all between them."""
    words, reference = draw(st.integers(0, 6)), draw(TOKENS)
    grid = [(i, j) for i in range(words) for j in range(len(reference))]
    links = draw(st.lists(st.sampled_from(grid))) if grid else []
    return words, tuple(reference), tuple(links)


def mat():
    """The lecture's sentence: the black cat sat on the mat."""
    sentence = english_french().parse("the black cat sat on the mat")
    return LinkedReference.of(sentence, sentence.links)


def random_pairs(sentences, words, kinds, seed):
    """Sentences of random words, each word linked to its own translation; random numbers."""
    rng = np.random.default_rng(seed)
    texts = rng.integers(kinds, size=(sentences, words)).tolist()
    links = tuple((place, place) for place in range(words))
    pairs = [LinkedReference(words, tuple(f"w{word}" for word in text), links) for text in texts]
    return pairs, rng


@pytest.mark.parametrize(
    ("reference", "output", "expected"),
    [
        # One of two le, chat, two of s' est assis.
        (mat(), ("le", "chat", "est", "assis"), [1 / 2, 0, 1, 2 / 3, 0, 1 / 2, 0]),
        # Several words share one target word.
        (LinkedReference(3, ("va", "vite"), ((0, 0), (1, 0), (1, 0), (2, 1))), ["va"], [1, 1, 0]),
    ],
)
def test_survival_by_hand(reference, output, expected):
    assert survival([reference], [output]) == pytest.approx(expected)


@given(reference=TOKENS, hypothesis=TOKENS)
def test_shares_are_the_mean_over_every_choice_of_copies(reference, hypothesis):
    expected = np.zeros(len(reference))
    for word in set(reference):
        places = [j for j, token in enumerate(reference) if token == word]
        choices = list(combinations(places, min(len(places), hypothesis.count(word))))
        for choice in choices:
            expected[list(choice)] += 1 / len(choices)
    shares = found_shares(reference, hypothesis)
    assert shares == pytest.approx(expected)
    clipped = (Counter(reference) & Counter(hypothesis)).total()
    assert shares.sum() == pytest.approx(clipped)


@given(parts=linked(), hypothesis=TOKENS)
def test_survival_is_a_share_of_linked_words_alone(parts, hypothesis):
    pair = LinkedReference(*parts)  # here, since beartype draws at random when it is made
    ours, whole, reversed_order = survival(
        [pair] * 3, [hypothesis, pair.reference, hypothesis[::-1]]
    ).reshape(3, -1)
    has_link = [any(i == place for i, _ in pair.links) for place in range(pair.words)]
    assert np.array_equal(~np.isnan(ours), has_link)
    assert ((ours >= 0) & (ours <= 1))[has_link].all()
    assert (whole[has_link] == 1).all()
    assert np.array_equal(ours, reversed_order, equal_nan=True)


@settings(max_examples=50)
@given(buckets=st.lists(st.integers(-1, 3), max_size=30), seed=st.integers(0, 99))
def test_partners_are_another_sentence_of_the_bucket_and_each_is_used_once(buckets, seed):
    members = np.array(buckets, np.int64)
    for row in partners(members, 3, seed=seed):
        for bucket in set(buckets):
            ids = np.flatnonzero(members == bucket)
            if len(ids) == 1:
                assert row[ids].tolist() == [-1]
            else:
                assert sorted(row[ids]) == ids.tolist()
                assert (row[ids] != ids).all()


def test_partners_repeat_for_a_seed_whatever_other_buckets_have():
    buckets = np.zeros(50, np.int64)
    first = partners(buckets, 2, seed=1)
    assert not np.array_equal(first, partners(buckets, 2, seed=2))
    longer = np.append(buckets, [1] * 9)
    assert np.array_equal(first, partners(longer, 2, seed=1)[:, :50])
    drawn = partners(np.zeros(4, np.int64), 6_000, seed=0)  # and uniform
    counts = np.array([np.bincount(column, minlength=4) for column in drawn.T])
    assert counts == pytest.approx(2_000 * (1 - np.eye(4)), abs=200)


def test_chance_is_each_output_against_shuffled_sources_and_blank_for_a_sentence_alone():
    pairs, rng = random_pairs(sentences=40, words=8, kinds=12, seed=2)
    outputs = [[f"w{word}" for word in rng.integers(12, size=7)] for _ in pairs]
    others = partners(np.zeros(40, np.int64), 5, seed=3)
    theirs = 0.0
    for row in others:
        shuffled = np.argsort(row)  # the source that each output meets
        theirs += survival([pairs[place] for place in shuffled], outputs).sum()
    assert chance_survival(pairs, outputs, others).sum() == pytest.approx(theirs / 5)
    alone = chance_survival(pairs[:3], outputs[:3], partners(np.array([0, 1, 0]), 2, seed=0))
    assert np.isnan(alone).reshape(3, -1).all(axis=1).tolist() == [False, True, False]
    assert not np.isnan(alone.reshape(3, -1)[[0, 2]]).any()


def reports_of(text):
    """What becomes of the lecture's sentence in this translation."""
    words = ["the", "black", "cat", "sat", "on", "the", "mat"]
    return word_reports(words, list(map(word_class, words)), mat(), tokenize(text))


def test_reports_word_by_word():
    assert {report.fate for report in reports_of("")} == {"lost"}
    reports = reports_of("le chat s'assis sur un tapis")
    assert reports[:4] == [
        WordReport("the", "determiner", 0.5, ("le",), ("le",)),
        WordReport("black", "adjective", 0.0, ("noir",), ()),
        WordReport("cat", "noun", 1.0, ("chat",), ("chat",)),
        WordReport("sat", "verb", 2 / 3, ("s'￭", "est", "assis"), ("s'￭", "assis")),
    ]
    fates = [report.fate for report in reports]
    assert fates == ["in part", "lost", "survived", "in part", "survived", "in part", "survived"]
    verb = LinkedReference(3, ("dort",), ((1, 0),))
    reports = word_reports(["does", "sleep", "not"], ["", "verb", ""], verb, ["dort"])
    assert [report.share for report in reports] == [None, 1.0, None]
    assert [report.fate for report in reports] == ["not linked", "survived", "not linked"]


def planted(seed, sentences=300):
    """Sentence, survival, chance, group and band of words; survival falls with the band alone.

    Nouns stand rather at the start, names at the end; verbs anywhere.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(5, 20, size=sentences)
    places = np.concatenate(list(map(np.arange, lengths)))
    bands = relative_bands(places, np.repeat(lengths, lengths), 5)
    late = rng.random(len(bands)) < (bands + 0.5) / 5
    groups = np.where(rng.random(len(bands)) < 0.3, VERB, late.astype(np.int64))
    survived = (rng.random(len(bands)) < 0.9 - 0.15 * bands).astype(np.float64)
    survived[rng.random(len(bands)) < 0.1] = np.nan
    sentence = np.repeat(np.arange(sentences), lengths)
    return [sentence, survived, np.full(len(bands), 0.1), groups, bands]


def cells_of(columns, sentences=300):
    return survival_cells(*columns, shape=(sentences, 3, 5))


def averaged(cells, matched=False):
    """Recall and chance of each group."""
    numbers = rates(cells, matched)
    return np.stack([numbers["recall"], numbers["chance"]], axis=-1)


def test_cells_are_what_a_loop_counts():
    columns = planted(1, sentences=20)
    columns[3][7] = -1
    expected = np.zeros((20, 3, 5, 3))
    for sentence, survived, by_chance, group, band in zip(*columns, strict=True):
        if not np.isnan(survived) and group >= 0:
            expected[sentence, group, band] += (survived, by_chance, 1)
    assert cells_of(columns, 20) == pytest.approx(expected)


def test_equal_positions_and_matching_undo_what_only_position_did():
    columns = planted(2, sentences=6_000)
    cells = cells_of(columns, 6_000).sum(axis=0)
    crude = cells[..., 0].sum(axis=-1) / cells[..., 2].sum(axis=-1)
    assert crude[NOUN] - crude[NAME] > 0.1
    assert averaged(cells)[:, 0] == pytest.approx([0.6] * 3, abs=0.02)
    assert np.ptp(averaged(cells[:2], matched=True)[:, 0]) == pytest.approx(0, abs=0.03)
    columns[1] = np.where(columns[3] == NAME, 0.0, columns[1])
    without = averaged(cells_of(columns, 6_000).sum(axis=0)[:2], matched=True)
    assert without[NOUN, 0] - without[NAME, 0] > 0.4


def test_standardised_rates_are_the_formula_and_need_every_band_that_others_fill():
    cells = cells_of(planted(3)).sum(axis=0)
    words = cells[..., 2]
    for group in range(3):
        parts = [
            words[:, band].sum() / words.sum() * cells[group, band, 0] / words[group, band]
            for band in range(5)
        ]
        assert averaged(cells)[group] == pytest.approx([sum(parts), 0.1])
    cells = np.ones((2, 3, 3))
    cells[0, 1] = 0
    cells[:, 2] = 0  # a band that nobody fills does no harm
    assert np.isnan(averaged(cells)[0]).all()
    assert averaged(cells)[1].tolist() == [1.0, 1.0]


def test_matched_rates_differ_by_the_estimate_of_mantel_and_haenszel():
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
    ours = averaged(cells, matched=True)
    assert ours[0, 0] - ours[1, 0] == pytest.approx(above / below)
    assert ours[:, 1] == pytest.approx([0.1, 0.1])
    assert (band_weights(cells, matched=True)[:5] == 0).all()
    assert np.isnan(averaged(cells[:, :5], matched=True)).all()  # no band has both


def test_measures_of_a_recall_and_a_chance():
    numbers = rates(np.array([[[8.0, 6, 10]], [[2, 6, 10]], [[10, 10, 10]]]))
    assert [*numbers] == [*MEASURES]
    assert numbers["recall"] == pytest.approx([0.8, 0.2, 1.0])
    assert numbers["chance"] == pytest.approx([0.6, 0.6, 1.0])
    assert numbers["corrected"] == pytest.approx([0.5, -1.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("measure", "group", "minus", "matched", "of"),
    [
        ("recall", VERB, None, False, slice(None)),
        ("corrected", NAME, None, False, slice(None)),
        ("corrected", NOUN, NAME, False, slice(None)),
        ("corrected", NOUN, NAME, True, [NOUN, NAME]),
    ],
)
def test_scores_of_groups_fit_the_bootstrap(measure, group, minus, matched, of):
    cells = np.stack([cells_of(planted(seed)) for seed in (4, 5)])[..., of, :, :]

    def number(summed):
        numbers = rates(summed, matched)[measure]
        return numbers[group] - (0 if minus is None else numbers[minus])

    weights = draw(300, 60, seed=1, bucket=0)
    ours = estimate(*group_score(measure, cells, group, minus, matched), weights)
    assert ours.value == pytest.approx(np.mean([number(seed.sum(axis=0)) for seed in cells]))
    repeats = weights[7].astype(int)
    drawn = [number(np.repeat(seed, repeats, axis=0).sum(axis=0)) for seed in cells]
    assert ours.draws[7] == pytest.approx(np.mean(drawn))
    assert ours.interval.low < ours.value < ours.interval.high
