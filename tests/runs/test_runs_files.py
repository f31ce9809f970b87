"""What a run writes, read back."""

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.tokens import prepare_source
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.csvtext import csv_text
from seq2seq_bottleneck.runs.weights import read_weights, save_weights
from seq2seq_bottleneck.settings.concerns import CorpusSettings, ModelSettings


@pytest.mark.slow
def test_weights_come_back_the_same(tmp_path):
    settings = ModelSettings(embedding_size=5, context_size=6, hidden_size=7, bidirectional=True)
    _, weights = create(settings, 11, 13, seed=1)
    _, other = create(settings, 11, 13, seed=2)
    save_weights(tmp_path / "w.safetensors", weights)
    back = read_weights((tmp_path / "w.safetensors").read_bytes(), other)
    pairs = list(zip(jax.tree.leaves(weights), jax.tree.leaves(back), strict=True))
    assert all(np.array_equal(one, two) for one, two in pairs)
    unlike = zip(jax.tree.leaves(other), jax.tree.leaves(back), strict=True)
    assert not all(np.array_equal(one, two) for one, two in unlike)


def test_csv_keeps_every_digit_and_leaves_blanks():
    values = [0.1 + 0.2, float("nan"), None]
    assert csv_text({"a": values, "b": [np.int64(3), True, "x,y"]}) == (
        'a,b\n0.30000000000000004,3\n,True\n,"x,y"\n'
    )


def test_csv_has_the_shortest_digits_of_single_precision():
    held = np.array([2.7804298400878906, 1 / 3, np.nan], np.float32)
    lines = csv_text({"a": held}).splitlines()
    assert lines == ["a", "2.7804298", "0.33333334", '""']
    assert np.array_equal(np.array(lines[1:3], np.float32), held[:2])


@pytest.mark.parametrize(
    ("corpus", "given", "wanted"),
    [
        (CorpusSettings(), "  The  black CAT sat. ", "the black cat sat"),
        (CorpusSettings(name="copy"), "w1 W2.", "w1 W2."),
        (CorpusSettings(name="files", source="a", lowercase=True), "Cafe\u0301 !", "café !"),
    ],
)
def test_a_users_sentence_is_put_into_the_corpus_form(corpus, given, wanted):
    assert prepare_source(given, corpus) == wanted
