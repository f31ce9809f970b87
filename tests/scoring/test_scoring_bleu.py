"""Sums of our rows give sacreBLEU's BLEU; chrF is sacreBLEU's."""

import re
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
    precisions,
)
from seq2seq_bottleneck.scoring.bootstrap import ratio_of_sums
from seq2seq_bottleneck.settings.errors import UserError

WORDS = ["le", "Le", "chat", "l'homme", "dort,", "noir.", "3.5", "«été»", "&amp;", "-", "ab"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(max_size=12)
CORPUS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(corpus=CORPUS, data=st.data())
def test_any_resample_equals_sacrebleu(corpus, data):
    ids = data.draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=20))
    hypotheses, references = (list(side) for side in zip(*corpus, strict=True))
    sums = bleu_statistics(hypotheses, references)[ids].sum(axis=0)
    theirs = BLEU()
    expected = theirs.corpus_score([hypotheses[i] for i in ids], [[references[i] for i in ids]])
    assume(expected.ref_len > 0)
    assert bleu(sums) == pytest.approx(expected.score, abs=1e-9)
    assert bleu_signature() == str(theirs.get_signature())
    assert brevity_penalty(sums) == pytest.approx(expected.bp, abs=1e-12)
    assert precisions(sums) == pytest.approx(expected.precisions, abs=1e-9)
    assert ratio_of_sums(sums[..., :2]) == pytest.approx(expected.ratio, abs=1e-12)


def test_nothing_to_score_is_nan_without_warnings():
    none = bleu_statistics([], [])
    assert len(none) == 0
    assert bleu(none).shape == (0,)
    for sums in (none.sum(axis=0), bleu_statistics(["le chat"], [""]).sum(axis=0)):
        assert np.isnan(bleu(sums))
    assert np.isnan(chrf([], []))
    assert np.isnan(chrf(["le chat"], [" "]))


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
    assert np.nan_to_num(chrf(hypotheses, *references)) == expected


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
