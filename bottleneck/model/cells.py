"""Recurrent cells (LECTURE D; tanh RNN, GRU, LSTM) in two halves: what can be hoisted, and a step.

A cell's input enters through ``GateInput.project``, for all time steps in one product outside
the scan; only ``Cell.step`` runs once a time step. Gates are separate matrices: slicing them out
of one block keeps XLA's CPU backend from vectorising the loop.
"""

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float

GATES = {"rnn": 1, "gru": 3, "lstm": 4}

Gates = tuple[Float[Array, "*steps hidden"], ...]
State = tuple[Float[Array, "batch hidden"], ...]

_input_init = nnx.initializers.glorot_uniform()
_recurrent_init = nnx.initializers.orthogonal()


class GateInput(nnx.Module):
    """One input of a cell, mapped to every gate: ``W_g x`` (``+ b_g`` for the biased input)."""

    def __init__(self, size: int, hidden: int, gates: int, bias: bool, rngs: nnx.Rngs):
        self.weights = nnx.List(
            [nnx.Param(_input_init(rngs.params(), (size, hidden))) for _ in range(gates)]
        )
        biases = [nnx.Param(jnp.zeros(hidden)) for _ in range(gates)] if bias else []
        self.biases = nnx.List(biases)

    def project(self, inputs: Float[Array, "*steps size"]) -> Gates:
        """Gate inputs of shape (steps, hidden), one for each gate."""
        products = tuple(inputs @ weight[...] for weight in self.weights)
        if not self.biases:
            return products
        paired = zip(products, self.biases, strict=True)
        return tuple(add_bias(product, bias[...]) for product, bias in paired)


def add_bias(
    values: Float[Array, "*steps width"], bias: Float[Array, " width"]
) -> Float[Array, "*steps width"]:
    """Add a vector to the last axis (rank promotion is an error in the tests)."""
    return values + jnp.broadcast_to(bias, values.shape)


def add_gates(one: Gates, other: Gates) -> Gates:
    """Sum of two inputs' contributions, gate by gate."""
    return tuple(left + right for left, right in zip(one, other, strict=True))


class Cell(nnx.Module):
    """The recurrent half of a cell. ``state[0]`` is the hidden state h."""

    def __init__(self, kind: str, hidden: int, rngs: nnx.Rngs):
        self.kind = kind
        self.hidden = hidden
        self.weights = nnx.List(
            [
                nnx.Param(_recurrent_init(rngs.params(), (hidden, hidden)))
                for _ in range(GATES[kind])
            ]
        )
        # GRU: the candidate's recurrent bias sits inside the reset product; LSTM: the forget
        # gate starts open (Jozefowicz et al. 2015); the tanh RNN needs neither.
        start = jnp.ones(hidden) if kind == "lstm" else jnp.zeros(hidden)
        self.bias = nnx.Param(start) if kind != "rnn" else None

    def initial(self, hidden_state: Float[Array, "batch hidden"]) -> State:
        """The state that starts from a given h (an LSTM's cell starts at 0)."""
        if self.kind == "lstm":
            return (hidden_state, jnp.zeros_like(hidden_state))
        return (hidden_state,)

    def step(self, state: State, inputs: Gates) -> State:
        """One time step: the new state from the old one and the gate inputs."""
        return _STEPS[self.kind](self, state, inputs)


def _rnn_step(cell: Cell, state: State, inputs: Gates) -> State:
    """h' = tanh(x + U h): the lecture's cell (Elman 1990)."""
    (h,) = state
    return (jnp.tanh(inputs[0] + h @ cell.weights[0][...]),)


def _gru_step(cell: Cell, state: State, inputs: Gates) -> State:
    """Cho et al. 2014, with the reset gate after the product (cuDNN's form, which hoists)."""
    (h,) = state
    reset_in, update_in, new_in = inputs
    reset_u, update_u, new_u = (weight[...] for weight in cell.weights)
    reset = jax.nn.sigmoid(reset_in + h @ reset_u)
    update = jax.nn.sigmoid(update_in + h @ update_u)
    new = jnp.tanh(new_in + reset * add_bias(h @ new_u, cell.bias[...]))
    return (new + update * (h - new),)


def _lstm_step(cell: Cell, state: State, inputs: Gates) -> State:
    """Hochreiter and Schmidhuber 1997 with a forget gate (Gers et al. 2000)."""
    h, memory = state
    products = [given + h @ weight[...] for given, weight in zip(inputs, cell.weights, strict=True)]
    keep = jax.nn.sigmoid(add_bias(products[1], cell.bias[...]))
    memory = keep * memory + jax.nn.sigmoid(products[0]) * jnp.tanh(products[2])
    return (jax.nn.sigmoid(products[3]) * jnp.tanh(memory), memory)


_STEPS = {"rnn": _rnn_step, "gru": _gru_step, "lstm": _lstm_step}
