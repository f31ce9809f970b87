"""One step of each cell as a pure function of its products, and its gradient by hand.

``products`` are h U_g, one for each gate, ``inputs`` all else that enters the gates. Between them
lies arithmetic element by element, so a step's gradient needs no product: those with the weights
are taken once for all steps (``recurrence``). Derivatives: sigmoid' = y (1 - y), tanh' = 1 - y^2.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Gates = tuple[Float[Array, "*steps hidden"], ...]
State = tuple[Float[Array, "batch hidden"], ...]
Matrices = tuple[Float[Array, "from to"], ...]


class Recurrence(NamedTuple):
    """A cell's parameters: U_g for each gate, and the bias of one of the products."""

    matrices: Matrices
    bias: Float[Array, " hidden"] | None


class Slopes(NamedTuple):
    """Gradients with respect to a step's inputs, its products and, but for those, its old state."""

    inputs: Gates
    products: Gates
    state: State


class Step(NamedTuple):
    """A cell's arithmetic; ``biased`` is the gate whose product has the recurrent bias.

    ``forward(products, inputs, state) -> new state, kept``; ``backward(kept, state, slope of the
    new state) -> Slopes``.
    """

    forward: Callable[[Gates, Gates, State], tuple[State, Gates]]
    backward: Callable[[Gates, State, State], Slopes]
    biased: int | None


def _rnn_forward(products: Gates, inputs: Gates, state: State) -> tuple[State, Gates]:  # noqa: ARG001
    """h' = tanh(x + U h): the lecture's cell (Elman 1990)."""
    new = jnp.tanh(inputs[0] + products[0])
    return (new,), (new,)


def _rnn_backward(kept: Gates, state: State, slope: State) -> Slopes:
    before = slope[0] * (1 - kept[0] ** 2)
    return Slopes((before,), (before,), (jnp.zeros_like(state[0]),))


def _gru_forward(products: Gates, inputs: Gates, state: State) -> tuple[State, Gates]:
    """Cho et al. 2014, with the reset gate after the product (cuDNN's form, which hoists)."""
    (h,) = state
    reset = jax.nn.sigmoid(inputs[0] + products[0])
    update = jax.nn.sigmoid(inputs[1] + products[1])
    new = jnp.tanh(inputs[2] + reset * products[2])
    return (new + update * (h - new),), (reset, update, new, products[2])


def _gru_backward(kept: Gates, state: State, slope: State) -> Slopes:
    reset, update, new, product = kept
    d_new = slope[0] * (1 - update) * (1 - new**2)
    d_update = slope[0] * (state[0] - new) * update * (1 - update)
    d_reset = d_new * product * reset * (1 - reset)
    products = (d_reset, d_update, d_new * reset)
    return Slopes((d_reset, d_update, d_new), products, (slope[0] * update,))


def _lstm_forward(products: Gates, inputs: Gates, state: State) -> tuple[State, Gates]:
    """Hochreiter and Schmidhuber 1997 with a forget gate (Gers et al. 2000)."""
    sums = [given + product for given, product in zip(inputs, products, strict=True)]
    enter, keep, leave = (jax.nn.sigmoid(sums[gate]) for gate in (0, 1, 3))
    new = jnp.tanh(sums[2])
    memory = keep * state[1] + enter * new
    bounded = jnp.tanh(memory)
    return (leave * bounded, memory), (enter, keep, new, leave, bounded)


def _lstm_backward(kept: Gates, state: State, slope: State) -> Slopes:
    enter, keep, new, leave, bounded = kept
    d_memory = slope[1] + slope[0] * leave * (1 - bounded**2)
    sums = (
        d_memory * new * enter * (1 - enter),
        d_memory * state[1] * keep * (1 - keep),
        d_memory * enter * (1 - new**2),
        slope[0] * bounded * leave * (1 - leave),
    )
    return Slopes(sums, sums, (jnp.zeros_like(slope[0]), d_memory * keep))


STEPS = {
    "rnn": Step(_rnn_forward, _rnn_backward, None),
    "gru": Step(_gru_forward, _gru_backward, 2),
    "lstm": Step(_lstm_forward, _lstm_backward, 1),
}
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def advance(kind: str, weights: Recurrence, state: State, inputs: Gates) -> tuple[State, Gates]:
    """One step: the new state, and what its gradient needs."""
    step = STEPS[kind]
    products = [state[0] @ matrix for matrix in weights.matrices]
    if weights.bias is not None:
        product = products[step.biased]
        products[step.biased] = product + jnp.broadcast_to(weights.bias, product.shape)
    return step.forward(tuple(products), inputs, state)
