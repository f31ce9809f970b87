"""Beam search: width 1 is greedy, a width that holds everything is exhaustive."""

import jax
import numpy as np
import pytest
from flax import nnx
from tiny_decoding import (
    BOS,
    EOS,
    SENTENCES,
    all_outputs,
    cap_of,
    logits_function,
    padded,
    random_weights,
    settings_of,
    structure,
    tokens_of,
)

from seq2seq_bottleneck.decoding.beam import beam_search
from seq2seq_bottleneck.decoding.search import make_search

EVERYTHING = 40  # more than the 31 outputs of two words and the end token within a cap of 4


def compiled_beam(graph, settings):
    """weights, source, lengths -> output of a beam of any width, 1 included."""
    return jax.jit(lambda weights, *batch: beam_search(nnx.merge(graph, weights), *batch, settings))


@pytest.mark.slow
def test_width_one_is_greedy():
    graph, shapes = structure(attention="additive", cell="lstm")
    settings = settings_of(beam_size=1, cap_factor=2.0)
    beam, greedy = compiled_beam(graph, settings), make_search(graph, settings)
    lengths = set()
    for seed in range(25):
        weights = random_weights(shapes, seed)
        one, other = beam(weights, *padded()), greedy(weights, *padded())
        np.testing.assert_array_equal(one.tokens, other.tokens)
        np.testing.assert_array_equal(one.lengths, other.lengths)
        np.testing.assert_array_equal(one.finished, other.finished)
        np.testing.assert_allclose(one.log_probability, other.log_probability, rtol=1e-5)
        lengths.update(np.asarray(one.lengths).tolist())
    assert len(lengths) > 3


@pytest.fixture(scope="module")
def small():
    """Two words and the end token on the target side."""
    graph, shapes = structure(words=5)
    return graph, shapes, logits_function(graph)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_wide_beam_finds_the_best_of_all_outputs(small, penalty):
    graph, shapes, logits_of = small
    settings = settings_of(beam_size=EVERYTHING, cap_extra=1, length_penalty=penalty)
    search, winners = make_search(graph, settings), []
    for seed in range(12):
        weights = random_weights(shapes, seed, spread=1.0)
        output = search(weights, *padded())
        for row, sentence in enumerate(SENTENCES):
            every = all_outputs(logits_of, weights, sentence, cap_of(sentence, settings), 5)
            best = max(every, key=lambda tokens: every[tokens] / len(tokens) ** penalty)
            assert tokens_of(output, row) == best
            np.testing.assert_allclose(
                output.log_probability[row], every[best], rtol=1e-4, atol=1e-5
            )
            assert bool(output.finished[row]) == (best[-1] == EOS)
            winners.append(best)
    assert len({len(best) for best in winners}) > 1
    assert {best[-1] == EOS for best in winners} == {True, False}


def plain_beam(scores_of, size, cap, penalty):
    """The search in lists: ended outputs keep their place, the rest compete."""
    live, ended = [((), 0.0)], []
    for place in range(cap):
        grown = [
            ((*tokens, word), total + gained)
            for tokens, total in live
            for word, gained in enumerate(scores_of(tokens))
            if word > BOS
        ]
        grown.sort(key=lambda beam: -beam[1])
        kept = grown[: size - len(ended)]
        over = place + 1 == cap
        ended += [beam for beam in kept if over or beam[0][-1] == EOS]
        live = [beam for beam in kept if not over and beam[0][-1] != EOS]
    return max(ended, key=lambda beam: beam[1] / len(beam[0]) ** penalty)


def scores_after(every, words):
    """log P of each next word after some words, from the log P of all outputs."""

    def prefix(tokens):
        if tokens in every:
            return every[tokens]
        totals = [total for full, total in every.items() if full[: len(tokens)] == tokens]
        return np.logaddexp.reduce(totals)

    def of(tokens):
        before = prefix(tokens) if tokens else 0.0
        allowed = [prefix((*tokens, word)) - before for word in range(EOS, words)]
        return [-np.inf, -np.inf, *allowed]

    return of


@pytest.mark.slow
def test_a_narrow_beam_equals_the_search_in_lists():
    graph, shapes = structure()
    logits_of = logits_function(graph)
    settings = settings_of(beam_size=2, cap_extra=1)
    search, misses = make_search(graph, settings), 0
    for seed in range(12):
        weights = random_weights(shapes, seed, spread=1.5)
        output = search(weights, *padded())
        for row, sentence in enumerate(SENTENCES):
            cap = cap_of(sentence, settings)
            every = all_outputs(logits_of, weights, sentence, cap, 6)
            tokens, total = plain_beam(scores_after(every, 6), 2, cap, 1.0)
            assert tokens_of(output, row) == tokens
            np.testing.assert_allclose(output.log_probability[row], total, rtol=1e-4, atol=1e-5)
            best = max(total / len(tokens) for tokens, total in every.items())
            misses += total / len(tokens) < best - 1e-4
    assert misses > 0  # else its width would make no difference here
