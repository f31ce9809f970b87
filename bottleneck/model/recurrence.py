"""Recurrent cells (tanh RNN, GRU, LSTM) over all steps, with or without attention reads.

A cell's input enters through ``GateInput.project``, for all time steps in one product outside
the scan; only ``advance`` runs once per time step. Gates are separate matrices: slicing them out
of one block keeps XLA's CPU backend from vectorising the loop.

The gradient is written by hand. Autodiff of the scan would add to the gradient of every weight
matrix at every step. Here the backward scan only collects the gradients of the products h U_g; then
one product over all steps gives a matrix's gradient. The additive score's tanh layer is computed
again, not kept.
"""

from functools import partial, reduce
from operator import add
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from .attention import Memory, Score, masked_softmax

Gates = tuple[Float[Array, "*steps hidden"], ...]
State = tuple[Float[Array, "batch hidden"], ...]
Key = PRNGKeyArray | None  # for dropout; None: nothing is dropped
# The number of gates, and the gate whose product has the recurrent bias.
GATES = {"rnn": (1, None), "gru": (3, 2), "lstm": (4, 1)}


class Parameters(NamedTuple):
    """U_g of each gate, and one bias; for a read also each gate's context matrix and a score."""

    matrices: tuple[Float[Array, "hidden hidden"], ...]
    bias: Float[Array, " hidden"] | None
    context: tuple[Float[Array, "context hidden"], ...] = ()
    score: Score = Score(None, None)


def advance(kind: str, weights: Parameters, state: State, inputs: Gates) -> tuple[State, Gates]:
    """One step: the new state, and what `step_gradients` needs; ``inputs`` are W_g x + b_g.

    RNN (Elman 1990): h' = tanh(x + U h). GRU (Cho et al. 2014) with the reset gate after the
    product (cuDNN's form). LSTM with a forget gate (Gers et al. 2000).
    """
    products = [state[0] @ matrix for matrix in weights.matrices]
    if weights.bias is not None:
        biased = GATES[kind][1]
        products[biased] += jnp.broadcast_to(weights.bias, products[biased].shape)
    if kind == "rnn":
        new = jnp.tanh(inputs[0] + products[0])
        return (new,), (new,)
    if kind == "gru":
        reset = jax.nn.sigmoid(inputs[0] + products[0])
        update = jax.nn.sigmoid(inputs[1] + products[1])
        new = jnp.tanh(inputs[2] + reset * products[2])
        return (new + update * (state[0] - new),), (reset, update, new, products[2])
    sums = [given + product for given, product in zip(inputs, products, strict=True)]
    enter, keep, leave = (jax.nn.sigmoid(sums[gate]) for gate in (0, 1, 3))
    new = jnp.tanh(sums[2])
    memory = keep * state[1] + enter * new
    bounded = jnp.tanh(memory)
    return (leave * bounded, memory), (enter, keep, new, leave, bounded)


def step_gradients(
    kind: str, kept: Gates, state: State, gradient: State
) -> tuple[Gates, Gates, State]:
    """Gradients of a step's inputs, its products, and its old state except through these."""
    if kind == "rnn":
        before = gradient[0] * (1 - kept[0] ** 2)
        return (before,), (before,), (jnp.zeros_like(state[0]),)
    if kind == "gru":
        reset, update, new, product = kept
        d_new = gradient[0] * (1 - update) * (1 - new**2)
        d_update = gradient[0] * (state[0] - new) * update * (1 - update)
        d_reset = d_new * product * reset * (1 - reset)
        products = (d_reset, d_update, d_new * reset)
        return (d_reset, d_update, d_new), products, (gradient[0] * update,)
    enter, keep, new, leave, bounded = kept
    d_memory = gradient[1] + gradient[0] * leave * (1 - bounded**2)
    sums = (
        d_memory * new * enter * (1 - enter),
        d_memory * state[1] * keep * (1 - keep),
        d_memory * enter * (1 - new**2),
        gradient[0] * bounded * leave * (1 - leave),
    )
    return sums, sums, (jnp.zeros_like(gradient[0]), d_memory * keep)


class GateInput(nnx.Module):
    """One input of a cell, mapped to every gate: ``W_g x``, plus ``b_g`` if ``biased``."""

    def __init__(self, kind: str, size: int, hidden: int, rngs: nnx.Rngs, biased: bool = True):
        init, gates = nnx.initializers.glorot_uniform(), range(GATES[kind][0])
        self.weights = nnx.List([nnx.Param(init(rngs.params(), (size, hidden))) for _ in gates])
        self.biases = nnx.List([nnx.Param(jnp.zeros(hidden)) for _ in gates] if biased else [])

    def project(
        self, inputs: Float[Array, "*rows size"], words: Int[Array, "*steps"] | None = None
    ) -> Gates:
        """Gate inputs of shape (steps, hidden), one for each gate.

        If there are ``words``, they are those of the rows of ``inputs`` with these numbers; a batch
        with more words than rows maps each row once.
        """
        if words is not None and words.size <= len(inputs):
            inputs, words = inputs[words], None
        gates = tuple(inputs @ weight[...] for weight in self.weights)
        if self.biases:
            pairs = zip(gates, self.biases, strict=True)
            gates = tuple(gate + jnp.broadcast_to(bias[...], gate.shape) for gate, bias in pairs)
        return gates if words is None else tuple(gate[words] for gate in gates)


class Cell(nnx.Module):
    """The recurrent half of a cell. ``state[0]`` is the hidden state h."""

    def __init__(self, kind: str, hidden: int, rngs: nnx.Rngs):
        self.kind, shape = kind, (hidden, hidden)
        init, gates = nnx.initializers.orthogonal(), range(GATES[kind][0])
        self.weights = nnx.List([nnx.Param(init(rngs.params(), shape)) for _ in gates])
        # An LSTM's forget gate starts open (Jozefowicz et al. 2015).
        start = jnp.ones(hidden) if kind == "lstm" else jnp.zeros(hidden)
        self.bias = nnx.Param(start) if kind != "rnn" else None

    def parameters(self) -> Parameters:
        """The parameters as arrays, without the module."""
        bias = None if self.bias is None else self.bias[...]
        return Parameters(tuple(matrix[...] for matrix in self.weights), bias)


def dropout(
    values: Float[Array, "*shape"], rate: float, key: Key, place: int, every_step: bool = False
) -> Float[Array, "*shape"]:
    """Zero a share ``rate`` of the values and scale up the rest (Srivastava et al. 2014).

    ``place`` numbers the call within the network (the encoder's from 100, the decoder's from 200),
    for different random numbers. ``every_step`` drops the same values along the first axis (Gal and
    Ghahramani 2016).
    """
    if key is None or rate == 0.0:
        return values
    shape = values.shape[1:] if every_step else values.shape
    kept = jax.random.bernoulli(jax.random.fold_in(key, place), 1.0 - rate, shape)
    kept = jnp.broadcast_to(kept, values.shape)
    return jnp.where(kept, values / (1.0 - rate), 0.0)


@partial(jax.custom_vjp, nondiff_argnums=(0, 6, 7))
def hidden_states(
    kind: str,
    parameters: Parameters,
    start: State,
    inputs: Gates,
    mask: Bool[Array, "steps batch"] | None,
    memory: Memory | None,
    reverse: bool = False,
    scale: float = 1.0,
) -> tuple[Float[Array, "steps batch hidden"], Float[Array, "steps batch source"] | None]:
    """The hidden state after every step, and the attention weights of every read.

    ``inputs`` are those of each gate without the context. Where ``mask`` is false, the last state
    is kept. If there is a ``memory``, it is read before every step.
    """
    return _forward(kind, parameters, start, inputs, mask, memory, reverse, scale, keep=False)[0]


def _forward(kind, parameters, start, inputs, mask, memory, reverse, scale, keep=True) -> tuple:
    """The result, and what the gradient needs, from each step only if ``keep``."""

    def step(state: State, at: tuple) -> tuple[State, tuple]:
        gates, real = at
        query = weights = context = None
        if memory is not None:
            query = parameters.score.query(state[0], scale)
            weights = masked_softmax(parameters.score.of(query, memory.keys), memory.mask)
            context = jnp.einsum("bs,bsc->bc", weights, memory.values)
            pairs = zip(gates, parameters.context, strict=True)
            gates = tuple(given + context @ matrix for given, matrix in pairs)
        new, cell = advance(kind, parameters, state, gates)
        if real is not None:
            pairs = zip(new, state, strict=True)
            new = tuple(jnp.where(real[:, None], value, old) for value, old in pairs)
        return new, (new[0], weights, (state, cell, query, context) if keep else None)

    states, weights, kept = jax.lax.scan(step, start, (inputs, mask), reverse=reverse)[1]
    return (states, weights), (parameters, kept, weights, mask, memory)


def _backward(
    kind: str, reverse: bool, scale: float, saved: tuple, gradients: tuple[Array, Array | None]
) -> tuple:
    parameters, kept, all_weights, mask, memory = saved
    states, _, queries, contexts = kept
    score = parameters.score
    zero = tuple(jnp.zeros_like(leaf[0]) for leaf in states)

    def step(carry: tuple, at: tuple) -> tuple[tuple, tuple]:
        later, sums = carry
        direct, d_weights, (state, cell, query, _), weights, real = at
        arrived = d_new = (later[0] + direct, *later[1:])
        if real is not None:  # on padding the gradient passes by the cell
            pairs = [*zip(arrived, zero, strict=True)]
            d_new = tuple(jnp.where(real[:, None], value, nothing) for value, nothing in pairs)
            passed = tuple(jnp.where(real[:, None], nothing, value) for value, nothing in pairs)
        d_inputs, d_products, d_old = step_gradients(kind, cell, state, d_new)
        pairs, d_read = zip(d_products, parameters.matrices, strict=True), None
        d_state = d_old[0] + reduce(add, [gradient @ matrix.T for gradient, matrix in pairs])
        if memory is not None:
            pairs = zip(d_inputs, parameters.context, strict=True)
            d_context = reduce(add, [gradient @ matrix.T for gradient, matrix in pairs])
            through = d_weights + jnp.einsum("bc,bsc->bs", d_context, memory.values)
            through = weights * through
            d_scores = through - weights * jnp.sum(through, axis=1, keepdims=True)
            if score.vector is None:
                d_query = jnp.einsum("bs,bsk->bk", d_scores, memory.keys)
            else:
                spread = jnp.broadcast_to(query[:, None, :], memory.keys.shape)
                # Both are used twice; without the barriers XLA computes them twice.
                layer = jax.lax.optimization_barrier(jnp.tanh(memory.keys + spread))
                gradient = jax.lax.optimization_barrier(d_scores[:, :, None] * (1 - layer**2))
                d_query = jnp.sum(gradient, axis=1) * jnp.broadcast_to(score.vector, query.shape)
                d_vector = jnp.einsum("bs,bsk->k", d_scores, layer)
                sums = sums[0] + gradient, sums[1] + d_vector
            scaled = d_query * scale
            d_state = d_state + (scaled if score.matrix is None else scaled @ score.matrix.T)
            d_read = d_query, d_scores, d_context
        earlier = (d_state, *d_old[1:])
        if real is not None:
            earlier = tuple(value + other for value, other in zip(earlier, passed, strict=True))
        return (earlier, sums), (d_inputs, d_products, d_read)

    # No product gives the gradients of an additive score's keys (before the factor v) and of v:
    # each step adds its part.
    additive = memory is not None and score.vector is not None
    sums = (jnp.zeros_like(memory.keys), jnp.zeros_like(score.vector)) if additive else None
    (first, sums), (inputs, products, read) = jax.lax.scan(
        step, (zero, sums), (*gradients, kept, all_weights, mask), reverse=not reverse
    )
    # Gradient of a matrix, from the inputs and the product gradients of all steps.
    over_steps = partial(jnp.tensordot, axes=((0, 1), (0, 1)))
    d_parameters = Parameters(tuple(over_steps(states[0], gradient) for gradient in products), None)
    if parameters.bias is not None:
        d_parameters = d_parameters._replace(bias=jnp.sum(products[GATES[kind][1]], axis=(0, 1)))
    if memory is None:
        return d_parameters, first, inputs, None, None
    d_query, d_scores, d_context = read
    d_matrix = None if score.matrix is None else over_steps(states[0], d_query * scale)
    if additive:
        d_vector, d_keys = sums[1], sums[0] * jnp.broadcast_to(score.vector, sums[0].shape)
    else:
        d_vector, d_keys = None, jnp.einsum("tbs,tbk->bsk", d_scores, queries)
    d_values = jnp.einsum("tbs,tbc->bsc", all_weights, d_context)
    entry = tuple(over_steps(contexts, gradient) for gradient in inputs)
    d_parameters = d_parameters._replace(context=entry, score=Score(d_matrix, d_vector))
    d_memory = Memory(d_values, d_keys, None, jnp.zeros_like(memory.last))
    return d_parameters, first, inputs, None, d_memory


hidden_states.defvjp(_forward, _backward)
