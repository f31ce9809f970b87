"""IBM model 1 against dictionaries written from the equations, scipy's maximum, known corpora."""

from collections import defaultdict
from math import log
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from seq2seq_bottleneck.questions import ibm1
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
SIDE = {"min_size": 1, "max_size": 5}
PAIR = st.tuples(
    st.lists(st.sampled_from("abcd"), **SIDE), st.lists(st.sampled_from("vwxyz"), **SIDE)
)


def by_dictionary(pairs, iterations):
    """t(f | e) and the log-likelihood before each iteration, a dictionary entry at a time."""
    targets = {f for _, target in pairs for f in target}
    t = defaultdict(lambda: 1 / len(targets))
    history = []
    for _ in range(iterations):
        history.append(log_likelihood(pairs, t))
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
    with patch.object(ibm1, "CHUNK_CELLS", cells):
        model, history = train(pairs, iterations=iterations)
    t, likelihoods = by_dictionary(pairs, iterations)
    assert history == pytest.approx(likelihoods)
    assert (np.diff(history) >= -1e-9).all()
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
    assert train(pairs, iterations=400)[1][-1] == pytest.approx(-best.fun, abs=1e-3)


NULL = [([f"s{n}", f"s{n + 1}"], [f"t{n}", "euh", f"t{n + 1}"]) for n in range(12)]


@pytest.mark.parametrize(
    ("corpus", "sentence", "expected"),
    [
        (TOY, pair("the green lamp = la lampe verte"), {(0, 0), (2, 1), (1, 2)}),
        (TOY, pair("a green door = une porte verte"), {(0, 0), (2, 1), (1, 2)}),
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
    model, _ = train([*corpus, ([], ["la"]), (["the"], [])], iterations=20)  # empty: left out
    assert model.align([sentence]) == [expected]


@given(sources=st.integers(1, 30), targets=st.integers(1, 30))
def test_unknown_words_lie_on_the_diagonal(sources, targets):
    model, _ = train(TOY, iterations=1)
    (links,) = model.align([(["?"] * sources, ["!"] * targets)])
    assert links == {((2 * j + 1) * sources // (2 * targets), j) for j in range(targets)}
    assert links == nearest_to_diagonal(np.ones((targets, sources), bool))


def test_nearest_keeps_to_what_is_allowed():
    allowed = np.array([[False, False, True], [True, False, True], [True, True, False]])
    assert nearest_to_diagonal(allowed) == {(2, 0), (2, 1), (1, 2)}


def test_a_text_without_words_on_both_sides_is_an_error():
    with pytest.raises(ValueError, match="words on both sides"):
        train([([], [])])
