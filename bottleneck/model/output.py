"""The output layer's parameters."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class OutputLayer(NamedTuple):
    """W_o and b_o."""

    matrix: Float[Array, "hidden vocabulary"]
    bias: Float[Array, " vocabulary"]

    def logits(self, states: Float[Array, "*steps hidden"]) -> Float[Array, "*steps vocabulary"]:
        """W_o s + b_o."""
        product = states @ self.matrix
        return product + jnp.broadcast_to(self.bias, product.shape)
