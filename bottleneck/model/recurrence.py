"""A cell over all steps, with or without a read of the memory before each; gradient by hand.

Autodiff of the scan would add to the gradient of every weight matrix at every step. Here the scan
back only collects the slopes of the products, and the gradient of a matrix is then one product
over all steps. With a read (Bahdanau's order) the additive score's tanh layer (batch x source x
width) is computed again rather than kept. The tests compare all with autodiff of the plain scan.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from .attention import Memory, Score, masked_softmax, weighted_sum
from .cells import STEPS, Gates, Matrices, Recurrence, State, advance

Alphas = Float[Array, "steps batch source"]


class Fixed(NamedTuple):
    """What is no array: the cell's kind, whether the last step is first, and the score's scale."""

    kind: str
    reverse: bool = False
    scale: float = 1.0


class Parameters(NamedTuple):
    """Parameters of the cell; and of a read: the context's entry into each gate, and the score."""

    cell: Recurrence
    context: Matrices = ()
    score: Score = Score(None, None)


class Kept(NamedTuple):
    """What a step leaves for its gradient: each (steps, batch, ...); None without a read."""

    state: State | None
    cell: Gates | None
    query: Array | None
    weights: Array | None
    context: Array | None


class Sums(NamedTuple):
    """Gradients of an additive score's keys and v: no product gives them, so each step adds."""

    keys: Float[Array, "batch source key"]
    vector: Float[Array, " key"]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def hidden_states(
    fixed: Fixed,
    parameters: Parameters,
    start: State,
    inputs: Gates,
    mask: Bool[Array, "steps batch"] | None,
    memory: Memory | None,
) -> tuple[Float[Array, "steps batch hidden"], Alphas | None]:
    """The hidden state after every step, and the attention weights of every read.

    Args:
        fixed: what is no array.
        parameters: those of the cell and of the read.
        start: the state before the first step.
        inputs: what enters each gate but for the context, (steps, batch, hidden).
        mask: true on real positions, on the others the last state stands; None where all are real.
        memory: what is read before every step (``last`` is not used); None for no read.
    """
    states, kept = _scan(fixed, parameters, start, inputs, mask, memory, keep=False)
    return states, kept.weights


def _scan(
    fixed: Fixed,
    parameters: Parameters,
    start: State,
    inputs: Gates,
    mask: Array | None,
    memory: Memory | None,
    keep: bool,
) -> tuple[Array, Kept]:
    """States, and what is kept for the gradient; of it the weights alone if not ``keep``."""

    def step(state: State, at: tuple) -> tuple[State, tuple[Array, Kept]]:
        gates, real = at
        query = weights = context = None
        if memory is not None:
            query = parameters.score.query(state[0], fixed.scale)
            weights = masked_softmax(parameters.score.of(query, memory.keys), memory.mask)
            context = weighted_sum(weights, memory.values)
            pairs = zip(gates, parameters.context, strict=True)
            gates = tuple(given + context @ matrix for given, matrix in pairs)
        new, kept = advance(fixed.kind, parameters.cell, state, gates)
        new, left = _masked(new, state, real), Kept(state, kept, query, weights, context)
        return new, (new[0], left if keep else Kept(None, None, None, weights, None))

    return jax.lax.scan(step, start, (inputs, mask), reverse=fixed.reverse)[1]


def _masked(new: State, old: State, real: Bool[Array, " batch"] | None) -> State:
    """The new state on real positions, the old one on padding."""
    if real is None:
        return new
    return tuple(jnp.where(real[:, None], *pair) for pair in zip(new, old, strict=True))


def _forward(
    fixed: Fixed,
    parameters: Parameters,
    start: State,
    inputs: Gates,
    mask: Array | None,
    memory: Memory | None,
) -> tuple[tuple[Array, Array | None], tuple]:
    states, kept = _scan(fixed, parameters, start, inputs, mask, memory, keep=True)
    return (states, kept.weights), (parameters, kept, mask, memory)


def _backward(fixed: Fixed, saved: tuple, slopes: tuple[Array, Array | None]) -> tuple:
    parameters, kept, mask, memory = saved
    cell, score = parameters.cell, parameters.score
    zero = tuple(jnp.zeros_like(leaf[0]) for leaf in kept.state)

    def step(carry: tuple, at: tuple) -> tuple[tuple, tuple]:
        later, sums = carry
        direct, d_weights, here, real = at
        arrived = (later[0] + direct, *later[1:])
        back = STEPS[fixed.kind].backward(here.cell, here.state, _masked(arrived, zero, real))
        d_state, d_read = back.state[0] + _back_through(back.products, cell.matrices), None
        if memory is not None:
            d_context = _back_through(back.inputs, parameters.context)
            through = d_weights + jnp.einsum("bc,bsc->bs", d_context, memory.values)
            through = here.weights * through
            d_scores = through - here.weights * jnp.sum(through, axis=1, keepdims=True)
            d_query, sums = _score_back(score.vector, memory.keys, here.query, d_scores, sums)
            scaled = d_query * fixed.scale
            d_state = d_state + (scaled if score.matrix is None else scaled @ score.matrix.T)
            d_read = d_query, d_scores, d_context
        earlier = (d_state, *back.state[1:])
        if real is not None:
            passed = _masked(zero, arrived, real)
            earlier = tuple(value + other for value, other in zip(earlier, passed, strict=True))
        return (earlier, sums), (back.inputs, back.products, d_read)

    sums = None
    if memory is not None and score.vector is not None:
        sums = Sums(jnp.zeros_like(memory.keys), jnp.zeros_like(score.vector))
    (first, sums), (inputs, products, read) = jax.lax.scan(
        step, (zero, sums), (*slopes, kept, mask), reverse=not fixed.reverse
    )
    hidden = kept.state[0]
    bias = None if cell.bias is None else jnp.sum(products[STEPS[fixed.kind].biased], axis=(0, 1))
    d_cell = Recurrence(_matrix_slopes(hidden, products), bias)
    if memory is None:
        return Parameters(d_cell), first, inputs, None, None
    d_query, d_scores, d_context = read
    d_matrix = None
    if score.matrix is not None:
        (d_matrix,) = _matrix_slopes(hidden, (d_query * fixed.scale,))
    if sums is None:
        d_vector, d_keys = None, jnp.einsum("tbs,tbk->bsk", d_scores, kept.query)
    else:
        d_vector = sums.vector
        d_keys = sums.keys * jnp.broadcast_to(score.vector, sums.keys.shape)
    d_values = jnp.einsum("tbs,tbc->bsc", kept.weights, d_context)
    d_entry = _matrix_slopes(kept.context, inputs)
    return (
        Parameters(d_cell, d_entry, Score(d_matrix, d_vector)),
        first,
        inputs,
        None,
        Memory(d_values, d_keys, None, jnp.zeros_like(memory.last)),
    )


def _back_through(slopes: Gates, matrices: Matrices) -> Float[Array, "batch from"]:
    """Slope of what entered products with these matrices."""
    parts = [slope @ matrix.T for slope, matrix in zip(slopes, matrices, strict=True)]
    return sum(parts[1:], parts[0])


def _matrix_slopes(entered: Float[Array, "steps batch from"], slopes: Gates) -> Matrices:
    """Gradients of matrices from what entered at every step, and the products' slopes."""
    return tuple(jnp.tensordot(entered, slope, ((0, 1), (0, 1))) for slope in slopes)


def _score_back(
    vector: Array | None,
    keys: Array,
    query: Array,
    d_scores: Float[Array, "batch source"],
    sums: Sums | None,
) -> tuple[Float[Array, "batch key"], Sums | None]:
    """Slope of the query; an additive score's of keys (but for v) and of v go to ``sums``."""
    if vector is None:
        return jnp.einsum("bs,bsk->bk", d_scores, keys), None
    # Layer and slope are written once and read twice; left alone, XLA computes them twice.
    layer = jax.lax.optimization_barrier(
        jnp.tanh(keys + jnp.broadcast_to(query[:, None, :], keys.shape))
    )
    slope = jax.lax.optimization_barrier(d_scores[:, :, None] * (1 - layer**2))
    d_query = jnp.sum(slope, axis=1) * jnp.broadcast_to(vector, query.shape)
    d_vector = jnp.einsum("bs,bsk->k", d_scores, layer)
    return d_query, Sums(sums.keys + slope, sums.vector + d_vector)


hidden_states.defvjp(_forward, _backward)
