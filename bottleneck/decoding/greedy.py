"""Greedy search: the best word at every step, until the end token or the cap."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..corpus.vocabulary import BOS, EOS, PAD
from ..model.translator import Translator
from ..settings.concerns import DecodingSettings
from .output import Output, cap, caps, count_tokens, has_ended


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
    return Output(tokens, count_tokens(tokens), has_ended(tokens), total)


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
