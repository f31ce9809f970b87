"""Recurrent cells (LECTURE D; tanh RNN, GRU, LSTM) in two halves: what can be hoisted, and a step.

A cell's input enters through ``GateInput.project``, for all time steps in one product outside
the scan; only ``Cell.step`` runs once a time step. Gates are separate matrices: slicing them out
of one block keeps XLA's CPU backend from vectorising the loop.

A step is a pure function of its products, with its gradient by hand. ``products`` are h U_g, one
for each gate, ``inputs`` all else that enters the gates. Between them lies arithmetic element by
element, so a step's gradient needs no product: those with the weights are taken once for all steps
(``recurrence``). Derivatives: sigmoid' = y (1 - y), tanh' = 1 - y^2.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

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
    gates: int
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
    "rnn": Step(_rnn_forward, _rnn_backward, 1, None),
    "gru": Step(_gru_forward, _gru_backward, 3, 2),
    "lstm": Step(_lstm_forward, _lstm_backward, 4, 1),
}


def advance(kind: str, weights: Recurrence, state: State, inputs: Gates) -> tuple[State, Gates]:
    """One step: the new state, and what its gradient needs."""
    step = STEPS[kind]
    products = [state[0] @ matrix for matrix in weights.matrices]
    if weights.bias is not None:
        product = products[step.biased]
        products[step.biased] = product + jnp.broadcast_to(weights.bias, product.shape)
    return step.forward(tuple(products), inputs, state)


class GateInput(nnx.Module):
    """One input of a cell, mapped to every gate: ``W_g x``, ``+ b_g`` where it is ``biased``."""

    def __init__(self, kind: str, size: int, hidden: int, rngs: nnx.Rngs, biased: bool = True):
        init, gates = nnx.initializers.glorot_uniform(), range(STEPS[kind].gates)
        self.weights = nnx.List([nnx.Param(init(rngs.params(), (size, hidden))) for _ in gates])
        self.biases = nnx.List([nnx.Param(jnp.zeros(hidden)) for _ in gates] if biased else [])

    def project(self, inputs: Float[Array, "*steps size"]) -> Gates:
        """Gate inputs of shape (steps, hidden), one for each gate."""
        products = tuple(inputs @ weight[...] for weight in self.weights)
        if not self.biases:
            return products
        # Rank promotion is an error in the tests.
        return tuple(
            product + jnp.broadcast_to(bias[...], product.shape)
            for product, bias in zip(products, self.biases, strict=True)
        )

    def of_words(
        self, table: Float[Array, "vocabulary size"], words: Int[Array, "*steps"]
    ) -> Gates:
        """Gate inputs of the words' vectors, (steps, hidden).

        Where a batch has more words than the vocabulary, the vectors of all are mapped once and
        then looked up.
        """
        if words.size <= len(table):
            return self.project(table[words])
        return tuple(mapped[words] for mapped in self.project(table))


class Cell(nnx.Module):
    """The recurrent half of a cell. ``state[0]`` is the hidden state h."""

    def __init__(self, kind: str, hidden: int, rngs: nnx.Rngs):
        self.kind, shape = kind, (hidden, hidden)
        init, gates = nnx.initializers.orthogonal(), range(STEPS[kind].gates)
        self.weights = nnx.List([nnx.Param(init(rngs.params(), shape)) for _ in gates])
        # GRU: the candidate's recurrent bias sits inside the reset product; LSTM: the forget
        # gate starts open (Jozefowicz et al. 2015); the tanh RNN needs neither.
        start = jnp.ones(hidden) if kind == "lstm" else jnp.zeros(hidden)
        self.bias = nnx.Param(start) if kind != "rnn" else None

    def initial(self, hidden_state: Float[Array, "batch hidden"]) -> State:
        """The state that starts from a given h (an LSTM's cell starts at 0)."""
        if self.kind == "lstm":
            return (hidden_state, jnp.zeros_like(hidden_state))
        return (hidden_state,)

    def parameters(self) -> Recurrence:
        """The arrays, free of the module."""
        bias = None if self.bias is None else self.bias[...]
        return Recurrence(tuple(matrix[...] for matrix in self.weights), bias)

    def step(self, state: State, inputs: Gates) -> State:
        """One time step: the new state from the old one and the gate inputs."""
        return advance(self.kind, self.parameters(), state, inputs)[0]


def dropout(
    values: Float[Array, "*shape"],
    rate: float,
    key: PRNGKeyArray | None,
    place: int,
    every_step: bool = False,
) -> Float[Array, "*shape"]:
    """Zero a share ``rate`` of the values and scale up the rest (Srivastava et al. 2014).

    ``place`` numbers the call within the network, so that each has its own random numbers.
    ``every_step`` drops the same along the first axis (Gal and Ghahramani 2016).
    """
    if key is None or rate == 0.0:
        return values
    shape = values.shape[1:] if every_step else values.shape
    kept = jax.random.bernoulli(jax.random.fold_in(key, place), 1.0 - rate, shape)
    kept = jnp.broadcast_to(kept, values.shape)
    return jnp.where(kept, values / (1.0 - rate), 0.0)
