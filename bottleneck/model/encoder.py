"""The encoder: words in, memory out (LECTURE D: h_t, and the context c = h_Tx)."""

import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..settings.concerns import ModelSettings
from .attention import last_position
from .cells import dropout
from .recurrence import RecurrentLayer

Encoded = tuple[Float[Array, "batch source context"], Float[Array, "batch context"]]
_DROPOUT_PLACE = 100  # the decoder's places start at 200


class Encoder(nnx.Module):
    """Embedding, recurrent layers in one or both directions, a linear map to the context size.

    The map is there whenever the hidden size is set apart or there are two directions, in every arm
    alike; the lecture's own model has none.
    """

    def __init__(self, settings: ModelSettings, vocabulary: int, rngs: nnx.Rngs):
        self.rate, self.residual = settings.dropout, settings.residual
        self.two_way = settings.bidirectional
        init = nnx.initializers.normal(0.1)
        self.embedding = nnx.Param(init(rngs.params(), (vocabulary, settings.embedding_size)))
        directions = (False, True) if settings.bidirectional else (False,)
        width = settings.hidden * len(directions)
        sizes = [settings.embedding_size] + [width] * (settings.layers - 1)
        self.layers = nnx.List(
            [
                nnx.List(
                    [
                        RecurrentLayer(settings.cell, size, settings.hidden, backward, rngs)
                        for backward in directions
                    ]
                )
                for size in sizes
            ]
        )
        mapped = settings.bidirectional or settings.hidden_apart
        glorot = nnx.initializers.glorot_uniform()
        self.to_context = (
            nnx.Param(glorot(rngs.params(), (width, settings.context_size))) if mapped else None
        )

    def embed(self, source: Int[Array, "batch source"]) -> Float[Array, "batch source embedding"]:
        """Word vectors of the source tokens."""
        return self.embedding[...][source]

    def __call__(
        self,
        embedded: Float[Array, "batch source embedding"],
        mask: Bool[Array, "batch source"],
        key: PRNGKeyArray | None = None,
    ) -> Encoded:
        """Read word vectors: states at every position, and the one vector after the sentence."""
        values = dropout(embedded, self.rate, key, _DROPOUT_PLACE)
        lowest = [layer(values, mask) for layer in self.layers[0]]
        return self._from_lowest(jnp.concatenate(lowest, axis=-1), mask, key)

    def of_words(
        self,
        source: Int[Array, "batch source"],
        mask: Bool[Array, "batch source"],
        key: PRNGKeyArray | None = None,
    ) -> Encoded:
        """The same, of words, whose vectors are looked up here."""
        if self.rate > 0.0 and key is not None:
            return self(self.embed(source), mask, key)
        table = self.embedding[...]
        lowest = [layer.of_words(table, source, mask) for layer in self.layers[0]]
        return self._from_lowest(jnp.concatenate(lowest, axis=-1), mask, key)

    def _from_lowest(
        self,
        states: Float[Array, "batch source states"],
        mask: Bool[Array, "batch source"],
        key: PRNGKeyArray | None,
    ) -> Encoded:
        """The layers above the lowest, and the map to the context size."""
        values = dropout(states, self.rate, key, _DROPOUT_PLACE + 1)
        for place, directions in enumerate(self.layers[1:], start=1):
            joined = jnp.concatenate([layer(values, mask) for layer in directions], axis=-1)
            if self.residual:
                joined = joined + values
            values = dropout(joined, self.rate, key, _DROPOUT_PLACE + 1 + place)
        return self._map(values), self._map(self._after_all(values, mask))

    def _after_all(
        self, values: Float[Array, "batch source states"], mask: Bool[Array, "batch source"]
    ) -> Float[Array, "batch states"]:
        """What each direction holds once it has read every word: h_Tx, and backward h_1."""
        place = last_position(mask)[:, None, None]
        last = jnp.take_along_axis(values, place, axis=1)[:, 0]
        if not self.two_way:
            return last
        half = last.shape[-1] // 2
        return jnp.concatenate([last[:, :half], values[:, 0, half:]], axis=-1)

    def _map(self, states: Float[Array, "*rows hidden"]) -> Float[Array, "*rows context"]:
        return states if self.to_context is None else states @ self.to_context[...]
