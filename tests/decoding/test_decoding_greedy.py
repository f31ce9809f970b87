"""Greedy search against a plain loop: one word at a time, until the end token or the cap."""

import jax
import numpy as np
import pytest
from flax import nnx
from tiny_decoding import (
    BOS,
    EOS,
    PAD,
    SENTENCES,
    cap_of,
    logits_function,
    padded,
    random_weights,
    settings_of,
    structure,
    teacher_forced,
    tokens_of,
    word_log_probabilities,
)

from seq2seq_bottleneck.decoding.search import make_attention_weights, make_search

SETTINGS = settings_of(cap_factor=1.5)
SEEDS = range(8)


@pytest.fixture(scope="module")
def model():
    return structure()


@pytest.fixture(scope="module")
def search(model):
    return make_search(model[0], SETTINGS)


@pytest.fixture(scope="module")
def outputs(model, search):
    """(weights, output) of several random translators."""
    drawn = [random_weights(model[1], seed) for seed in SEEDS]
    return [(weights, search(weights, *padded())) for weights in drawn]


def plain_greedy(graph, weights, sentence):
    """Tokens, log P and attention weights of one sentence alone."""
    translator = nnx.merge(graph, weights)
    memory = translator.encode(*padded([sentence]))
    states, word, step = translator.decoder.initial(memory), BOS, jax.jit(translator.decoder.step)
    tokens, total, reads = [], 0.0, []
    while word != EOS and len(tokens) < cap_of(sentence, SETTINGS):
        states, logits, read = step(states, jax.numpy.array([word], np.int32), memory)
        log_p = word_log_probabilities(logits[0])
        word = int(log_p.argmax())
        tokens.append(word)
        total += log_p[word]
        reads.append(np.asarray(read[0]))
    return tuple(tokens), total, np.array(reads)


@pytest.mark.slow
def test_greedy_equals_a_plain_loop(model, outputs):
    attention_of = make_attention_weights(model[0])
    for weights, output in outputs[:2]:
        inputs = np.asarray(output.tokens)
        inputs = np.concatenate([np.full_like(inputs[:, :1], BOS), inputs[:, :-1]], axis=1)
        read = np.asarray(attention_of(weights, *padded(), jax.numpy.asarray(inputs)))
        for row, sentence in enumerate(SENTENCES):
            tokens, total, reads = plain_greedy(model[0], weights, sentence)
            assert tokens_of(output, row) == tokens
            np.testing.assert_allclose(output.log_probability[row], total, rtol=1e-5, atol=1e-5)
            found = read[row, : len(tokens), : len(sentence)]
            np.testing.assert_allclose(found, reads, rtol=1e-4, atol=1e-6)


def test_outputs_end_with_the_end_token_or_at_their_own_cap(outputs):
    ended, cut = 0, 0
    for _, output in outputs:
        for row, sentence in enumerate(SENTENCES):
            tokens, cap = tokens_of(output, row), cap_of(sentence, SETTINGS)
            assert 1 <= len(tokens) <= cap
            assert bool(output.finished[row]) == (tokens[-1] == EOS)
            assert bool(output.finished[row]) or len(tokens) == cap
            assert EOS not in tokens[:-1]
            ended, cut = ended + (tokens[-1] == EOS), cut + (tokens[-1] != EOS)
    assert min(ended, cut) > 2  # both happen


def test_neither_padding_nor_the_start_token_is_ever_a_word(model, search):
    """Not even where the model would like nothing better."""
    weights = random_weights(model[1], 0)
    bias = weights["decoder"]["output_bias"]
    bias[...] = bias[...].at[np.array([PAD, BOS])].set(50.0).at[EOS].set(-50.0)
    output = search(weights, *padded())
    for row, sentence in enumerate(SENTENCES):
        tokens = np.asarray(output.tokens)[row]
        cap = cap_of(sentence, SETTINGS)
        assert np.all(tokens[:cap] > EOS)
        assert np.all(tokens[cap:] == PAD)
    assert not np.any(output.finished)


@pytest.mark.slow
def test_log_probability_is_that_of_the_words_under_teacher_forcing(model, outputs):
    logits_of = logits_function(model[0])
    for weights, output in outputs:
        for row, sentence in enumerate(SENTENCES):
            tokens = np.asarray(output.tokens)[row : row + 1]
            length = int(output.lengths[row])
            log_p = teacher_forced(logits_of, weights, sentence, tokens)[0]
            expected = log_p[np.arange(length), tokens[0, :length]].sum()
            np.testing.assert_allclose(output.log_probability[row], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
def test_padding_changes_nothing():
    graph, shapes = structure()
    search = make_search(graph, SETTINGS)
    for seed in SEEDS:
        weights = random_weights(shapes, seed)
        narrow = search(weights, *padded())
        wide = search(weights, *padded(extra=2, garbage=np.random.default_rng(seed)))
        steps = narrow.tokens.shape[1]
        np.testing.assert_array_equal(narrow.tokens, wide.tokens[:, :steps])
        assert not np.any(wide.tokens[:, steps:])
        np.testing.assert_allclose(narrow.log_probability, wide.log_probability, rtol=1e-9)
        np.testing.assert_array_equal(narrow.finished, wide.finished)
