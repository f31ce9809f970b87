"""A recurrence that reads the memory before every step (Bahdanau's order), gradient by hand.

As in ``recurrence``, the scan back collects slopes, and the gradient of a weight matrix is then one
product over all steps. The additive score's tanh layer (batch x source x width) is computed again
rather than kept. The tests hold all equal to autodiff of the plain scan.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .attention import Memory, Score, masked_softmax, weighted_sum
from .cells import STEPS, Gates, Matrices, Recurrence, State, advance
from .recurrence import back_through, matrix_slopes, recurrence_slopes

Weights = Float[Array, "steps batch source"]


class Reader(NamedTuple):
    """Parameters of the cell, of the context's entry into each gate, and of the score."""

    cell: Recurrence
    context: Matrices
    score: Score


class Kept(NamedTuple):
    """What a step leaves for its gradient: each (steps, batch, ...)."""

    state: State
    query: Array
    weights: Array
    context: Array
    cell: Gates


class Slopes(NamedTuple):
    """What a step back leaves: slopes of gate inputs, products, query, scores and context."""

    inputs: Gates
    products: Gates
    query: Array
    scores: Weights
    context: Array


class Sums(NamedTuple):
    """Gradients of an additive score's keys and v: no product gives them, so each step adds."""

    keys: Float[Array, "batch source key"]
    vector: Float[Array, " key"]


class Fixed(NamedTuple):
    """What is no array: the cell's kind, and the score's scale."""

    kind: str
    scale: float


def _step(
    fixed: Fixed, reader: Reader, memory: Memory, state: State, inputs: Gates
) -> tuple[State, Kept]:
    query = reader.score.query(state[0], fixed.scale)
    weights = masked_softmax(reader.score.of(query, memory.keys), memory.mask)
    context = weighted_sum(weights, memory.values)
    entered = tuple(
        given + context @ matrix for given, matrix in zip(inputs, reader.context, strict=True)
    )
    new, kept = advance(fixed.kind, reader.cell, state, entered)
    return new, Kept(state, query, weights, context, kept)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def attended_states(
    fixed: Fixed, reader: Reader, start: State, inputs: Gates, memory: Memory
) -> tuple[Float[Array, "steps batch hidden"], Weights]:
    """Hidden state and attention weights of every step.

    Args:
        fixed: what is no array.
        reader: parameters.
        start: the state before the first step.
        inputs: what enters each gate but for the context, (steps, batch, hidden).
        memory: what the encoder left; ``last`` is not used.
    """

    def step(state: State, at: Gates) -> tuple[State, tuple[Array, Array]]:
        new, kept = _step(fixed, reader, memory, state, at)
        return new, (new[0], kept.weights)

    return jax.lax.scan(step, start, inputs)[1]


def _forward(
    fixed: Fixed, reader: Reader, start: State, inputs: Gates, memory: Memory
) -> tuple[tuple[Array, Array], tuple]:
    def step(state: State, at: Gates) -> tuple[State, tuple[Array, Kept]]:
        new, kept = _step(fixed, reader, memory, state, at)
        return new, (new[0], kept)

    states, kept = jax.lax.scan(step, start, inputs)[1]
    return (states, kept.weights), (reader, memory, kept)


def _backward(fixed: Fixed, saved: tuple, slopes: tuple[Array, Array]) -> tuple:
    reader, memory, kept = saved

    def step(carry: tuple, at: tuple) -> tuple[tuple, Slopes]:
        later, sums = carry
        direct, d_weights, here = at
        cell = STEPS[fixed.kind].backward(here.cell, here.state, (later[0] + direct, *later[1:]))
        d_context = back_through(cell.inputs, reader.context)
        through = here.weights * (d_weights + jnp.einsum("bc,bsc->bs", d_context, memory.values))
        d_scores = through - here.weights * jnp.sum(through, axis=1, keepdims=True)
        d_query, sums = _score_back(reader.score.vector, memory.keys, here.query, d_scores, sums)
        d_state = (
            cell.state[0]
            + back_through(cell.products, reader.cell.matrices)
            + _query_back(reader.score, fixed.scale, d_query)
        )
        left = Slopes(cell.inputs, cell.products, d_query, d_scores, d_context)
        return ((d_state, *cell.state[1:]), sums), left

    vector = reader.score.vector
    nothing = None if vector is None else Sums(jnp.zeros_like(memory.keys), jnp.zeros_like(vector))
    carry = tuple(jnp.zeros_like(leaf[0]) for leaf in kept.state), nothing
    (first, sums), step_slopes = jax.lax.scan(step, carry, (*slopes, kept), reverse=True)
    d_values = _over_steps(kept.weights, step_slopes.context)
    d_keys = _key_slopes(reader.score.vector, sums, kept.query, step_slopes.scores)
    d_memory = Memory(d_values, d_keys, None, jnp.zeros_like(memory.last))
    return (
        _reader_slopes(fixed, reader, kept, step_slopes, sums),
        first,
        step_slopes.inputs,
        d_memory,
    )


def _over_steps(
    weights: Weights, vectors: Float[Array, "steps batch width"]
) -> Float[Array, "batch source width"]:
    """Gradient of what was summed with these weights at every step: one product a sentence."""
    return jnp.einsum("tbs,tbw->bsw", weights, vectors)


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


def _key_slopes(
    vector: Array | None, sums: Sums | None, queries: Array, d_scores: Weights
) -> Float[Array, "batch source key"]:
    """Of an additive score what was added up, times v; of the others a product over the steps."""
    if vector is None:
        return _over_steps(d_scores, queries)
    return sums.keys * jnp.broadcast_to(vector, sums.keys.shape)


def _query_back(score: Score, scale: float, slope: Array) -> Float[Array, "batch hidden"]:
    """Slope of the state that the query was made of."""
    scaled = slope * scale
    return scaled if score.matrix is None else scaled @ score.matrix.T


def _reader_slopes(
    fixed: Fixed, reader: Reader, kept: Kept, step_slopes: Slopes, sums: Sums | None
) -> Reader:
    """Gradients of the parameters, a matrix's as one product over the steps."""
    hidden = kept.state[0]
    d_matrix = None
    if reader.score.matrix is not None:
        (d_matrix,) = matrix_slopes(hidden, (step_slopes.query * fixed.scale,))
    return Reader(
        recurrence_slopes(fixed.kind, reader.cell, hidden, step_slopes.products),
        matrix_slopes(kept.context, step_slopes.inputs),
        Score(d_matrix, None if sums is None else sums.vector),
    )


attended_states.defvjp(_forward, _backward)
