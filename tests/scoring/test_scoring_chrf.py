"""Sums of our character counts give sacreBLEU's own chrF."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from seq2seq_bottleneck.scoring.chrf import (
    chrf,
    chrf_signature,
    chrf_statistics,
    condensed,
    expanded,
)

WORDS = ["le", "Le", "chat", "l'homme", "dort,", "été", "ab"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.text(max_size=8)
CORPUS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=10)


def _score(hypotheses, references, lowercase=False):
    return CHRF(lowercase=lowercase).corpus_score(hypotheses, [references]).score


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(corpus=CORPUS, lowercase=st.booleans(), data=st.data())
def test_any_resample_equals_sacrebleu(corpus, lowercase, data):
    ids = data.draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=20))
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    assume(any(references[i].split() for i in ids))
    rows = chrf_statistics(hypotheses, references, lowercase=lowercase)
    theirs = _score([hypotheses[i] for i in ids], [references[i] for i in ids], lowercase)
    assert chrf(rows[ids].sum(axis=0)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [("", "le chat"), ("a", "b"), ("abcdefgh", "ab"), ("ab", "abcdefgh"), ("le", "le")],
)
def test_short_and_empty_texts_equal_sacrebleu(hypothesis, reference):
    ours = chrf(chrf_statistics([hypothesis], [reference]).sum(axis=0))
    assert ours == pytest.approx(sacrebleu.corpus_chrf([hypothesis], [[reference]]).score, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(corpus=CORPUS)
def test_what_was_left_out_of_the_counts_follows_from_the_rest(corpus):
    rows = chrf_statistics(*(list(side) for side in zip(*corpus, strict=True)))
    short = condensed(rows)
    assert short.shape == (len(rows), 8)
    assert np.array_equal(expanded(short), rows)


def test_nothing_to_score_is_nan_without_warnings():
    none = chrf_statistics([], [])
    assert none.shape == (0, 18)
    assert np.isnan(chrf(none.sum(axis=0)))
    assert np.isnan(chrf(chrf_statistics(["le chat"], [""]).sum(axis=0)))


@pytest.mark.parametrize("lowercase", [False, True])
def test_signature_is_the_one_sacrebleu_gives_after_scoring(lowercase):
    metric = CHRF(lowercase=lowercase)
    metric.corpus_score(["le chat"], [["le chat"]])
    assert chrf_signature(lowercase=lowercase) == str(metric.get_signature())
