"""Beam search with length-normalised scores.

A beam that ends keeps its place and its score, so that the search narrows as beams finish and
ends when none is live (the search of the RNNsearch paper's code). Width 1 is greedy search. The
winner has the greatest log P / length^penalty, its end token counted.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..corpus.vocabulary import BOS, EOS, PAD
from ..model.attention import Memory
from ..model.decoder import States
from ..model.translator import Translator
from ..settings.concerns import DecodingSettings
from .greedy import Output, as_output, cap, caps, count_tokens, without_symbols


class Beams(NamedTuple):
    """All beams of all sentences; ``states`` have one row per beam, side by side.

    ``scores`` are log P in nats, -inf where there is no beam; ``place`` is the next step, from 0.
    """

    place: Int[Array, ""] | int
    states: States
    tokens: Int[Array, "batch beam steps"]
    scores: Float[Array, "batch beam"]
    live: Bool[Array, "batch beam"]


def beam_search(
    translator: Translator,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
    settings: DecodingSettings,
) -> Output:
    """Decode a batch; the best of ``beam_size`` outputs of each sentence."""
    batch, size, width = len(source), settings.beam_size, cap(source.shape[1], settings)
    limits = caps(lengths, source.shape[1], settings)
    repeat = partial(jnp.repeat, repeats=size, axis=0)  # once for each beam, side by side
    memory = jax.tree.map(repeat, translator.encode(source, lengths))

    def unfinished(beams: Beams) -> Array:
        return (beams.place < width) & jnp.any(beams.live)

    def step(beams: Beams) -> Beams:
        return _advance(translator, memory, beams, limits)

    # One live beam a sentence (equal beams would only find the same words), none at a cap of 0.
    first = jnp.zeros((batch, size), bool).at[:, 0].set(True)
    tokens = jnp.full((batch, size, width), PAD, jnp.int32)
    scores, live = jnp.where(first, 0.0, -jnp.inf), first & (limits > 0)[:, None]
    start = Beams(0, translator.decoder.initial(memory), tokens, scores, live)
    beams = jax.lax.while_loop(unfinished, step, start)
    # The greatest normalised score; the earliest of equals.
    counts = jnp.maximum(count_tokens(beams.tokens), 1).astype(jnp.float32)
    best = jnp.argmax(beams.scores / counts**settings.length_penalty, axis=1)[:, None]
    tokens = jnp.take_along_axis(beams.tokens, best[:, :, None], axis=1)[:, 0]
    return as_output(tokens, jnp.take_along_axis(beams.scores, best, axis=1)[:, 0])


def _advance(translator: Translator, memory: Memory, beams: Beams, limits: Array) -> Beams:
    """Extend every live beam by one word and keep the best of each sentence."""
    batch, size, _ = beams.tokens.shape
    last = jnp.take(beams.tokens, jnp.maximum(beams.place - 1, 0), axis=2)
    words = jnp.where(beams.place == 0, BOS, last).reshape(-1)  # the start token before the first
    states, logits, _ = translator.decoder.step(beams.states, words, memory)
    gained = jax.nn.log_softmax(without_symbols(logits)).reshape(batch, size, -1)
    parent, word, scores = _choose(beams, gained)
    tokens = jnp.take_along_axis(beams.tokens, parent[:, :, None], axis=1)
    was_live = jnp.take_along_axis(beams.live, parent, axis=1) & (scores > -jnp.inf)
    tokens = tokens.at[:, :, beams.place].set(jnp.where(was_live, word, PAD))
    live = (
        was_live & (word != EOS) & jnp.broadcast_to((beams.place + 1 < limits)[:, None], word.shape)
    )
    rows = (parent + jnp.arange(batch)[:, None] * size).reshape(-1)
    states = jax.tree.map(lambda values: values[rows], states)
    return Beams(beams.place + 1, states, tokens, scores, live)


def _choose(
    beams: Beams, gained: Float[Array, "batch beam vocabulary"]
) -> tuple[Int[Array, "batch beam"], Int[Array, "batch beam"], Float[Array, "batch beam"]]:
    """Parents, words and scores of the next beams; an ended beam comes first and stays."""
    batch, size, vocabulary = gained.shape
    scores = jnp.broadcast_to(beams.scores[:, :, None], gained.shape)
    is_live = jnp.broadcast_to(beams.live[:, :, None], gained.shape)
    extended = jnp.where(is_live, scores + gained, -jnp.inf)
    ended = ~beams.live & (beams.scores > -jnp.inf)
    ranking = extended.at[:, :, PAD].set(jnp.where(ended, jnp.inf, -jnp.inf))
    top, places = jax.lax.top_k(ranking.reshape(batch, -1), size)
    parents = places // vocabulary
    kept = jnp.take_along_axis(beams.scores, parents, axis=1)
    return parents, places % vocabulary, jnp.where(top == jnp.inf, kept, top)
