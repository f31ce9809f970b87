"""The output layer: from what it reads to a number for each word."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class OutputLayer(NamedTuple):
    """W_o and b_o. Tied, W_o is the target embedding turned over, and reads at its width."""

    matrix: Float[Array, "width vocabulary"]
    bias: Float[Array, " vocabulary"]

    def logits(self, states: Float[Array, "*steps width"]) -> Float[Array, "*steps vocabulary"]:
        """W_o s + b_o."""
        product = states @ self.matrix
        return product + jnp.broadcast_to(self.bias, product.shape)
