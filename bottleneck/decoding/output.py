"""What a search returns, and the cap on its length."""

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


def caps(source_lengths: Int[Array, " batch"], settings: DecodingSettings) -> Int[Array, " batch"]:
    """Most tokens a sentence may get, from its own length (its end token not counted).

    Tied to the sentence, not to the padded width, so that padding never matters.
    """
    words = source_lengths - 1
    return jnp.ceil(settings.cap_factor * words).astype(jnp.int32) + settings.cap_extra


def widest(source_width: int, settings: DecodingSettings) -> int:
    """Columns that the longest possible output of a padded batch needs."""
    return int(-(-settings.cap_factor * (source_width - 1) // 1)) + settings.cap_extra


def count_tokens(tokens: Int[Array, "*rows steps"]) -> Int[Array, "*rows"]:
    """Tokens before the padding."""
    return jnp.sum(tokens != PAD, axis=-1, dtype=jnp.int32)


def has_ended(tokens: Int[Array, "*rows steps"]) -> Bool[Array, "*rows"]:
    """True where the end token was produced."""
    return jnp.any(tokens == EOS, axis=-1)
