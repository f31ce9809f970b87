"""Sums of our rows give sacreBLEU's own scores."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from seq2seq_bottleneck.scoring.bleu import (
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    length_ratio,
    precisions,
)

WORDS = ["le", "Le", "chat", "l'homme", "dort,", "noir.", "3.5", "«été»", "&amp;", "-"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=12)
CORPUS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=12)


def _score(hypotheses, references, lowercase=False):
    return sacrebleu.corpus_bleu(hypotheses, [references], lowercase=lowercase, force=True)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(corpus=CORPUS, lowercase=st.booleans(), data=st.data())
def test_any_resample_equals_sacrebleu(corpus, lowercase, data):
    ids = data.draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=20))
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    rows = bleu_statistics(hypotheses, references, lowercase=lowercase)
    sums = rows[ids].sum(axis=0)
    theirs = _score([hypotheses[i] for i in ids], [references[i] for i in ids], lowercase)
    assume(theirs.ref_len > 0)
    assert bleu(sums) == pytest.approx(theirs.score, abs=1e-9)
    assert brevity_penalty(sums) == pytest.approx(theirs.bp, abs=1e-12)
    assert precisions(sums) == pytest.approx(theirs.precisions, abs=1e-9)
    assert length_ratio(sums) == pytest.approx(theirs.ratio, abs=1e-12)


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ([""], ["le chat"]),
        (["", "le chat dort bien ici"], ["le chat", "le chat dort bien là"]),
        (["le"], ["le"]),
        (["le chat dort"], ["le chat dort"]),
        (["je t'aime", "bonjour"], ["je t'aime", "bonjour"]),
        (["un deux trois quatre"], ["cinq six sept huit"]),
        (["un deux trois quatre"], ["un six sept huit"]),
        (["a b c d e f g h"], ["a b"]),
    ],
)
def test_short_empty_and_unmatched_sentences_equal_sacrebleu(hypotheses, references):
    sums = bleu_statistics(hypotheses, references).sum(axis=0)
    assert bleu(sums) == pytest.approx(_score(hypotheses, references).score, abs=1e-9)


def test_perfect_sentences_without_a_four_token_run_score_zero():
    assert bleu(bleu_statistics(["le chat dort"], ["le chat dort"]).sum(axis=0)) == 0.0


def test_nothing_to_score_is_nan_without_warnings():
    none = bleu_statistics([], [])
    assert none.shape == (0, 10)
    for measure in (bleu, brevity_penalty, length_ratio):
        assert np.isnan(measure(none.sum(axis=0)))
    assert bleu(np.zeros((0, 10), dtype=np.int64)).shape == (0,)
    assert np.isnan(bleu(bleu_statistics(["le chat"], [""]).sum(axis=0)))


def test_scores_keep_leading_axes():
    rows = bleu_statistics(["le chat noir dort bien", "le"], ["le chat noir dort mal", "la"])
    grid = np.stack([rows, rows[::-1]])
    assert bleu(grid).shape == (2, 2)
    assert bleu(grid)[1, 0] == bleu(rows[1])
    assert precisions(grid).shape == (2, 2, 4)


def test_sides_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        bleu_statistics(["le"], [])


@pytest.mark.parametrize("lowercase", [False, True])
def test_signature_is_the_one_sacrebleu_gives_after_scoring(lowercase):
    metric = BLEU(lowercase=lowercase)
    metric.corpus_score(["le chat"], [["le chat"]])
    assert bleu_signature(lowercase=lowercase) == str(metric.get_signature())
    assert f"case:{'lc' if lowercase else 'mixed'}|eff:no" in bleu_signature(lowercase=lowercase)
