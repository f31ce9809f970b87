"""What a subclass of `Attention` overrides is what trains and what decodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_model import PLACEMENTS, loss_and_gradient, padded, random_translator, settings_of

from seq2seq_bottleneck.model.attention import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    Read,
    Score,
    masked_softmax,
)
from seq2seq_bottleneck.training.loss import decoder_inputs


class Cosine(DotAttention):
    """Scores of unit vectors: overrides `weights`."""

    def weights(self, query, memory):
        keys = memory.keys / jnp.linalg.norm(memory.keys, axis=2, keepdims=True)
        unit = query / jnp.linalg.norm(query, axis=1, keepdims=True)
        return masked_softmax(jnp.einsum("bk,bsk->bs", unit, keys), memory.mask)


class Gated(GeneralAttention):
    """A context that is scaled by its query: overrides `read`."""

    def read(self, query, memory):
        read = super().read(query, memory)
        gate = jax.nn.sigmoid(jnp.sum(query, axis=1, keepdims=True))
        return Read(read.context * jnp.broadcast_to(gate, read.context.shape), read.weights)


class Squared(AdditiveAttention):
    """Keys of squares: overrides `keys`."""

    def keys(self, values):
        return super().keys(jnp.square(values))


class Negative(AdditiveAttention):
    """A score of the other sign: overrides `score`."""

    def score(self):
        score = super().score()
        return Score(score.matrix, -score.vector)


class Distance(Score):
    """Minus the squared distance: a score of another kind."""

    def of(self, query, keys):
        apart = keys - jnp.broadcast_to(query[:, None, :], keys.shape)
        return -jnp.sum(jnp.square(apart), axis=2)


class Near(Attention):
    """Overrides `score` with one that has its own formula."""

    def score(self):
        return Distance(None, None)


SUBCLASSES = {
    Cosine: ("dot", lambda width, rngs: Cosine()),  # noqa: ARG005
    Gated: ("general", lambda width, rngs: Gated(width, width, rngs)),
    Squared: ("additive", lambda width, rngs: Squared(width, width, width, rngs)),
    Negative: ("additive", lambda width, rngs: Negative(width, width, width, rngs)),
    Near: ("dot", lambda width, rngs: Near()),  # noqa: ARG005
}


def translators(subclass, placement, monkeypatch):
    """The graph with the subclass and that of its base, and weights that fit both."""
    base, make = SUBCLASSES[subclass]
    settings = settings_of(attention=base, placement=placement)
    plain, weights = random_translator(settings, seed=3)
    made = f"{AdditiveAttention.__module__.rpartition('.')[0]}.decoder.make_attention"
    monkeypatch.setattr(made, lambda kind, hidden, context, width, rngs: make(width, rngs))  # noqa: ARG005
    return random_translator(settings, seed=3)[0], plain, weights


def step_by_step(translator, batch):
    """What the output layer reads and the weights, by the decoder's single step."""
    memory = translator.encode(batch.source, batch.source_lengths)
    states, outputs, weights = translator.decoder.initial(memory), [], []
    for token in decoder_inputs(batch.target).T:
        states, output, read = translator.decoder.advance(states, token, memory)
        outputs.append(output)
        weights.append(read)
    return jnp.stack(outputs), jnp.stack(weights)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("subclass", SUBCLASSES, ids=lambda kind: kind.__name__)
def test_what_is_overridden_trains_as_it_decodes(subclass, placement, monkeypatch):
    graph, plain, weights = translators(subclass, placement, monkeypatch)
    translator, batch = nnx.merge(graph, weights), padded()
    assert type(translator.decoder.attention) is subclass
    memory = translator.encode(batch.source, batch.source_lengths)
    trained = translator.decoder(decoder_inputs(batch.target), memory)
    for ours, single in zip(trained, step_by_step(translator, batch), strict=True):
        np.testing.assert_allclose(ours, single, rtol=1e-5, atol=1e-6)
    loss, gradient = loss_and_gradient(graph)(weights, batch)
    assert abs(loss - loss_and_gradient(plain)(weights, batch)[0]) > 1e-4, "as its base"
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_only_reads_without_code_of_their_own_are_plain():
    rngs = nnx.Rngs(0)
    own = [DotAttention(0.5), GeneralAttention(2, 3, rngs), AdditiveAttention(2, 3, 4, rngs)]
    kept = [Squared(3, 3, 3, rngs), Negative(3, 3, 3, rngs)]
    assert all(attention.plain for attention in own + kept)
    assert not any(attention.plain for attention in (Cosine(), Gated(3, 3, rngs), Near()))
