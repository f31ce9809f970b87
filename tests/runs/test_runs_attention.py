"""Weights behind given outputs, against a decoder walked by hand, and translations with theirs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from seq2seq_bottleneck.corpus.batches import EncodedPairs
from seq2seq_bottleneck.corpus.vocabulary import Vocabulary
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.attention import END, attention_matrices, translate_attended
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.symbols import BOS, EOS

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
WORDS = 9


def _trained(seed=3, **model):
    """A translator with random weights, so large that its weights differ from word to word."""
    sizes = {"embedding_size": 4, "context_size": 5, "attention": "additive"}
    settings = resolve("smoke").changed(model=sizes | model, corpus={"name": "copy"})
    graph, weights = create(settings.model, WORDS, WORDS, 1)
    random = np.random.default_rng(seed)
    weights = jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(0.0, 1.5, leaf.shape), leaf.dtype), weights
    )
    words = Vocabulary((*SPECIAL, *(f"w{place}" for place in range(WORDS - len(SPECIAL)))))
    return TrainedRun(settings, words, words, graph, weights)


def _walked(trained, source, target):
    """The weights of each step of the decoder, one word after the other, without padding."""
    translator = nnx.merge(trained.graph, trained.weights)
    memory = translator.encode(jnp.array([source]), jnp.array([len(source)]))
    states, rows = translator.decoder.initial(memory), []
    for word in [BOS, *target[:-1]]:
        states, _, weights = translator.decoder.step(states, jnp.array([word]), memory)
        rows.append(np.asarray(weights[0]))
    return np.stack(rows)


@pytest.mark.parametrize(
    "model",
    [
        {"placement": "input"},
        {"placement": "output", "attention": "general"},
        {"placement": "output", "reverse_source": True},
    ],
)
def test_row_t_is_what_target_token_t_was_chosen_with(model):
    trained = _trained(**model)
    reverse = trained.settings.model.reverse_source
    sources = [[5, 4, 7, EOS], [6, EOS], [8, 8, 4, 5, 6, 7, 4, EOS]]
    targets = [[4, 6, EOS], [7, 8, 4, 5, EOS], [EOS]]
    encoded = EncodedPairs(sources, targets)
    found = attention_matrices(trained.graph, trained.weights, encoded, reverse, 2)
    for matrix, source, target in zip(found, sources, targets, strict=True):
        expected = _walked(trained, source, target)
        if reverse:
            places = [*reversed(range(len(source) - 1)), len(source) - 1]
            expected = expected[:, places]
        assert matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_comes_with_the_weights_behind_it(beam):
    trained = _trained()
    decoding = trained.settings.decoding.model_copy(update={"beam_size": beam})
    settings = trained.settings.changed(decoding={"beam_size": beam})
    run = TrainedRun(settings, *(trained.source_vocabulary,) * 2, trained.graph, trained.weights)
    sentence = "w1 w0 w3 w9"
    found = translate_attended(run, sentence, decoding)
    assert found.source == ["w1", "w0", "w3", "w9", END]
    words = [word for word in found.output if word != END]
    assert " ".join(words) == run.translate([sentence])[0]
    assert found.weights.shape == (len(found.output), len(found.source))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-5)
    ids = [*trained.target_vocabulary.encode(words), EOS]
    walked = _walked(trained, [5, 4, 7, 3, EOS], ids)[: len(found.output)]
    np.testing.assert_allclose(found.weights, walked, rtol=1e-4, atol=1e-6)


def test_an_output_that_was_cut_has_no_row_for_an_end():
    trained = _trained()
    barred = trained.weights
    bias = barred["decoder"]["output_bias"]
    bias[...] = bias[...].at[EOS].set(-1e9)
    found = translate_attended(trained, "w1 w0", trained.settings.decoding)
    assert END not in found.output
    assert len(found.weights) == len(found.output) > 2
