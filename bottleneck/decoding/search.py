"""Greedy and beam search.

Greedy search takes the best word at every step, until the end token or the cap. In beam search a
beam that ends keeps its place and its score: the search narrows as beams finish, and ends when none
is live (as in the code of the RNNsearch paper). The winner has the greatest log P / length^penalty;
the length includes the end token. A beam of width 1 is greedy search.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache, partial

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.vocabulary import BOS, EOS, PAD
from ..model.attention import Memory
from ..model.parts import Stack, parts_of
from ..model.translator import Translator, Weights
from ..settings.concerns import DecodingSettings


@lru_cache(maxsize=4)
def make_search(
    graph: nnx.GraphDef, settings: DecodingSettings
) -> Callable[..., tuple[Int[Array, "batch steps"], Int[Array, " batch"]]]:
    """(weights, source, lengths) -> outputs, and their lengths with the end token if there is one.

    They are greedy for ``beam_size`` 1, else by beam search. If the process has several cores, each
    core searches for a part of the batch.
    """
    function = partial(search, graph, settings)
    program = cache(lambda parts: Stack(1, parts).program(function, cut=(1, 2), by_row=True))
    return lambda *given: program(parts_of(len(given[2])))(*given)


def caps(width: int, settings: DecodingSettings) -> list[int]:
    """The most tokens of an output, with its end token, for source lengths 0 to ``width``.

    It is ``cap_factor`` times the source's tokens without the end token, rounded up, plus
    ``cap_extra``.
    """
    words = [max(0, length - 1) for length in range(width + 1)]
    return [math.ceil(settings.cap_factor * count) + settings.cap_extra for count in words]


def without_symbols(logits: Float[Array, "*rows words"]) -> Float[Array, "*rows words"]:
    """Set the logits of padding and start token, which no output contains, to minus infinity."""
    barred = jnp.zeros(logits.shape[-1], bool).at[jnp.array([PAD, BOS])].set(True)
    return jnp.where(jnp.broadcast_to(barred, logits.shape), -jnp.inf, logits)


def search(
    graph: nnx.GraphDef, settings: DecodingSettings, weights: Weights, source: Array, lengths: Array
) -> tuple[Array, Array]:
    """Decode a batch; greedy search stops as soon as every sentence has ended."""
    translator, table = nnx.merge(graph, weights), caps(source.shape[1], settings)
    memory = translator.encode(source, lengths)
    limits, width = jnp.array(table, jnp.int32)[lengths], table[-1]
    if settings.beam_size > 1:
        return beam_search(translator, memory, limits, width, settings)

    def step(carry: tuple) -> tuple:
        place, states, word, tokens, live = carry
        states, output, _ = translator.decoder.advance(states, word, memory)
        logits = without_symbols(translator.decoder.output_layer().logits(output))
        # The first place of the maximum: argmax takes ten times as long on XLA's CPU backend.
        places = jnp.broadcast_to(jnp.arange(logits.shape[-1], dtype=jnp.int32), logits.shape)
        best = logits == jnp.max(logits, axis=-1, keepdims=True)
        word = jnp.min(jnp.where(best, places, logits.shape[-1] - 1), axis=-1)
        written = jnp.where(live, word, PAD)
        live = live & (word != EOS) & (place + 1 < limits)
        return place + 1, states, word, tokens.at[:, place].set(written), live

    tokens = jnp.full((len(limits), width), PAD, jnp.int32)
    start = jnp.full(len(limits), BOS, jnp.int32)
    carry = 0, translator.decoder.initial(memory), start, tokens, limits > 0
    _, _, _, tokens, _ = jax.lax.while_loop(
        lambda carry: (carry[0] < width) & jnp.any(carry[4]), step, carry
    )
    return tokens, jnp.sum(tokens != PAD, axis=1, dtype=jnp.int32)


def beam_search(
    translator: Translator,
    memory: Memory,
    limits: Int[Array, " batch"],
    width: int,
    settings: DecodingSettings,
) -> tuple[Array, Array]:
    """Decode a batch; the best of ``beam_size`` outputs of each sentence.

    ``states`` have a row per beam, sentence by sentence; ``scores`` are log P in nats.
    """
    batch, size = len(limits), settings.beam_size
    memory = jax.tree.map(partial(jnp.repeat, repeats=size, axis=0), memory)

    def step(carry: tuple) -> tuple:
        """Extend every live beam by one word and keep the best of each sentence."""
        place, states, tokens, scores, live = carry
        last = jnp.take(tokens, jnp.maximum(place - 1, 0), axis=2)
        words = jnp.where(place == 0, BOS, last).reshape(-1)  # the start token before the first
        states, output, _ = translator.decoder.advance(states, words, memory)
        logits = without_symbols(translator.decoder.output_layer().logits(output))
        gained = jax.nn.log_softmax(logits).reshape(batch, size, -1)
        extended = jnp.where(live[:, :, None], scores[:, :, None] + gained, -jnp.inf)
        # An ended beam ranks first and stays: it gets padding, and keeps its score.
        ended = ~live & (scores > -jnp.inf)
        ranking = extended.at[:, :, PAD].set(jnp.where(ended, jnp.inf, -jnp.inf))
        top, places = jax.lax.top_k(ranking.reshape(batch, -1), size)
        parent = places // gained.shape[-1]
        kept = jnp.take_along_axis(scores, parent, axis=1)
        word, scores = places % gained.shape[-1], jnp.where(top == jnp.inf, kept, top)
        tokens = jnp.take_along_axis(tokens, parent[:, :, None], axis=1)
        was_live = jnp.take_along_axis(live, parent, axis=1) & (scores > -jnp.inf)
        tokens = tokens.at[:, :, place].set(jnp.where(was_live, word, PAD))
        live = was_live & (word != EOS) & (place + 1 < limits)[:, None]
        rows = (parent + jnp.arange(batch)[:, None] * size).reshape(-1)
        return place + 1, jax.tree.map(lambda values: values[rows], states), tokens, scores, live

    # One live beam per sentence (equal beams would find the same words), none at a cap of 0. The
    # score of a missing beam is minus infinity.
    first = jnp.zeros((batch, size), bool).at[:, 0].set(True)
    tokens = jnp.full((batch, size, width), PAD, jnp.int32)
    scores, live = jnp.where(first, 0.0, -jnp.inf), first & (limits > 0)[:, None]
    carry = 0, translator.decoder.initial(memory), tokens, scores, live
    _, _, tokens, scores, _ = jax.lax.while_loop(
        lambda carry: (carry[0] < width) & jnp.any(carry[4]), step, carry
    )
    # The greatest normalised score; of equal ones the first.
    counts = jnp.sum(tokens != PAD, axis=2, dtype=jnp.int32)
    norms = jnp.maximum(counts, 1).astype(jnp.float32) ** settings.length_penalty
    rows = jnp.arange(batch), jnp.argmax(scores / norms, axis=1)
    return tokens[rows], counts[rows]
