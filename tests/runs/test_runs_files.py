"""What a run writes, read back."""

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.tokens import prepare_source
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.network_files import read_weights, save_weights
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
