"""Attention reads by themselves; training and decoding use what a subclass overrides."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny import ATTENTIONS, PLACEMENTS, loss_and_gradient, padded, random_translator, settings_of

from seq2seq_bottleneck.model.attention import (
    Attention,
    DotAttention,
    Memory,
    NoAttention,
    Score,
    UniformAttention,
    make_attention,
    masked_softmax,
)

LENGTHS = np.array([5, 1, 3])
MASK = np.arange(5)[None] < LENGTHS[:, None]


def test_the_worked_example_gives_the_audited_numbers():
    """L7: weights .224 .525 .251, context (.493, .173, .440)."""
    states = jnp.array([[[0.1, 0.2, 0.1], [0.8, 0.1, 0.7], [0.2, 0.3, 0.2]]])
    memory = Memory(states, states, jnp.ones((1, 3), bool), states[:, -1])
    read = DotAttention().read(jnp.array([[0.5, -0.2, 0.8]]), memory)
    np.testing.assert_allclose(read.weights[0], [0.224, 0.525, 0.251], atol=5e-4)
    np.testing.assert_allclose(read.context[0], [0.493, 0.173, 0.440], atol=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ATTENTIONS)
def test_weights_sum_to_one_and_padding_gets_exactly_nothing(kind):
    """Values are garbage in the padding; only the read of ``none`` is a single state."""
    attention = make_attention(kind, 4, 4, 6, nnx.Rngs(params=jax.random.key(1)))
    random = np.random.default_rng(0)
    values = random.normal(size=(3, 5, 4)).astype(np.float32)
    values = jnp.asarray(np.where(MASK[:, :, None], values, np.float32(1e4)))
    memory = Memory(
        values, attention.keys(values), jnp.asarray(MASK), values[np.arange(3), LENGTHS - 1]
    )
    read = attention.read(jnp.asarray(random.normal(size=(3, 4)), jnp.float32), memory)
    weights = np.asarray(read.weights)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-6)
    assert np.all(weights[~MASK] == 0.0)
    assert np.all(weights >= 0.0)
    assert np.array_equal(read.context, memory.last) == (kind == "none")


# Subclasses.


class Cosine(DotAttention):
    """Scores between unit vectors: overrides `weights`."""

    def weights(self, query, memory):
        keys = memory.keys / jnp.linalg.norm(memory.keys, axis=2, keepdims=True)
        unit = query / jnp.linalg.norm(query, axis=1, keepdims=True)
        return masked_softmax(jnp.einsum("bk,bsk->bs", unit, keys), memory.mask)


class Distance(Score):
    """Minus the squared distance: a different kind of score."""

    def of(self, query, keys):
        difference = keys - jnp.broadcast_to(query[:, None, :], keys.shape)
        return -jnp.sum(jnp.square(difference), axis=2)


class Near(Attention):
    """Overrides `score` with one that has its own formula."""

    def score(self):
        return Distance(None, None)


class Selective(UniformAttention):
    """Overrides the `weights` of an attention whose reads are all the same."""

    weights = Cosine.weights


class Glance(NoAttention):
    """Overrides `read`: adds the weighted states to the last one."""

    def read(self, query, memory):
        read = DotAttention().read(query, memory)
        return read._replace(context=read.context + memory.last)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("subclass", [Cosine, Near, Selective, Glance])
def test_what_is_overridden_trains_as_it_decodes(subclass, placement, monkeypatch):
    settings = settings_of(attention="dot", placement=placement)
    plain, weights = random_translator(settings, seed=3)
    made = "seq2seq_bottleneck.model.decoder.make_attention"
    monkeypatch.setattr(made, lambda *_: subclass())
    graph, _ = random_translator(settings, seed=3)
    translator, batch = nnx.merge(graph, weights), padded()
    assert type(translator.decoder.attention) is subclass
    memory = translator.encode(batch.source, batch.source_lengths)
    words, steps = jnp.asarray(batch.target), []
    states = translator.decoder.initial(memory)
    for token in words.T:
        states, *step = translator.decoder.advance(states, token, memory)
        steps.append(step)
    trained = translator.decoder(words, memory)
    for ours, single in zip(trained, zip(*steps, strict=True), strict=True):
        np.testing.assert_allclose(ours, jnp.stack(single), rtol=1e-5, atol=1e-6)
    loss, gradient = loss_and_gradient(graph)(weights, batch)
    assert abs(loss - loss_and_gradient(plain)(weights, batch)[0]) > 1e-4, "as its base"
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
