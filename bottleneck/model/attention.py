"""One interface for every arm: ``read(query, memory) -> context, weights``.

``none`` and ``uniform`` are reads like the scores: ``none`` always returns the last state (the
lecture's c = h_Tx), ``uniform`` the mean of all states. Weights sum to 1 over real positions and
are exactly 0 on padding.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int

Query = Float[Array, "batch hidden"]
Scores = Float[Array, "batch source"]


class Memory(NamedTuple):
    """What the encoder leaves for the decoder.

    ``values`` are the encoder states at context width, ``keys`` the score's own product of them
    (hoisted: computed once a sentence), ``mask`` true on real positions, ``last`` the one vector
    that an arm without attention gets.
    """

    values: Float[Array, "batch source context"]
    keys: Float[Array, "batch source key"]
    mask: Bool[Array, "batch source"]
    last: Float[Array, "batch context"]


class Read(NamedTuple):
    """A context vector and the weights it was read with."""

    context: Float[Array, "batch context"]
    weights: Float[Array, "batch source"]


def masked_softmax(scores: Scores, mask: Bool[Array, "batch source"]) -> Scores:
    """alpha_i = exp(e_i) / sum_j exp(e_j) over real positions (L18: maximum subtracted)."""
    scores = jnp.where(mask, scores, -jnp.inf)
    exponentials = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
    return exponentials / jnp.sum(exponentials, axis=1, keepdims=True)


def weighted_sum(
    weights: Scores, values: Float[Array, "batch source context"]
) -> Float[Array, "batch context"]:
    """c = sum_i alpha_i h_i (L5, L7)."""
    return jnp.einsum("bs,bsc->bc", weights, values)


def last_position(mask: Bool[Array, "batch source"]) -> Int[Array, " batch"]:
    """Index of each sentence's last real position."""
    return jnp.sum(mask, axis=1, dtype=jnp.int32) - 1


class Attention(nnx.Module):
    """Base of the reads that score: softmax of scores, weighted sum of values."""

    def keys(
        self, values: Float[Array, "batch source context"]
    ) -> Float[Array, "batch source key"]:
        """The part of the score that depends on the memory alone."""
        return values

    def scores(self, query: Query, keys: Float[Array, "batch source key"]) -> Scores:
        """e_i = score(query, key_i)."""
        raise NotImplementedError

    def read(self, query: Query, memory: Memory) -> Read:
        """Context and weights for one query a sentence."""
        weights = masked_softmax(self.scores(query, memory.keys), memory.mask)
        return Read(weighted_sum(weights, memory.values), weights)


class NoAttention(Attention):
    """The bottleneck: the context is the last state whatever the query (LECTURE D)."""

    def read(self, query: Query, memory: Memory) -> Read:  # noqa: ARG002
        """The last state; all weight on its position."""
        place = last_position(memory.mask)
        return Read(
            memory.last, jax.nn.one_hot(place, memory.mask.shape[1], dtype=memory.last.dtype)
        )


class UniformAttention(Attention):
    """Control for C10: keeps every state and selects nothing."""

    def scores(self, query: Query, keys: Float[Array, "batch source key"]) -> Scores:  # noqa: ARG002
        """Equal scores everywhere."""
        return jnp.zeros(keys.shape[:2], keys.dtype)


class DotAttention(Attention):
    """e_i = s . h_i (Luong et al. 2015, eq. 8; L6), optionally over sqrt(width)."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def scores(self, query: Query, keys: Float[Array, "batch source key"]) -> Scores:
        """Dot product of the query with every key."""
        return jnp.einsum("bc,bsc->bs", query * self.scale, keys)


class GeneralAttention(Attention):
    """e_i = s W h_i (Luong et al. 2015, eq. 8)."""

    def __init__(self, hidden: int, context: int, rngs: nnx.Rngs):
        self.matrix = nnx.Param(nnx.initializers.glorot_uniform()(rngs.params(), (hidden, context)))

    def scores(self, query: Query, keys: Float[Array, "batch source key"]) -> Scores:
        """Dot product of the mapped query with every key."""
        return jnp.einsum("bc,bsc->bs", query @ self.matrix[...], keys)


class AdditiveAttention(Attention):
    """e_i = v . tanh(W_1 s + W_2 h_i) (Bahdanau et al. 2015, section A.1.2)."""

    def __init__(self, hidden: int, context: int, width: int, rngs: nnx.Rngs):
        init = nnx.initializers.glorot_uniform()
        self.query_map = nnx.Param(init(rngs.params(), (hidden, width)))
        self.key_map = nnx.Param(init(rngs.params(), (context, width)))
        self.vector = nnx.Param(init(rngs.params(), (width, 1))[:, 0])

    def keys(
        self, values: Float[Array, "batch source context"]
    ) -> Float[Array, "batch source key"]:
        """W_2 h_i for every position, computed once a sentence."""
        return values @ self.key_map[...]

    def scores(self, query: Query, keys: Float[Array, "batch source key"]) -> Scores:
        """The tanh layer is recomputed in the backward pass rather than stored a step."""
        return _additive_scores(query @ self.query_map[...], keys, self.vector[...])


@jax.checkpoint
def _additive_scores(
    query: Float[Array, "batch key"],
    keys: Float[Array, "batch source key"],
    vector: Float[Array, " key"],
) -> Scores:
    hidden = jnp.tanh(keys + jnp.broadcast_to(query[:, None, :], keys.shape))
    return hidden @ vector


def make_attention(kind: str, hidden: int, context: int, width: int, rngs: nnx.Rngs) -> Attention:
    """The read named by ``model.attention``."""
    match kind:
        case "none":
            return NoAttention()
        case "uniform":
            return UniformAttention()
        case "dot":
            return DotAttention()
        case "scaled-dot":
            return DotAttention(context**-0.5)
        case "general":
            return GeneralAttention(hidden, context, rngs)
        case "additive":
            return AdditiveAttention(hidden, context, width, rngs)
    raise ValueError(f"no attention named {kind!r}")
