"""Searches against plain loops: greedy, a beam of width 1, a narrow one, one that holds all."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny import BOS, EOS, PAD, random_translator, random_weights, rows
from tiny import settings_of as model_of

from seq2seq_bottleneck.decoding.search import (
    beam_search,
    caps,
    greedy,
    make_attention_weights,
    make_search,
)
from seq2seq_bottleneck.settings.concerns import DecodingSettings

SENTENCES = ([4, 3, 5, 2], [5, 2], [3, 3, 2])
SOURCE = rows(SENTENCES)
SEEDS = range(8)


def structure(words=6, **changes):
    """A graph and weights so large that outputs differ from one sentence to the next."""
    settings = model_of(**{"attention": "general", "cell": "gru", **changes})
    return random_translator(settings, 0, words, 1.5)


def settings_of(**changes):
    """Caps of one word per source word and two more, unless changed."""
    return DecodingSettings(**{"cap_factor": 1.0, "cap_extra": 2, **changes})


SETTINGS = settings_of(cap_factor=1.5)


def rows_of(output, settings):
    """Of each sentence its row, itself, its output's tokens without padding, and their cap.

    The source's end token is no word.
    """
    for row, sentence in enumerate(SENTENCES):
        tokens = tuple(np.asarray(output.tokens)[row, : int(output.lengths[row])].tolist())
        cap = math.ceil(settings.cap_factor * (len(sentence) - 1)) + settings.cap_extra
        yield row, sentence, tokens, cap


def log_probabilities(logits):
    """log P of each word, padding and start token excluded."""
    logits = np.array(logits, np.float64)
    logits[..., [PAD, BOS]] = -np.inf
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def logits_function(graph):
    """weights, source, lengths, inputs -> logits and attention weights."""
    return jax.jit(lambda weights, *batch: nnx.merge(graph, weights).logits(*batch))


def scores_of(logits_of, weights, sentence, outputs):
    """log P of each word of each output of one sentence under teacher forcing."""
    outputs = np.array(outputs, np.int32)
    source, lengths = rows([sentence] * len(outputs))
    inputs = np.concatenate([np.full_like(outputs[:, :1], BOS), outputs[:, :-1]], axis=1)
    log_p = log_probabilities(logits_of(weights, source, lengths, inputs)[0])
    return np.take_along_axis(log_p, outputs[:, :, None], axis=2)[:, :, 0]


def all_outputs(logits_of, weights, sentence, most, words):
    """(tokens, log P) of every output: ended at most at the cap, or cut there unended."""
    outputs = list(itertools.product(range(EOS, words), repeat=most))
    every = {}
    gains = scores_of(logits_of, weights, sentence, outputs)
    for row, gained in zip(outputs, gains, strict=True):
        length = row.index(EOS) + 1 if EOS in row else most
        every[row[:length]] = gained[:length].sum()
    return every


# Greedy search.


@pytest.fixture(scope="module")
def model():
    return structure()


@pytest.fixture(scope="module")
def outputs(model):
    """(weights, output) of several random translators."""
    search = make_search(model[0], SETTINGS)
    drawn = [random_weights(model[1], seed, 1.5) for seed in SEEDS]
    return [(weights, search(weights, *SOURCE)) for weights in drawn]


def plain_greedy(graph, weights, sentence, cap):
    """Tokens, log P and attention weights of one sentence alone."""
    translator = nnx.merge(graph, weights)
    memory = translator.encode(*rows([sentence]))
    states, word, step = translator.decoder.initial(memory), BOS, jax.jit(translator.decoder.step)
    tokens, total, reads = [], 0.0, []
    while word != EOS and len(tokens) < cap:
        states, logits, read = step(states, jnp.array([word], np.int32), memory)
        log_p = log_probabilities(logits[0])
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
        read = np.asarray(attention_of(weights, *SOURCE, jnp.asarray(inputs)))
        for row, sentence, tokens, cap in rows_of(output, SETTINGS):
            expected, total, reads = plain_greedy(model[0], weights, sentence, cap)
            assert tokens == expected
            np.testing.assert_allclose(output.log_probability[row], total, rtol=1e-5, atol=1e-5)
            weights_of_row = read[row, : len(tokens), : len(sentence)]
            np.testing.assert_allclose(weights_of_row, reads, rtol=1e-4, atol=1e-6)


def test_outputs_end_with_the_end_token_or_at_their_cap_with_the_score_of_their_words(
    model, outputs
):
    logits_of, ended = logits_function(model[0]), []
    for weights, output in outputs:
        for row, sentence, tokens, cap in rows_of(output, SETTINGS):
            assert 1 <= len(tokens) <= cap
            assert bool(output.finished[row]) == (tokens[-1] == EOS)
            assert bool(output.finished[row]) or len(tokens) == cap
            assert EOS not in tokens[:-1]
            total = scores_of(logits_of, weights, sentence, [tokens]).sum()
            np.testing.assert_allclose(output.log_probability[row], total, rtol=1e-4, atol=1e-5)
            ended.append(tokens[-1] == EOS)
    assert 0 < sum(ended) < len(ended)  # both happen


# Of greedy search and of beams alike.


@pytest.mark.parametrize("size", [1, 3])
def test_neither_padding_nor_the_start_token_is_ever_a_word(model, size):
    """Not even where the model would like nothing better."""
    weights = random_weights(model[1], 0, 1.5)
    bias = weights["decoder"]["output_bias"]
    bias[...] = bias[...].at[np.array([PAD, BOS])].set(50.0).at[EOS].set(-50.0)
    settings = settings_of(beam_size=size)
    output = make_search(model[0], settings)(weights, *SOURCE)
    for row, _, tokens, cap in rows_of(output, settings):
        assert len(tokens) == cap
        assert min(tokens) > EOS
        assert np.all(output.tokens[row, cap:] == PAD)
    assert not np.any(output.finished)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("size", [1, 3])
def test_padding_changes_nothing(size):
    graph, shapes = structure()  # in double precision
    search = make_search(graph, settings_of(beam_size=size, cap_factor=1.5))
    for seed in SEEDS:
        weights = random_weights(shapes, seed, 1.5)
        narrow = search(weights, *rows(SENTENCES))
        wide = search(weights, *rows(SENTENCES, extra=2, garbage=np.random.default_rng(seed)))
        steps = narrow.tokens.shape[1]
        np.testing.assert_array_equal(narrow.tokens, wide.tokens[:, :steps])
        assert not np.any(wide.tokens[:, steps:])
        np.testing.assert_allclose(narrow.log_probability, wide.log_probability, rtol=1e-9)
        np.testing.assert_array_equal(narrow.finished, wide.finished)


def test_the_cap_is_a_multiple_of_the_words_rounded_up_and_some_more():
    limits = caps(8, settings_of(cap_factor=1.5, cap_extra=3))
    assert limits == [3, 3, 5, 6, 8, 9, 11, 12, 14]
    # No cap is wider than a batch of its own length; else its width, padding, would cut the output.
    for factor in (0.3, 0.7, 1.0, 1.1, 1.35, 2.0, 2.3):
        limits = caps(119, settings_of(cap_factor=factor))
        assert limits == sorted(limits)


@pytest.mark.slow
@pytest.mark.parametrize("method", [greedy, beam_search])
def test_a_cap_of_nothing_leaves_nothing(model, method):
    """A sentence without words, in a batch with one that has some."""
    graph, weights = model[0], random_weights(model[1], 0, 1.5)
    weights["decoder"]["output_bias"][...] = weights["decoder"]["output_bias"][...].at[EOS].set(-50)
    settings = settings_of(cap_extra=0, beam_size=1 if method is greedy else 2)
    output = jax.jit(lambda weights, *batch: method(nnx.merge(graph, weights), *batch, settings))(
        weights, *rows([[EOS], [4, 5, EOS]])
    )
    np.testing.assert_array_equal(output.lengths, [0, 2])
    assert float(output.log_probability[0]) == 0.0


# Beams.


@pytest.mark.slow
def test_width_one_is_greedy():
    graph, shapes = structure(attention="additive", cell="lstm")
    settings = settings_of(beam_size=1, cap_factor=2.0)
    search, lengths = make_search(graph, settings), set()
    beam = jax.jit(lambda weights, *batch: beam_search(nnx.merge(graph, weights), *batch, settings))
    for seed in range(25):
        weights = random_weights(shapes, seed, 1.5)
        one, other = beam(weights, *SOURCE), search(weights, *SOURCE)
        np.testing.assert_array_equal(one.tokens, other.tokens)
        np.testing.assert_array_equal(one.lengths, other.lengths)
        np.testing.assert_array_equal(one.finished, other.finished)
        np.testing.assert_allclose(one.log_probability, other.log_probability, rtol=1e-5)
        lengths.update(np.asarray(one.lengths).tolist())
    assert len(lengths) > 3


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_wide_beam_finds_the_best_of_all_outputs(penalty):
    """Wider than the 31 outputs of two words and the end token within a cap of 4."""
    graph, shapes = structure(words=5)
    settings = settings_of(beam_size=40, cap_extra=1, length_penalty=penalty)
    logits_of, search, winners = logits_function(graph), make_search(graph, settings), []
    for seed in range(12):
        weights = random_weights(shapes, seed, 1.0)
        output = search(weights, *SOURCE)
        for row, sentence, tokens, cap in rows_of(output, settings):
            every = all_outputs(logits_of, weights, sentence, cap, 5)
            best = max(every, key=lambda tokens: every[tokens] / len(tokens) ** penalty)
            assert tokens == best
            score = output.log_probability[row]
            np.testing.assert_allclose(score, every[best], rtol=1e-4, atol=1e-5)
            assert bool(output.finished[row]) == (best[-1] == EOS)
            winners.append(best)
    assert len({len(best) for best in winners}) > 1
    assert {best[-1] == EOS for best in winners} == {True, False}


def plain_beam(every, words, size, most):
    """The search in lists: ended outputs keep their place, the rest compete."""

    def score(tokens):
        """log P of the outputs that begin with these."""
        totals = [total for full, total in every.items() if full[: len(tokens)] == tokens]
        return np.logaddexp.reduce(totals)

    live, ended = [()], []
    for place in range(most):
        grown = [(*tokens, word) for tokens in live for word in range(EOS, words)]
        kept = sorted(grown, key=score, reverse=True)[: size - len(ended)]
        live = [] if place + 1 == most else [beam for beam in kept if beam[-1] != EOS]
        ended += [beam for beam in kept if beam not in live]
    best = max(ended, key=lambda tokens: score(tokens) / len(tokens))
    return best, score(best)


@pytest.mark.slow
def test_a_narrow_beam_equals_the_search_in_lists():
    graph, shapes = structure()
    logits_of = logits_function(graph)
    settings = settings_of(beam_size=2, cap_extra=1)
    search, misses = make_search(graph, settings), 0
    for seed in range(12):
        weights = random_weights(shapes, seed, 1.5)
        output = search(weights, *SOURCE)
        for row, sentence, tokens, cap in rows_of(output, settings):
            every = all_outputs(logits_of, weights, sentence, cap, 6)
            expected, total = plain_beam(every, 6, 2, cap)
            assert tokens == expected
            np.testing.assert_allclose(output.log_probability[row], total, rtol=1e-4, atol=1e-5)
            best = max(total / len(tokens) for tokens, total in every.items())
            misses += total / len(tokens) < best - 1e-4
    assert misses > 0  # else its width would make no difference here
