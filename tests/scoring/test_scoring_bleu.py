"""Sums of our rows give sacreBLEU's own scores: BLEU of tokens, chrF of characters."""

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from seq2seq_bottleneck.scoring.bleu import (
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    chrf,
    chrf_signature,
    chrf_statistics,
    expanded,
    precisions,
)
from seq2seq_bottleneck.scoring.bootstrap import ratio_of_sums
from seq2seq_bottleneck.settings.errors import UserError

WORDS = ["le", "Le", "chat", "l'homme", "dort,", "noir.", "3.5", "«été»", "&amp;", "-", "ab"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=12)
CORPUS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=12)


class Metric(NamedTuple):
    """Our functions, and sacreBLEU's metric."""

    count: Callable
    score: Callable
    signature: str
    theirs: type


METRICS = pytest.mark.parametrize(
    "metric",
    [
        Metric(bleu_statistics, bleu, bleu_signature(), BLEU),
        Metric(lambda *texts: expanded(chrf_statistics(*texts)), chrf, chrf_signature(), CHRF),
    ],
    ids=["bleu", "chrf"],
)


@pytest.mark.slow
@METRICS
@settings(max_examples=150, deadline=None)
@given(corpus=CORPUS, data=st.data())
def test_any_resample_equals_sacrebleu(metric, corpus, data):
    ids = data.draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=20))
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    assume(any(references[i].split() for i in ids))
    sums = metric.count(hypotheses, references)[ids].sum(axis=0)
    theirs = metric.theirs()
    expected = theirs.corpus_score([hypotheses[i] for i in ids], [[references[i] for i in ids]])
    assume(metric.theirs is CHRF or expected.ref_len > 0)
    assert metric.score(sums) == pytest.approx(expected.score, abs=1e-9)
    assert metric.signature == str(theirs.get_signature())
    if metric.theirs is BLEU:
        assert brevity_penalty(sums) == pytest.approx(expected.bp, abs=1e-12)
        assert precisions(sums) == pytest.approx(expected.precisions, abs=1e-9)
        assert ratio_of_sums(sums[..., :2]) == pytest.approx(expected.ratio, abs=1e-12)


@METRICS
def test_nothing_to_score_is_nan_without_warnings(metric):
    none = metric.count([], [])
    assert len(none) == 0
    assert metric.score(none).shape == (0,)
    for sums in (none.sum(axis=0), metric.count(["le chat"], [""]).sum(axis=0)):
        assert np.isnan(metric.score(sums))


NAMES = ("13a", "intl", "zh", "char", "none")
SPACELESS = st.text("我们有猫。, a1ก็", max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(*[SENTENCE | SPACELESS] * 4), min_size=1, max_size=6),
    name=st.sampled_from(NAMES),
    count=st.integers(1, 3),
)
def test_several_references_and_any_tokenizer_equal_sacrebleu(rows, name, count):
    hypotheses, *references = (list(side) for side in zip(*rows, strict=True))
    references = references[:count]
    sums = bleu_statistics(hypotheses, *references, tokenize=name).sum(axis=0)
    theirs = BLEU(tokenize=name)
    expected = theirs.corpus_score(hypotheses, references)
    lengths = (expected.sys_len, expected.ref_len)
    assert sums.tolist() == [*lengths, *expected.counts, *expected.totals]
    assert bleu_signature(name, count) == str(theirs.get_signature())
    theirs = CHRF()
    expected = theirs.corpus_score(hypotheses, references).score
    ours = chrf(expanded(chrf_statistics(hypotheses, *references)).sum(axis=0))
    assert np.nan_to_num(ours) == pytest.approx(expected, abs=1e-9)
    assert chrf_signature(count) == str(theirs.get_signature())


def test_what_a_tokenizer_lacks_is_one_line_with_the_way_out(tmp_path, monkeypatch):
    def offline(*_):
        raise URLError("no network")

    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ja_mecab.MeCab", None)
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", offline)
    for name, way in {
        "ja-mecab": "pip install sacrebleu[ja]",
        "flores200": "cannot be used: <urlopen error no network>",
    }.items():
        with pytest.raises(UserError, match=re.escape(way)):
            bleu_statistics([], [], tokenize=name)
