"""The decoder: a recurrent language model that reads a context at every step.

Placement ``input`` (Bahdanau): score with s_(t-1), feed c_t to the cell. Placement ``output``
(Luong, eq. 5): run the cell without c_t, score with s_t, join [c_t; s_t] by a tanh layer. In both,
``none`` uses the constant c instead of c_t. A tied output layer (Press and Wolf 2017) maps the
state to the embedding's width and multiplies it by the embedding.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int

from ..settings.concerns import ModelSettings
from .attention import Memory, make_attention
from .recurrence import Cell, GateInput, Gates, Key, State, advance, dropout, hidden_states


class OutputLayer(NamedTuple):
    """W_o and b_o. If tied, W_o is the transposed target embedding."""

    matrix: Float[Array, "width vocabulary"]
    bias: Float[Array, " vocabulary"]

    def logits(self, states: Float[Array, "*steps width"]) -> Float[Array, "*steps vocabulary"]:
        """W_o s + b_o."""
        product = states @ self.matrix
        return product + jnp.broadcast_to(self.bias, product.shape)


States = tuple[State, ...]  # one per layer, the lowest first


class Decoder(nnx.Module):
    """Embedding, recurrent layers, attention and the output layer."""

    def __init__(self, settings: ModelSettings, vocabulary: int, rngs: nnx.Rngs):
        hidden, context, kind = settings.hidden, settings.context_size, settings.cell
        self.placement = settings.placement
        self.rate, self.start_at_zero = settings.dropout, settings.initial_state == "zero"
        embedding, spread = settings.embedding_size, 0.1
        normal, glorot = nnx.initializers.normal, nnx.initializers.glorot_uniform()
        self.embedding = nnx.Param(normal(spread)(rngs.params(), (vocabulary, embedding)))
        sizes = [embedding] + [hidden] * (settings.layers - 1)
        self.inputs = nnx.List([GateInput(kind, size, hidden, rngs) for size in sizes])
        self.cells = nnx.List([Cell(kind, hidden, rngs) for _ in sizes])
        self.to_hidden = self.join = self.output = self.to_embedding = nnx.data(None)
        self.context_input = nnx.data(None)
        if settings.hidden_size:
            self.to_hidden = nnx.Param(glorot(rngs.params(), (context, hidden)))
        if self.placement == "input":
            self.context_input = nnx.data(GateInput(kind, context, hidden, rngs, biased=False))
        else:
            self.join = nnx.Param(glorot(rngs.params(), (context + hidden, hidden)))
        if settings.tied_output:
            # With this deviation a logit varies as much as a unit of the state does, for all sizes:
            # the softmax starts near uniform and the loss near log V, as without tying.
            deviation = 1 / (spread * (hidden * embedding) ** 0.5)
            self.to_embedding = nnx.Param(normal(deviation)(rngs.params(), (hidden, embedding)))
        else:
            self.output = nnx.Param(glorot(rngs.params(), (hidden, vocabulary)))
        self.output_bias = nnx.Param(jnp.zeros(vocabulary))
        # Drawn last, so that all arms start with the same values of the parameters they share.
        self.attention = make_attention(
            settings.attention, hidden, context, settings.attention_width, rngs
        )

    def initial(self, memory: Memory) -> States:
        """s_0 = c, or tanh(W c) if ``hidden_size`` is set; 0 if ``initial_state`` is zero."""
        start = memory.last
        if self.to_hidden is not None:
            start = jnp.tanh(start @ self.to_hidden[...])
        if self.start_at_zero:
            start = jnp.zeros_like(start)
        # An LSTM's memory starts at 0.
        state = (start, jnp.zeros_like(start)) if self.cells[0].kind == "lstm" else (start,)
        return (state,) * len(self.cells)

    def output_layer(self) -> OutputLayer:
        """W_o and b_o."""
        matrix = self.embedding[...].T if self.output is None else self.output[...]
        return OutputLayer(matrix, self.output_bias[...])

    def advance(
        self, states: States, token: Int[Array, " batch"], memory: Memory, key: Key = None
    ) -> tuple[States, Float[Array, "batch width"], Float[Array, "batch source"]]:
        """One word: new states, what the output layer reads, attention weights."""
        embedded = dropout(self.embedding[...][token], self.rate, key, 200)
        gates, context = self.inputs[0].project(embedded), None
        if self.placement == "input":
            states, (output, weights) = self._run(states, gates, key, memory)
        else:
            states, (output, _) = self._run(states, gates, key)
            context, weights = self.attention.read(output, memory)
        return states, self._read_out(output, context, key), weights

    def __call__(
        self, inputs: Int[Array, "batch target"], memory: Memory, key: Key = None
    ) -> tuple[Float[Array, "target batch width"], Float[Array, "target batch source"]]:
        """Teacher forcing: what the output layer reads, and attention weights; steps are axis 0."""
        if self.rate > 0.0 and key is not None:
            embedded = dropout(self.embedding[...][inputs], self.rate, key, 200)
            gates = self.inputs[0].project(jnp.swapaxes(embedded, 0, 1))
        else:
            gates = self.inputs[0].project(self.embedding[...], inputs.T)
        context = None
        constant = self.attention.constant
        if self.placement == "input" and constant:
            weights = self.attention.read_all(gates[0], memory).weights
            # The context never changes: it enters once, outside the scan.
            entry = self.context_input.project(self.attention.read(gates[0][0], memory).context)
            pairs = zip(gates, entry, strict=True)
            gates = tuple(gate + jnp.broadcast_to(add, gate.shape) for gate, add in pairs)
        if self.placement == "output" or constant:
            # No read is in the recurrence: all steps of a layer, then of the next.
            layers = zip(self.cells, self.initial(memory), strict=True)
            for place, (cell, start) in enumerate(layers):
                if place > 0:
                    below = dropout(outputs, self.rate, key, 201 + place, True)
                    gates = self.inputs[place].project(below)
                outputs, _ = hidden_states(cell.kind, cell.parameters(), start, gates, None, None)
            if self.placement == "output":
                context, weights = self.attention.read_all(outputs, memory)
        elif len(self.cells) == 1 and self.attention.plain:
            cell, start = self.cells[0], self.initial(memory)[0]
            entry = tuple(matrix[...] for matrix in self.context_input.weights)
            parameters = cell.parameters()._replace(context=entry, score=self.attention.score())
            outputs, weights = hidden_states(
                cell.kind, parameters, start, gates, None, memory, scale=self.attention.scale
            )
        else:
            # Step by step: the input of the lowest layer needs the state of the highest.
            step = jax.checkpoint(lambda states, at: self._run(states, at, key, memory))
            outputs, weights = jax.lax.scan(step, self.initial(memory), gates)[1]
        return self._read_out(outputs, context, key), weights

    def _read_out(
        self, outputs: Float[Array, "*steps hidden"], context: Array | None, key: Key
    ) -> Float[Array, "*steps width"]:
        """What the output layer reads; with placement ``output`` tanh(W [c_t; s_t])."""
        if context is not None:
            outputs = jnp.tanh(jnp.concatenate([context, outputs], axis=-1) @ self.join[...])
        kept = dropout(outputs, self.rate, key, 201)
        return kept if self.to_embedding is None else kept @ self.to_embedding[...]

    def _run(
        self, states: States, gates: Gates, key: Key, memory: Memory | None = None
    ) -> tuple[States, tuple[Float[Array, "batch hidden"], Float[Array, "batch source"] | None]]:
        """One step of all layers, after a read of ``memory``: new states, top output, weights."""
        weights = None
        if memory is not None:
            context, weights = self.attention.read(states[-1][0], memory)
            parts = self.context_input.project(context)
            gates = tuple(word + part for word, part in zip(gates, parts, strict=True))
        new, below = [], None
        for place, (cell, state) in enumerate(zip(self.cells, states, strict=True)):
            if place > 0:
                # The same units are dropped at every step of a sentence (Gal and Ghahramani 2016).
                below = dropout(below, self.rate, key, 201 + place)
                gates = self.inputs[place].project(below)
            new.append(advance(cell.kind, cell.parameters(), state, gates)[0])
            below = new[-1][0]
        return tuple(new), (below, weights)
