"""Greedy search: the best word at every step, until the end token or the cap.

Also what any search returns, and the cap on its length.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..corpus.vocabulary import BOS, EOS, PAD
from ..model.translator import Translator
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


def as_output(tokens: Int[Array, "batch steps"], log_probability: Float[Array, " batch"]) -> Output:
    """The output of these tokens."""
    finished = jnp.any(tokens == EOS, axis=-1)
    return Output(tokens, count_tokens(tokens), finished, log_probability)


def greedy(
    translator: Translator,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
    settings: DecodingSettings,
) -> Output:
    """Decode a batch; stops as soon as every sentence has ended."""
    memory = translator.encode(source, lengths)
    limits = caps(lengths, source.shape[1], settings)
    batch, width = source.shape[0], cap(source.shape[1], settings)

    def unfinished(carry: tuple) -> Array:
        place, _, _, _, live, _ = carry
        return (place < width) & jnp.any(live)

    def step(carry: tuple) -> tuple:
        place, states, word, tokens, live, total = carry
        states, logits, _ = translator.decoder.step(states, word, memory)
        logits = without_symbols(logits)
        word = first_best(logits)
        gained = jnp.max(logits, axis=-1) - jax.nn.logsumexp(logits, axis=-1)
        written = jnp.where(live, word, PAD)
        total = total + jnp.where(live, gained, 0.0)
        live = live & (word != EOS) & (place + 1 < limits)
        return place + 1, states, word, tokens.at[:, place].set(written), live, total

    tokens = jnp.full((batch, width), PAD, jnp.int32)
    start = jnp.full(batch, BOS, jnp.int32)
    carry = (0, translator.decoder.initial(memory), start, tokens, limits > 0, jnp.zeros(batch))
    _, _, _, tokens, _, total = jax.lax.while_loop(unfinished, step, carry)
    return as_output(tokens, total)


def first_best(logits: Float[Array, "*rows vocabulary"]) -> Int[Array, "*rows"]:
    """``argmax``, a tenth of its time on XLA's CPU backend: the first place of the maximum."""
    places = jnp.broadcast_to(jnp.arange(logits.shape[-1], dtype=jnp.int32), logits.shape)
    best = logits == jnp.max(logits, axis=-1, keepdims=True)
    return jnp.min(jnp.where(best, places, logits.shape[-1] - 1), axis=-1)


def without_symbols(
    logits: Float[Array, "*rows vocabulary"],
) -> Float[Array, "*rows vocabulary"]:
    """Padding and the start token are never words of an output: their logits are minus infinity."""
    barred = jnp.zeros(logits.shape[-1], bool).at[jnp.array([PAD, BOS])].set(True)
    return jnp.where(jnp.broadcast_to(barred, logits.shape), -jnp.inf, logits)
