"""Recurrent cells (LECTURE D; tanh RNN, GRU, LSTM) in two halves: what can be hoisted, and a step.

A cell's input enters through ``GateInput.project``, for all time steps in one product outside
the scan; only ``Cell.step`` runs once a time step. Gates are separate matrices: slicing them out
of one block keeps XLA's CPU backend from vectorising the loop.
"""

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .steps import GATES, Gates, Recurrence, State, advance

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
