"""A recurrent layer over a sentence: hoisted input product, one scan, no trace of padding."""

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float

from .cells import GATES, Cell, GateInput, State


def keep_where(mask: Bool[Array, " batch"], new: State, old: State) -> State:
    """The new state on real positions, the old one on padding."""
    pairs = zip(new, old, strict=True)
    return tuple(jnp.where(mask[:, None], fresh, stale) for fresh, stale in pairs)


class RecurrentLayer(nnx.Module):
    """One direction of one encoder layer, h_0 = 0."""

    def __init__(self, kind: str, size: int, hidden: int, backward: bool, rngs: nnx.Rngs):
        self.inputs = GateInput(size, hidden, GATES[kind], bias=True, rngs=rngs)
        self.cell = Cell(kind, hidden, rngs)
        self.backward = backward

    def __call__(
        self, inputs: Float[Array, "batch source size"], mask: Bool[Array, "batch source"]
    ) -> Float[Array, "batch source hidden"]:
        """The state after each word, in reading order; on padding the last one stands."""
        steps_first = jnp.swapaxes(inputs, 0, 1)
        start = self.cell.initial(jnp.zeros((inputs.shape[0], self.cell.hidden), inputs.dtype))

        def step(state: State, at: tuple) -> tuple[State, Array]:
            gates, real = at
            state = keep_where(real, self.cell.step(state, gates), state)
            return state, state[0]

        scanned = (self.inputs.project(steps_first), mask.T)
        states = jax.lax.scan(step, start, scanned, reverse=self.backward)[1]
        return jnp.swapaxes(states, 0, 1)
