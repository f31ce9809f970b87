"""Random translators of a few words, and searches in plain Python loops."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import DecodingSettings, ModelSettings

PAD, BOS, EOS = 0, 1, 2
SENTENCES = ([4, 3, 5, 2], [5, 2], [3, 3, 2])


def structure(words=6, **changes):
    """A graph and the shapes of its weights, at ``words`` words per side."""
    sizes = {"embedding_size": 2, "context_size": 3, "attention": "general", "cell": "gru"}
    settings = ModelSettings(**{**sizes, **changes})
    return nnx.split(nnx.eval_shape(lambda: nnx.merge(*create(settings, 6, words, 1))))


def random_weights(shapes, seed, spread=1.5):
    """Weights so large that outputs differ from one sentence and model to the next."""
    random = np.random.default_rng(seed)
    return jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(0.0, spread, leaf.shape), leaf.dtype), shapes
    )


def padded(sentences=SENTENCES, extra=0, garbage=None):
    """Source ids and lengths; padding is PAD, or any words when ``garbage`` is a generator."""
    lengths = np.array([len(words) for words in sentences], np.int32)
    shape = (len(sentences), lengths.max() + extra)
    ids = np.zeros(shape, np.int32) if garbage is None else garbage.integers(0, 6, shape)
    for row, words in zip(ids, sentences, strict=True):
        row[: len(words)] = words
    return jnp.asarray(ids, jnp.int32), jnp.asarray(lengths)


def settings_of(**changes):
    """Caps of one word per source word and two more, unless changed."""
    return DecodingSettings(**{"cap_factor": 1.0, "cap_extra": 2, **changes})


def cap_of(words, settings):
    """Most tokens of an output; the source's end token is no word."""
    return math.ceil(settings.cap_factor * (len(words) - 1)) + settings.cap_extra


def word_log_probabilities(logits):
    """log P of each word, padding and start token excluded."""
    logits = np.array(logits, np.float64)
    logits[..., [PAD, BOS]] = -np.inf
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def teacher_forced(logits_of, weights, sentence, outputs):
    """log P of each word of each output of one sentence: (outputs, steps, words)."""
    outputs = np.array(outputs, np.int32)
    source = np.repeat(np.array([sentence], np.int32), len(outputs), axis=0)
    lengths = np.full(len(outputs), len(sentence), np.int32)
    inputs = np.concatenate([np.full_like(outputs[:, :1], BOS), outputs[:, :-1]], axis=1)
    return word_log_probabilities(logits_of(weights, source, lengths, inputs)[0])


def logits_function(graph):
    """weights, source, lengths, inputs -> logits and attention weights."""
    return jax.jit(lambda weights, *batch: nnx.merge(graph, weights).logits(*batch))


def all_outputs(logits_of, weights, sentence, cap, words):
    """(tokens, log P) of every output: ended at most at the cap, or cut there unended."""
    rows = np.array(list(itertools.product(range(EOS, words), repeat=cap)), np.int32)
    chosen = np.take_along_axis(
        teacher_forced(logits_of, weights, sentence, rows), rows[:, :, None], axis=2
    )[:, :, 0]
    found = {}
    for row, gained in zip(rows.tolist(), chosen, strict=True):
        length = row.index(EOS) + 1 if EOS in row else cap
        found[tuple(row[:length])] = gained[:length].sum()
    return found


def tokens_of(output, row):
    """An output's tokens without its padding, as a tuple."""
    return tuple(np.asarray(output.tokens)[row, : int(output.lengths[row])].tolist())
