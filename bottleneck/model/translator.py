"""The translator joins encoder and decoder; it knows nothing about text."""

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int

from ..settings.concerns import ModelSettings
from .attention import Memory
from .decoder import Decoder
from .encoder import Encoder
from .recurrence import Key

Weights = nnx.State  # the parameters of a translator as a pytree


class Translator(nnx.Module):
    """Maps source tokens to target tokens."""

    def __init__(
        self, settings: ModelSettings, source_words: int, target_words: int, rngs: nnx.Rngs
    ):
        self.encoder = Encoder(settings, source_words, rngs)
        self.decoder = Decoder(settings, target_words, rngs)

    def encode(
        self,
        source: Int[Array, "batch source"] | Float[Array, "batch source embedding"],
        lengths: Int[Array, " batch"],
        key: Key = None,
    ) -> Memory:
        """Encode the source (words or their vectors); padding after ``lengths`` has no effect."""
        mask = jnp.arange(source.shape[1])[None] < lengths[:, None]
        values, last = self.encoder(source, mask, key)
        return Memory(values, self.decoder.attention.keys(values), mask, last)

    def logits(
        self,
        source: Int[Array, "batch source"],
        lengths: Int[Array, " batch"],
        inputs: Int[Array, "batch target"],
        key: Key = None,
    ) -> tuple[Float[Array, "batch target vocabulary"], Float[Array, "batch target source"]]:
        """Teacher forcing: logits and attention weights at every position."""
        outputs, weights = self.decoder(inputs, self.encode(source, lengths, key), key)
        logits = self.decoder.output_layer().logits(outputs)
        return jnp.swapaxes(logits, 0, 1), jnp.swapaxes(weights, 0, 1)


def create(
    settings: ModelSettings, source_words: int, target_words: int, seed: int
) -> tuple[nnx.GraphDef, Weights]:
    """A fresh translator split into its structure and its weights, which ``nnx.merge`` joins."""
    rngs = nnx.Rngs(params=jax.random.key(seed))
    return nnx.split(Translator(settings, source_words, target_words, rngs))
