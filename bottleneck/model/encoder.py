"""The encoder: words in, memory out (the lecture's h_t, and the context c = h_Tx)."""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int

from ..settings.concerns import ModelSettings
from .recurrence import Cell, GateInput, Key, dropout, hidden_states


class Encoder(nnx.Module):
    """Embedding, recurrent layers, a linear map for two directions or if ``hidden_size`` is set."""

    def __init__(self, settings: ModelSettings, vocabulary: int, rngs: nnx.Rngs):
        self.rate = settings.dropout
        self.two_way, kind, hidden = settings.bidirectional, settings.cell, settings.hidden
        init = nnx.initializers.normal(0.1)
        self.embedding = nnx.Param(init(rngs.params(), (vocabulary, settings.embedding_size)))
        directions = 2 if self.two_way else 1
        width = hidden * directions
        sizes = [settings.embedding_size] + [width] * (settings.layers - 1)
        self.layers, self.to_context = nnx.List([]), nnx.data(None)
        for size in sizes:
            layer = nnx.List([])
            for _ in range(directions):
                inputs = GateInput(kind, size, hidden, rngs)
                layer.append(nnx.Dict(inputs=inputs, cell=Cell(kind, hidden, rngs)))
            self.layers.append(layer)
        if self.two_way or settings.hidden_size:
            glorot = nnx.initializers.glorot_uniform()
            self.to_context = nnx.Param(glorot(rngs.params(), (width, settings.context_size)))

    def __call__(
        self,
        source: Int[Array, "batch source"] | Float[Array, "batch source embedding"],
        mask: Bool[Array, "batch source"],
        key: Key = None,
    ) -> tuple[Float[Array, "batch source context"], Float[Array, "batch context"]]:
        """The state at every position, and h_Tx (backward: h_1); reads words or their vectors.

        h_0 is 0; on padding the last state is kept. The second direction reads backwards.
        """
        table, values = self.embedding[...], None
        if source.ndim == 2 and (self.rate == 0.0 or key is None):
            gates = [layer.inputs.project(table, source.T) for layer in self.layers[0]]
        else:
            embedded = table[source] if source.ndim == 2 else source
            steps = jnp.swapaxes(dropout(embedded, self.rate, key, 100), 0, 1)
            gates = [layer.inputs.project(steps) for layer in self.layers[0]]
        for place, layer in enumerate(self.layers):
            if place > 0:
                steps = jnp.swapaxes(values, 0, 1)
                gates = [direction.inputs.project(steps) for direction in layer]
            states = []
            for backward, (direction, entering) in enumerate(zip(layer, gates, strict=True)):
                cell, zeros = direction.cell, jnp.zeros_like(entering[0][0])
                start = (zeros, zeros) if cell.kind == "lstm" else (zeros,)
                state, _ = hidden_states(
                    cell.kind, cell.parameters(), start, entering, mask.T, None, backward == 1
                )
                states.append(jnp.swapaxes(state, 0, 1))
            joined = jnp.concatenate(states, axis=-1)
            values = dropout(joined, self.rate, key, 101 + place)
        position = jnp.sum(mask, axis=1, dtype=jnp.int32) - 1
        last = jnp.take_along_axis(values, position[:, None, None], axis=1)[:, 0]
        if self.two_way:
            half = last.shape[-1] // 2
            last = jnp.concatenate([last[:, :half], values[:, 0, half:]], axis=-1)
        if self.to_context is None:
            return values, last
        return values @ self.to_context[...], last @ self.to_context[...]
