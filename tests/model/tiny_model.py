"""Tiny translators and batches that the tests of the model share."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from losses import mean_loss

from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import ModelSettings

ATTENTIONS = ("none", "uniform", "dot", "scaled-dot", "general", "additive")
PLACEMENTS = ("input", "output")
CELLS = ("rnn", "gru", "lstm")
SOURCE_WORDS, TARGET_WORDS = 7, 6
BOS = 1

PAIRS = (([4, 3, 5, 6, 2], [3, 5, 4, 2]), ([6, 4, 2], [4, 2]), ([5, 2], [3, 3, 2]))
"""Source and target words, end tokens included."""


class Padded(NamedTuple):
    """What the loss calls sentences."""

    source: jax.Array
    source_lengths: jax.Array
    target: jax.Array
    target_lengths: jax.Array


def padded(pairs=PAIRS, extra=0, garbage=None):
    """The pairs as one batch; padding is PAD, or any words when ``garbage`` is a generator."""
    sources, targets = zip(*pairs, strict=True)
    return Padded(
        *_padded_side(sources, extra, garbage, SOURCE_WORDS),
        *_padded_side(targets, extra, garbage, TARGET_WORDS),
    )


def _padded_side(sentences, extra, garbage, vocabulary):
    lengths = np.array([len(words) for words in sentences], np.int32)
    shape = (len(sentences), lengths.max() + extra)
    ids = np.zeros(shape, np.int32) if garbage is None else garbage.integers(0, vocabulary, shape)
    for row, words in zip(ids, sentences, strict=True):
        row[: len(words)] = words
    return jnp.asarray(ids, jnp.int32), jnp.asarray(lengths)


def settings_of(**changes):
    """Sizes 2 and 3 unless changed."""
    return ModelSettings(**{"embedding_size": 2, "context_size": 3, **changes})


def random_translator(settings, seed=0, spread=0.7):
    """Structure and weights; no weight is zero, so that no term of a formula hides."""
    # Shapes alone: drawing the package's own starting values costs seconds of compilation.
    graph, weights = nnx.split(
        nnx.eval_shape(lambda: nnx.merge(*create(settings, SOURCE_WORDS, TARGET_WORDS, seed)))
    )
    random = np.random.default_rng(seed)
    drawn = jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(0.0, spread, leaf.shape), leaf.dtype), weights
    )
    return graph, drawn


def forward(graph):
    """weights, source, lengths, inputs -> logits, attention weights."""
    return jax.jit(lambda weights, *batch: nnx.merge(graph, weights).logits(*batch))


def loss_and_gradient(graph):
    """weights, batch -> mean loss and its gradient."""

    def loss(weights, batch):
        return mean_loss(nnx.merge(graph, weights), batch, 1.0, None)

    return jax.jit(jax.value_and_grad(loss))


def decoder_inputs_of(batch):
    """Start token, then the target shifted by one."""
    target = np.asarray(batch.target)
    return np.concatenate([np.full_like(target[:, :1], BOS), target[:, :-1]], axis=1)


def run_forward(graph, weights, batch):
    """Logits and attention weights of a batch under teacher forcing."""
    inputs = decoder_inputs_of(batch)
    logits, read = forward(graph)(weights, batch.source, batch.source_lengths, inputs)
    return np.asarray(logits), np.asarray(read)
