"""Greedy search against a plain loop; caps, padding and symbols in any search."""

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

from seq2seq_bottleneck.decoding.beam import beam_search
from seq2seq_bottleneck.decoding.greedy import cap, caps, count_tokens, greedy, has_ended
from seq2seq_bottleneck.decoding.search import make_attention_weights, make_search

SETTINGS = settings_of(cap_factor=1.5)
SEEDS = range(8)


@pytest.fixture(scope="module")
def model():
    return structure()


@pytest.fixture(scope="module")
def outputs(model):
    """(weights, output) of several random translators."""
    search = make_search(model[0], SETTINGS)
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
            tokens, most = tokens_of(output, row), cap_of(sentence, SETTINGS)
            assert 1 <= len(tokens) <= most
            assert bool(output.finished[row]) == (tokens[-1] == EOS)
            assert bool(output.finished[row]) or len(tokens) == most
            assert EOS not in tokens[:-1]
            ended, cut = ended + (tokens[-1] == EOS), cut + (tokens[-1] != EOS)
    assert min(ended, cut) > 2  # both happen


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


# Of greedy search and of beams alike.


@pytest.mark.parametrize("size", [1, 3])
def test_neither_padding_nor_the_start_token_is_ever_a_word(model, size):
    """Not even where the model would like nothing better."""
    weights = random_weights(model[1], 0)
    bias = weights["decoder"]["output_bias"]
    bias[...] = bias[...].at[np.array([PAD, BOS])].set(50.0).at[EOS].set(-50.0)
    settings = settings_of(beam_size=size)
    output = make_search(model[0], settings)(weights, *padded())
    for row, sentence in enumerate(SENTENCES):
        tokens, most = np.asarray(output.tokens)[row], cap_of(sentence, settings)
        assert np.all(tokens[:most] > EOS)
        assert np.all(tokens[most:] == PAD)
    assert not np.any(output.finished)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("size", [1, 3])
def test_padding_changes_nothing(size):
    graph, shapes = structure()  # in double precision
    search = make_search(graph, settings_of(beam_size=size, cap_factor=1.5))
    for seed in SEEDS:
        weights = random_weights(shapes, seed)
        narrow = search(weights, *padded())
        wide = search(weights, *padded(extra=2, garbage=np.random.default_rng(seed)))
        steps = narrow.tokens.shape[1]
        np.testing.assert_array_equal(narrow.tokens, wide.tokens[:, :steps])
        assert not np.any(wide.tokens[:, steps:])
        np.testing.assert_allclose(narrow.log_probability, wide.log_probability, rtol=1e-9)
        np.testing.assert_array_equal(narrow.finished, wide.finished)


def test_the_cap_is_a_multiple_of_the_words_rounded_up_and_some_more():
    limits = caps(jax.numpy.array([1, 2, 4, 8]), 8, settings_of(cap_factor=1.5, cap_extra=3))
    np.testing.assert_array_equal(limits, [3, 5, 8, 14])


@pytest.mark.parametrize("factor", [0.3, 0.7, 1.0, 1.1, 1.35, 2.0, 2.3])
def test_no_cap_is_wider_than_a_batch_of_its_own_length(factor):
    """Else the batch's width, that is padding, would cut the output."""
    settings = settings_of(cap_factor=factor)
    lengths = np.arange(1, 120)
    limits = np.asarray(caps(jax.numpy.asarray(lengths), 119, settings))
    widths = np.array([cap(int(length), settings) for length in lengths])
    np.testing.assert_array_equal(np.minimum(limits, widths), limits)


def test_tokens_are_counted_to_the_end_token_or_the_padding():
    tokens = jax.numpy.array([[5, 4, 2, 0, 0], [5, 4, 3, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(count_tokens(tokens), [3, 3, 0])
    np.testing.assert_array_equal(has_ended(tokens), [True, False, False])


@pytest.mark.slow
@pytest.mark.parametrize("method", [greedy, beam_search])
def test_a_cap_of_nothing_leaves_nothing(model, method):
    """A sentence without words, in a batch with one that has some."""
    graph, shapes = model
    weights = random_weights(shapes, 0)
    weights["decoder"]["output_bias"][...] = weights["decoder"]["output_bias"][...].at[EOS].set(-50)
    settings = settings_of(cap_extra=0, beam_size=1 if method is greedy else 2)
    output = jax.jit(lambda weights, *batch: method(nnx.merge(graph, weights), *batch, settings))(
        weights, *padded([[EOS], [4, 5, EOS]])
    )
    np.testing.assert_array_equal(output.lengths, [0, 2])
    assert float(output.log_probability[0]) == 0.0
