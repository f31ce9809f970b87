"""IBM model 1 against dictionaries written from the equations, scipy's maximum, known corpora."""

from collections import defaultdict
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from seq2seq_bottleneck.questions import ibm1
from seq2seq_bottleneck.questions.alignment import diagonal_links
from seq2seq_bottleneck.questions.ibm1 import nearest_to_diagonal, train


def pair(text):
    """Both sides of a line such as ``the lamp = la lampe``."""
    source, target = text.split(" = ")
    return source.split(), target.split()


TOY = [
    pair("the green lamp = la lampe verte"),
    pair("the lamp = la lampe"),
    pair("the green door = la porte verte"),
    pair("a door = une porte"),
    pair("a lamp = une lampe"),
]
PAIR = st.tuples(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=5),
    st.lists(st.sampled_from("vwxyz"), min_size=1, max_size=5),
)
CORPUS = st.lists(PAIR, min_size=1, max_size=6)


def _slow(pairs, iterations):
    """t(f | e) and the log-likelihood before each iteration, a dictionary entry at a time."""
    targets = {f for _, target in pairs for f in target}
    t = defaultdict(lambda: 1 / len(targets))
    history = []
    for _ in range(iterations):
        history.append(_log_likelihood(pairs, t))
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            words = [None, *source]
            for f in target:
                whole = sum(t[f, e] for e in words)
                for e in words:
                    counts[f, e] += t[f, e] / whole
                    totals[e] += t[f, e] / whole
        t = {(f, e): count / totals[e] for (f, e), count in counts.items()}
    return t, history


def _log_likelihood(pairs, t):
    return sum(
        log(sum(t[f, e] for e in [None, *source]) / (len(source) + 1))
        for source, target in pairs
        for f in target
    )


@settings(max_examples=60, deadline=None)
@given(pairs=CORPUS, iterations=st.integers(1, 6))
def test_equals_the_equations_entry_by_entry(pairs, iterations):
    model, history = train(pairs, iterations=iterations)
    slow, likelihoods = _slow(pairs, iterations)
    assert history == pytest.approx(likelihoods)
    for source, target in pairs:
        expected = [[slow[f, e] for e in [None, *source]] for f in target]
        assert model.table(source, target) == pytest.approx(np.array(expected))
    assert len(model.probabilities) == len(slow)


@settings(max_examples=60, deadline=None)
@given(pairs=CORPUS)
def test_likelihood_never_falls_and_probabilities_sum_to_one(pairs):
    model, history = train(pairs, iterations=8)
    assert (np.diff(history) >= -1e-9).all()
    sums = np.bincount(model.keys // len(model.target_ids), model.probabilities)
    assert sums == pytest.approx(1.0)


def test_parts_of_a_corpus_add_up_to_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    pairs = [
        (list(map(str, rng.integers(12, size=i))), list(map(str, rng.integers(12, size=j))))
        for i, j in rng.integers(1, 9, size=(50, 2))
    ]
    whole, history = train(pairs, iterations=4)
    monkeypatch.setattr(ibm1, "_CHUNK_CELLS", 40)
    parts, again = train(pairs, iterations=4)
    assert np.array_equal(parts.keys, whole.keys)
    assert parts.probabilities == pytest.approx(whole.probabilities)
    assert again == pytest.approx(history)


def test_em_reaches_the_maximum_that_scipy_finds():
    pairs = [(["a", "b"], ["x", "y"]), (["a"], ["x"]), (["b", "c"], ["y", "z", "z"])]
    entries = sorted({(f, e) for source, target in pairs for f in target for e in ["", *source]})

    def loss(logits):
        weights = dict(zip(entries, np.exp(logits), strict=True))
        sums = defaultdict(float)
        for (_, e), weight in weights.items():
            sums[e] += weight
        t = {(f, e or None): weight / sums[e] for (f, e), weight in weights.items()}
        return -_log_likelihood(pairs, t)

    best = optimize.minimize(loss, np.zeros(len(entries)), method="L-BFGS-B")
    _, history = train(pairs, iterations=400)
    assert history[-1] == pytest.approx(-best.fun, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the green lamp = la lampe verte", {(0, 0), (2, 1), (1, 2)}),
        ("a green door = une porte verte", {(0, 0), (2, 1), (1, 2)}),
        # An unknown word: its place, the last.
        ("the zebra lamp = la lampe zébrée", {(0, 0), (2, 1), (2, 2)}),
        # Copies of a word go to the copy nearest to the diagonal.
        ("the lamp the door = la lampe la porte", {(0, 0), (1, 1), (2, 2), (3, 3)}),
    ],
)
def test_toy_corpus_is_understood(text, expected):
    model, _ = train(TOY, iterations=20)
    assert model.align([pair(text)]) == [expected]


def test_a_word_that_stands_everywhere_comes_from_null():
    pairs = [([f"s{n}", f"s{n + 1}"], [f"t{n}", "euh", f"t{n + 1}"]) for n in range(12)]
    model, _ = train(pairs, iterations=20)
    assert model.align([pairs[5]]) == [{(0, 0), (1, 2)}]


@given(sources=st.integers(1, 12), targets=st.integers(1, 12))
def test_unknown_words_lie_on_the_diagonal(sources, targets):
    model, _ = train(TOY, iterations=1)
    (links,) = model.align([(["?"] * sources, ["!"] * targets)])
    assert links == diagonal_links(sources, targets)
    allowed = np.ones((targets, sources), bool)
    assert {(int(i), j) for j, i in enumerate(nearest_to_diagonal(allowed))} == links


def test_nearest_keeps_to_what_is_allowed():
    allowed = np.array([[False, False, True], [True, False, True], [True, True, False]])
    assert nearest_to_diagonal(allowed).tolist() == [2, 2, 1]


def test_empty_sides_have_no_links_and_teach_nothing():
    model, _ = train([*TOY, ([], ["la"]), (["the"], [])], iterations=3)
    same, _ = train(TOY, iterations=3)
    assert model.probabilities == pytest.approx(same.probabilities)
    assert model.align([([], ["la"]), (["the"], []), ([], [])]) == [frozenset()] * 3
    with pytest.raises(ValueError, match="words on both sides"):
        train([([], [])])
