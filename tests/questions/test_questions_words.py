"""IBM model 1 compared with dictionaries and scipy; survival of words by hand and by loops."""

from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions.ibm1 import train
from seq2seq_bottleneck.questions.survival import (
    WordReport,
    found_shares,
    rate,
    survival,
    word_reports,
)


def pair(text):
    """The two sides of a line such as ``the lamp = la lampe``."""
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


def by_dictionary(pairs):
    """t(f | e) after three iterations, one dictionary entry at a time."""
    targets = {f for _, target in pairs for f in target}
    t = defaultdict(lambda: 1 / len(targets))
    for _ in range(3):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            words = [None, *source]
            for f in target:
                whole = sum(t[f, e] for e in words)
                for e in words:
                    counts[f, e] += t[f, e] / whole
                    totals[e] += t[f, e] / whole
        t = {(f, e): count / totals[e] for (f, e), count in counts.items()}
    return t


@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(PAIR, min_size=1, max_size=6), chunk=st.sampled_from([1, 500]))
def test_the_model_equals_the_equations_entry_by_entry_whatever_the_chunk(pairs, chunk):
    model, t = train(pairs, iterations=3, chunk=chunk), by_dictionary(pairs)
    known = dict(zip(model.keys.tolist(), model.probabilities, strict=True))
    ids = {None: 0} | model.source_ids
    for source, target in pairs:
        for e, f in product([None, *source], target):
            key = ids[e] * len(model.target_ids) + model.target_ids[f]
            assert known[key] == pytest.approx(t[f, e])


NULL = [([f"s{n}", f"s{n + 1}"], [f"t{n}", "euh", f"t{n + 1}"]) for n in range(12)]


@pytest.mark.parametrize(
    ("corpus", "sentence", "expected"),
    [
        (TOY, pair("the green lamp = la lampe verte"), {(0, 0), (2, 1), (1, 2)}),
        # Copies of a word go to the copy nearest to the diagonal.
        (TOY, pair("the lamp the door = la lampe la porte"), {(0, 0), (1, 1), (2, 2), (3, 3)}),
        # A word that is in every sentence comes from NULL.
        (NULL, NULL[5], {(0, 0), (1, 2)}),
    ],
)
def test_a_known_corpus_is_understood(corpus, sentence, expected):
    model = train([*corpus, ([], ["la"]), (["the"], [])], iterations=20)  # empty: left out
    assert model.align(*sentence) == expected


TOKENS = st.lists(st.sampled_from(["le", "la", "chat", "noir", "dort"]), max_size=8)


def mat():
    """The lecture's sentence: the black cat sat on the mat."""
    return english_french().parse("the black cat sat on the mat")


@pytest.mark.parametrize(
    ("reference", "output", "expected"),
    [
        # One of two le, chat, two of s' est assis.
        (mat(), ("le", "chat", "est", "assis"), [1 / 2, 0, 1, 2 / 3, 0, 1 / 2, 0]),
        # Several words share one target word.
        (SentencePair("a b c", "va vite", ((0, 0), (1, 0), (1, 0), (2, 1))), ["va"], [1, 1, 0]),
    ],
)
def test_survival_by_hand(reference, output, expected):
    shares = survival([reference], [output], np.array([0]), seed=1)
    assert shares[:, 0] == pytest.approx(expected)
    assert np.isnan(shares[:, 1]).all()


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


def test_chance_is_in_the_outputs_of_other_sentences_of_the_bucket():
    words = [*"abcdefg"]
    pairs = [SentencePair(word, word, ((0, 0),)) for word in words]
    every_other = [[other for other in words if other != word] for word in words]
    buckets = np.array([0, 1, 0, -1, 0, -1, 2])
    shares = survival(pairs, every_other, buckets, seed=1)[:, 1]
    assert shares.tolist() == pytest.approx([1, np.nan, 1, 1, 1, 1, np.nan], nan_ok=True)
    assert survival(pairs, words, buckets, seed=1)[[0, 2, 3, 4, 5], 1].tolist() == [0] * 5


def reports_of(text):
    """The reports on the lecture's sentence for this translation."""
    sides = map(tokenize, (mat().source, mat().target))
    return word_reports(*sides, mat().links, tokenize(text))


def test_reports_word_by_word():
    assert {report.fate for report in reports_of("")} == {"lost"}
    reports = reports_of("le chat s'assis sur un tapis")
    assert reports[:4] == [
        WordReport("the", "in part", ("le",), ("le",)),
        WordReport("black", "lost", ("noir",), ()),
        WordReport("cat", "survived", ("chat",), ("chat",)),
        WordReport("sat", "in part", ("s'￭", "est", "assis"), ("s'￭", "assis")),
    ]
    fates = [report.fate for report in reports]
    assert fates == ["in part", "lost", "survived", "in part", "survived", "in part", "survived"]


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
    given = {"sums": cells.reshape(1, -1), "shape": cells.shape, "matched": True}
    assert rate(measure="recall", group=0, minus=1, **given) == pytest.approx([above / below])
    assert rate(measure="chance", group=1, **given) == pytest.approx([0.1])
