"""Dropout as a pure function: no key, no dropout."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


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
