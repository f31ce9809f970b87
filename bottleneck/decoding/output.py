"""What a search returns, and the cap on its length."""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..settings.concerns import DecodingSettings
from ..settings.symbols import EOS, PAD


class Output(NamedTuple):
    """One output a sentence; ``lengths`` count the end token where there is one."""

    tokens: Int[Array, "batch steps"]
    lengths: Int[Array, " batch"]
    finished: Bool[Array, " batch"]
    log_probability: Float[Array, " batch"]


def caps(
    source_lengths: Int[Array, " batch"], width: int, settings: DecodingSettings
) -> Int[Array, " batch"]:
    """Most tokens each sentence may get, in a batch ``width`` wide.

    Tied to the sentence's own length, not to the padded width, so that padding never matters;
    read off the table of ``cap``, so that both round alike.
    """
    table = jnp.array([cap(length, settings) for length in range(width + 1)], jnp.int32)
    return table[source_lengths]


def cap(source_length: int, settings: DecodingSettings) -> int:
    """Most tokens for a source of this length, its end token included but not counted."""
    return math.ceil(settings.cap_factor * max(0, source_length - 1)) + settings.cap_extra


def count_tokens(tokens: Int[Array, "*rows steps"]) -> Int[Array, "*rows"]:
    """Tokens before the padding."""
    return jnp.sum(tokens != PAD, axis=-1, dtype=jnp.int32)


def has_ended(tokens: Int[Array, "*rows steps"]) -> Bool[Array, "*rows"]:
    """True where the end token was produced."""
    return jnp.any(tokens == EOS, axis=-1)
