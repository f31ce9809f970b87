"""One interface for every arm: ``read(query, memory) -> context, weights``.

A subclass overrides ``keys``, ``score``, ``weights`` or ``read``. Both training and decoding use
these; faster code runs only if a read is ``plain``. Weights sum to 1 over real positions and are
exactly 0 on padding.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float

Query = Float[Array, "batch hidden"]
Scores = Float[Array, "batch source"]
Keys = Float[Array, "batch source key"]


class Memory(NamedTuple):
    """What the decoder gets from the encoder: states, their keys, and the vector h_Tx (``last``).

    ``mask`` is true on real positions; an arm without attention uses only ``last``.
    """

    values: Float[Array, "batch source context"]
    keys: Keys
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


class Score(NamedTuple):
    """Parameters of a score: the query's map (W_1 or W), and v if it is additive."""

    matrix: Float[Array, "hidden key"] | None
    vector: Float[Array, " key"] | None

    def query(self, state: Float[Array, "*rows hidden"], scale: float) -> Float[Array, "*rows key"]:
        """The part of the score that depends only on the decoder's state."""
        mapped = state if self.matrix is None else state @ self.matrix
        return mapped if scale == 1.0 else mapped * scale

    def of(self, query: Float[Array, "batch key"], keys: Keys) -> Scores:
        """e_i: v . tanh(q + k_i) of an additive score, else q . k_i."""
        if self.vector is None:
            return jnp.einsum("bk,bsk->bs", query, keys)
        return jnp.tanh(keys + jnp.broadcast_to(query[:, None, :], keys.shape)) @ self.vector


class Attention(nnx.Module):
    """Base class of attention: softmax of scores, weighted sum of values (L5, L7)."""

    scale = 1.0  # multiplies the mapped query

    @property
    def constant(self) -> bool:
        """Whether the read is the same for every query."""
        kind = type(self)
        uniform = kind.read is Attention.read and kind.weights is UniformAttention.weights
        return uniform or kind.read is NoAttention.read

    @property
    def plain(self) -> bool:
        """Whether a read is the softmax of a `Score` and the weighted sum, and nothing else."""
        kind = type(self)
        inherited = kind.weights is Attention.weights and kind.read is Attention.read
        return inherited and type(self.score()) is Score

    def keys(self, values: Float[Array, "batch source context"]) -> Keys:
        """The part of the score that depends only on the memory."""
        return values

    def score(self) -> Score:
        """The score's parameters as arrays, without the module."""
        return Score(None, None)

    def weights(self, query: Query, memory: Memory) -> Scores:
        """alpha of one query per sentence."""
        score = self.score()
        return masked_softmax(score.of(score.query(query, self.scale), memory.keys), memory.mask)

    def read(self, query: Query, memory: Memory) -> Read:
        """Context and weights of one query per sentence: c = sum_i alpha_i h_i."""
        weights = self.weights(query, memory)
        return Read(jnp.einsum("bs,bsc->bc", weights, memory.values), weights)

    def read_all(self, queries: Float[Array, "steps batch hidden"], memory: Memory) -> Read:
        """The reads of every step, when all queries are known: (steps, batch, ...) each."""
        if self.constant:
            read = self.read(queries[0], memory)
            return Read(*(jnp.broadcast_to(part, (len(queries), *part.shape)) for part in read))
        if not self.plain or self.score().vector is not None:
            return jax.lax.map(jax.checkpoint(lambda query: self.read(query, memory)), queries)
        mapped = self.score().query(queries, self.scale)
        scores = jnp.einsum("tbk,bsk->tbs", mapped, memory.keys)
        weights = jax.vmap(masked_softmax, (0, None))(scores, memory.mask)
        return Read(jnp.einsum("tbs,bsc->tbc", weights, memory.values), weights)


class NoAttention(Attention):
    """The bottleneck: the context is the last state for every query."""

    def read(self, query: Query, memory: Memory) -> Read:  # noqa: ARG002
        """The last state; all weight on its position."""
        place = jnp.sum(memory.mask, axis=1, dtype=jnp.int32) - 1
        weights = jax.nn.one_hot(place, memory.mask.shape[1], dtype=memory.last.dtype)
        return Read(memory.last, weights)


class UniformAttention(Attention):
    """Control for C10: keeps every state and selects nothing."""

    def weights(self, query: Query, memory: Memory) -> Scores:  # noqa: ARG002
        """Equal weights everywhere."""
        return masked_softmax(jnp.zeros(memory.mask.shape, memory.values.dtype), memory.mask)


class DotAttention(Attention):
    """e_i = s . h_i or s W h_i (Luong et al. 2015, section 3.1, "dot" and "general"; L6).

    With ``scale`` width^(-1/2) it is scaled dot attention (Vaswani et al. 2017, eq. 1).
    """

    def __init__(self, scale: float = 1.0, matrix: nnx.Param | None = None):
        self.scale, self.matrix = scale, nnx.data(matrix)

    def score(self) -> Score:
        """W, if there is one."""
        return Score(None if self.matrix is None else self.matrix[...], None)


class AdditiveAttention(Attention):
    """e_i = v . tanh(W_1 s + W_2 h_i) (Bahdanau et al. 2015, section A.1.2)."""

    def __init__(self, hidden: int, context: int, width: int, rngs: nnx.Rngs):
        init = nnx.initializers.glorot_uniform()
        self.query_map = nnx.Param(init(rngs.params(), (hidden, width)))
        self.key_map = nnx.Param(init(rngs.params(), (context, width)))
        self.vector = nnx.Param(init(rngs.params(), (width, 1))[:, 0])

    def keys(self, values: Float[Array, "batch source context"]) -> Keys:
        """W_2 h_i for every position, computed once per sentence."""
        return values @ self.key_map[...]

    def score(self) -> Score:
        """W_1 and v."""
        return Score(self.query_map[...], self.vector[...])


def make_attention(kind: str, hidden: int, context: int, width: int, rngs: nnx.Rngs) -> Attention:
    """The attention that ``model.attention`` names; only the additive score uses ``width``."""
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
            init = nnx.initializers.glorot_uniform()
            return DotAttention(matrix=nnx.Param(init(rngs.params(), (hidden, context))))
        case "additive":
            return AdditiveAttention(hidden, context, width, rngs)
