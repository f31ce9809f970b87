"""Tiny translators with random weights, padded batches, and a batch's mean loss."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.training.loss import read_outs, summed_loss

PAD, BOS, EOS = 0, 1, 2
ATTENTIONS = ("none", "uniform", "dot", "scaled-dot", "general", "additive")
PLACEMENTS = ("input", "output")
SOURCE_WORDS, TARGET_WORDS = 7, 6
PAIRS = (([4, 3, 5, 6, 2], [3, 5, 4, 2]), ([6, 4, 2], [4, 2]), ([5, 2], [3, 3, 2]))
"""Source and target words, end tokens included."""


def padded(pairs=PAIRS, extra=0, garbage=None):
    """The pairs as one batch; padding is PAD, or any words when ``garbage`` is a generator."""
    sides = zip(zip(*pairs, strict=True), (SOURCE_WORDS, TARGET_WORDS), strict=True)
    return Batch(*(part for side, words in sides for part in rows(side, extra, garbage, words)))


def rows(sentences, extra=0, garbage=None, vocabulary=6):
    """Token ids and lengths of one side."""
    lengths = np.array([len(words) for words in sentences], np.int32)
    shape = (len(sentences), lengths.max() + extra)
    ids = np.zeros(shape, np.int32) if garbage is None else garbage.integers(0, vocabulary, shape)
    for row, words in zip(ids, sentences, strict=True):
        row[: len(words)] = words
    return jnp.asarray(ids, jnp.int32), jnp.asarray(lengths)


def settings_of(**changes):
    """Sizes 2 and 3 unless changed."""
    return ModelSettings(**{"embedding_size": 2, "context_size": 3, **changes})


def random_weights(weights, seed=0, spread=0.7):
    """Random weights; none is zero, so that every term of a formula counts."""
    random = np.random.default_rng(seed)
    return jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(0.0, spread, leaf.shape), leaf.dtype), weights
    )


def random_translator(settings, seed=0, words=TARGET_WORDS, spread=0.7):
    """Structure and random weights."""
    # Only shapes: drawing the package's own starting values takes seconds of compilation.
    graph, shapes = nnx.split(
        nnx.eval_shape(lambda: nnx.merge(*create(settings, SOURCE_WORDS, words, seed)))
    )
    return graph, random_weights(shapes, seed, spread)


def mean_loss(translator, batch, ratio=1.0, key=None, smoothing=0.0):
    """Nats per real target token."""
    total = summed_loss(*read_outs(translator, batch, ratio, key), smoothing)
    return total / jnp.sum(batch.target_lengths)


def loss_and_gradient(graph):
    """weights, batch -> mean loss and its gradient."""
    return jax.jit(
        jax.value_and_grad(lambda weights, batch: mean_loss(nnx.merge(graph, weights), batch))
    )


def forward(graph, weights, batch):
    """Logits and attention weights of a batch under teacher forcing."""
    run = jax.jit(lambda weights, *given: nnx.merge(graph, weights).logits(*given))
    given = batch.source, batch.source_lengths, jnp.insert(batch.target[:, :-1], 0, BOS, axis=1)
    return tuple(map(np.asarray, run(weights, *given)))
