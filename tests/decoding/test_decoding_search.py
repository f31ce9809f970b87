"""Searches of every width compared with plain lists; caps; padding."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny import BOS, EOS, PAD, random_translator, random_weights, rows
from tiny import settings_of as model_of

from seq2seq_bottleneck.decoding.search import caps, make_search
from seq2seq_bottleneck.settings.concerns import DecodingSettings

WORDS = 6
SENTENCES = ([4, 3, 5, 2], [5, 2], [3, 3, 2])


def structure():
    """A graph and weights so large that outputs differ from one sentence to the next."""
    return random_translator(model_of(attention="general", cell="gru"), 0, WORDS, 1.5)


def settings_of(**changes):
    """Caps of one word per source word and one more, unless changed."""
    return DecodingSettings(**{"cap_factor": 1.0, "cap_extra": 1, **changes})


def rows_of(output, settings):
    """Each sentence, its output's tokens without padding, and their cap.

    The source's end token does not count as a word.
    """
    for sentence, row, length in zip(SENTENCES, *map(np.asarray, output), strict=True):
        tokens = tuple(row[:length].tolist())
        cap = math.ceil(settings.cap_factor * (len(sentence) - 1)) + settings.cap_extra
        yield sentence, tokens, cap


def all_outputs(logits_of, weights, sentence, cap):
    """log P of every output by its tokens: ended at most at the cap, or cut there."""
    outputs = np.array(list(itertools.product(range(EOS, WORDS), repeat=cap)), np.int32)
    inputs = np.concatenate([np.full_like(outputs[:, :1], BOS), outputs[:, :-1]], axis=1)
    logits = logits_of(weights, *rows([sentence] * len(outputs)), jnp.asarray(inputs))
    log_p = np.asarray(jax.nn.log_softmax(logits.at[..., jnp.array([PAD, BOS])].set(-jnp.inf)))
    gains = np.take_along_axis(log_p, outputs[:, :, None], axis=2)[:, :, 0]
    every = {}
    for row, gained in zip(outputs.tolist(), gains, strict=True):
        length = row.index(EOS) + 1 if EOS in row else cap
        every[tuple(row[:length])] = gained[:length].sum()
    return every


def plain_beam(every, size, cap):
    """The search in lists: ended outputs keep their place, the rest compete."""

    def score(tokens):
        """log P of the outputs that begin with these."""
        totals = [total for full, total in every.items() if full[: len(tokens)] == tokens]
        return np.logaddexp.reduce(totals)

    live, ended = [()], []
    for place in range(cap):
        grown = [(*tokens, word) for tokens in live for word in range(EOS, WORDS)]
        kept = sorted(grown, key=score, reverse=True)[: size - len(ended)]
        live = [] if place + 1 == cap else [beam for beam in kept if beam[-1] != EOS]
        ended += [beam for beam in kept if beam not in live]
    best = max(ended, key=lambda tokens: score(tokens) / len(tokens))
    return best, score(best)


@pytest.mark.parametrize(("size", "spread"), [(1, 1.0), (2, 1.5)])
def test_a_search_finds_what_the_search_in_lists_finds(size, spread):
    graph, shapes = structure()
    logits_of = jax.jit(lambda weights, *batch: nnx.merge(graph, weights).logits(*batch)[0])
    settings, misses, ended = settings_of(beam_size=size), 0, set()
    search = make_search(graph, settings)
    for seed in range(12):
        weights = random_weights(shapes, seed, spread)
        output = search(weights, *rows(SENTENCES))
        for sentence, tokens, cap in rows_of(output, settings):
            every = all_outputs(logits_of, weights, sentence, cap)
            expected, total = plain_beam(every, size, cap)
            assert tokens == expected
            best = max(total / len(tokens) for tokens, total in every.items())
            misses += total / len(tokens) < best - 1e-4
            ended.add(tokens[-1] == EOS)
    assert misses > 0  # otherwise its width would make no difference here
    assert ended == {True, False}


@pytest.mark.parametrize("size", [1, 3])
def test_neither_padding_nor_the_start_token_is_ever_a_word(size):
    """Not even if the model prefers them to all words."""
    graph, weights = structure()
    bias = weights["decoder"]["output_bias"]
    bias[...] = bias[...].at[np.array([PAD, BOS])].set(50.0).at[EOS].set(-50.0)
    settings = settings_of(beam_size=size)
    output = make_search(graph, settings)(weights, *rows(SENTENCES))
    for _, tokens, cap in rows_of(output, settings):
        assert len(tokens) == cap
        assert min(tokens) > EOS


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("size", [1, 3])
def test_padding_changes_nothing(size):
    graph, shapes = structure()  # in double precision
    search = make_search(graph, settings_of(beam_size=size, cap_factor=1.5))
    for seed in range(8):
        weights = random_weights(shapes, seed, 1.5)
        narrow, _ = search(weights, *rows(SENTENCES))
        wide, _ = search(weights, *rows(SENTENCES, extra=2, garbage=np.random.default_rng(seed)))
        steps = narrow.shape[1]
        np.testing.assert_array_equal(narrow, wide[:, :steps])
        assert not np.any(wide[:, steps:])


def test_the_cap_is_a_multiple_of_the_words_rounded_up_and_some_more():
    limits = caps(8, settings_of(cap_factor=1.5, cap_extra=3))
    assert limits == [3, 3, 5, 6, 8, 9, 11, 12, 14]
