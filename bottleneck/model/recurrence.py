"""A recurrent layer over a sentence: one scan, its weight gradients one product each.

Autodiff of the scan would add to the gradient of every weight matrix at every step. Here the scan
back only collects the slopes of the products, and the gradient of a matrix is then one product
over all steps. The tests hold it equal to autodiff of the plain scan.
"""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int

from .cells import GATES, STEPS, Cell, GateInput, Gates, Matrices, Recurrence, State, advance

Mask = Bool[Array, "steps batch"] | None


def back_through(slopes: Gates, matrices: Matrices) -> Float[Array, "batch from"]:
    """Slope of what entered products with these matrices."""
    parts = [slope @ matrix.T for slope, matrix in zip(slopes, matrices, strict=True)]
    return sum(parts[1:], parts[0])


def matrix_slopes(entered: Float[Array, "steps batch from"], slopes: Gates) -> Matrices:
    """Gradients of matrices from what entered at every step, and the products' slopes."""
    return tuple(jnp.tensordot(entered, slope, ((0, 1), (0, 1))) for slope in slopes)


def recurrence_slopes(
    kind: str, weights: Recurrence, entered: Float[Array, "steps batch hidden"], slopes: Gates
) -> Recurrence:
    """Gradient of a cell's parameters from the states that entered and its products' slopes."""
    bias = None if weights.bias is None else jnp.sum(slopes[STEPS[kind].biased], axis=(0, 1))
    return Recurrence(matrix_slopes(entered, slopes), bias)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def hidden_states(
    kind: str, reverse: bool, weights: Recurrence, start: State, inputs: Gates, mask: Mask
) -> Float[Array, "steps batch hidden"]:
    """The hidden state after every step; on padding (``mask`` false) the last one stands.

    Args:
        kind: rnn, gru or lstm.
        reverse: from the last step to the first.
        weights: the cell's parameters.
        start: the state before the first step.
        inputs: what enters each gate, (steps, batch, hidden).
        mask: true on real positions; None where all are.
    """

    def step(state: State, at: tuple) -> tuple[State, Array]:
        new = _masked(advance(kind, weights, state, at[0])[0], state, at[1])
        return new, new[0]

    return jax.lax.scan(step, start, (inputs, mask), reverse=reverse)[1]


def _masked(new: State, old: State, real: Bool[Array, " batch"] | None) -> State:
    """The new state on real positions, the old one on padding."""
    if real is None:
        return new
    return tuple(
        jnp.where(real[:, None], fresh, stale) for fresh, stale in zip(new, old, strict=True)
    )


def _forward(
    kind: str, reverse: bool, weights: Recurrence, start: State, inputs: Gates, mask: Mask
) -> tuple[Array, tuple]:
    def step(state: State, at: tuple) -> tuple[State, tuple]:
        new, kept = advance(kind, weights, state, at[0])
        new = _masked(new, state, at[1])
        return new, (new[0], state, kept)

    states, entered, kept = jax.lax.scan(step, start, (inputs, mask), reverse=reverse)[1]
    return states, (weights, entered, kept, mask)


def _backward(kind: str, reverse: bool, residuals: tuple, slope: Array) -> tuple:
    weights, entered, kept, mask = residuals
    zero = tuple(jnp.zeros_like(leaf[0]) for leaf in entered)

    def step(later: State, at: tuple) -> tuple[State, tuple]:
        direct, state, saved, real = at
        arrived = (later[0] + direct, *later[1:])
        slopes = STEPS[kind].backward(saved, state, _masked(arrived, zero, real))
        through = back_through(slopes.products, weights.matrices)
        earlier = (slopes.state[0] + through, *slopes.state[1:])
        passed = _masked(zero, arrived, real) if real is not None else zero
        earlier = tuple(value + other for value, other in zip(earlier, passed, strict=True))
        return earlier, (slopes.inputs, slopes.products)

    first, (inputs, products) = jax.lax.scan(
        step, zero, (slope, entered, kept, mask), reverse=not reverse
    )
    return recurrence_slopes(kind, weights, entered[0], products), first, inputs, None


hidden_states.defvjp(_forward, _backward)


class RecurrentLayer(nnx.Module):
    """One direction of one encoder layer, h_0 = 0."""

    def __init__(self, kind: str, size: int, hidden: int, backward: bool, rngs: nnx.Rngs):
        self.inputs = GateInput(size, hidden, GATES[kind], bias=True, rngs=rngs)
        self.cell = Cell(kind, hidden, rngs)
        self.backward = backward

    def __call__(
        self, inputs: Float[Array, "batch source size"], mask: Bool[Array, "batch source"]
    ) -> Float[Array, "batch source hidden"]:
        """The state after each place, in reading order; on padding the last one stands."""
        return self.run(self.inputs.project(jnp.swapaxes(inputs, 0, 1)), mask)

    def of_words(
        self,
        table: Float[Array, "vocabulary size"],
        words: Int[Array, "batch source"],
        mask: Bool[Array, "batch source"],
    ) -> Float[Array, "batch source hidden"]:
        """The same, of words."""
        return self.run(self.inputs.of_words(table, words.T), mask)

    def run(
        self, gates: Gates, mask: Bool[Array, "batch source"]
    ) -> Float[Array, "batch source hidden"]:
        """The states, given what enters the gates, (source, batch, hidden)."""
        start = self.cell.initial(jnp.zeros_like(gates[0][0]))
        states = hidden_states(
            self.cell.kind, self.backward, self.cell.parameters(), start, gates, mask.T
        )
        return jnp.swapaxes(states, 0, 1)
