"""What a search returns, and the cap on its length."""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..corpus.vocabulary import EOS, PAD
from ..settings.concerns import DecodingSettings


class Output(NamedTuple):
    """One output a sentence; ``lengths`` count the end token where there is one.

    ``finished`` says whether there is. ``log_probability`` is that of the whole output in nats, not
    divided by its length, over all that an output may hold: padding and the start token are barred.
    """

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
    """Most tokens of an output, end token among them, for a source of so many, end token too.

    ``cap_factor`` times the source's tokens but for its end, rounded up, and ``cap_extra``.
    """
    return math.ceil(settings.cap_factor * max(0, source_length - 1)) + settings.cap_extra


def count_tokens(tokens: Int[Array, "*rows steps"]) -> Int[Array, "*rows"]:
    """Tokens before the padding, the end token among them."""
    return jnp.sum(tokens != PAD, axis=-1, dtype=jnp.int32)


def has_ended(tokens: Int[Array, "*rows steps"]) -> Bool[Array, "*rows"]:
    """True where the end token was produced."""
    return jnp.any(tokens == EOS, axis=-1)
