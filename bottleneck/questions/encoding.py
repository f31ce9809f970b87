"""What an encoder makes of sentences: the context of each, and the state after each word."""

from collections.abc import Sequence
from functools import partial

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.batches import EncodedPairs, EvaluationBatch, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..model.translator import Weights
from .subject import Subject

BATCH = 128
"""Sentences encoded at once."""


def contexts(
    subject: Subject, weights: Weights, pairs: Sequence[SentencePair]
) -> Float[np.ndarray, "sentences context"]:
    """The encoder's last vector of each sentence: what s_0 is made of in every arm, and c without
    attention (LECTURE D)."""
    batches = _batches(subject, pairs)
    found = [
        np.asarray(_last(subject.graph, weights, held.batch.source, held.batch.source_lengths))
        for held in batches
    ]
    return np.stack(restore(found, batches))


def states(
    subject: Subject, weights: Weights, pairs: Sequence[SentencePair]
) -> list[Float[np.ndarray, "words context"]]:
    """h_t of each sentence after each of its tokens, in the order of reading, at context width.

    The state after the end token is left out. In a two-way encoder h_t has read the words to come.
    """
    batches = _batches(subject, pairs)
    found = []
    for held in batches:
        lengths = held.batch.source_lengths
        values = np.asarray(_values(subject.graph, weights, held.batch.source, lengths))
        found.append([row[: length - 1] for row, length in zip(values, lengths, strict=True)])
    return restore(found, batches)


def _batches(subject: Subject, pairs: Sequence[SentencePair]) -> list[EvaluationBatch]:
    """Batches padded by the source alone."""
    source = subject.encode(list(pairs)).source
    return evaluation_batches(EncodedPairs(source, source), BATCH)


@partial(jax.jit, static_argnums=0)
def _last(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
) -> Float[Array, "batch context"]:
    return nnx.merge(graph, weights).encode(source, lengths).last


@partial(jax.jit, static_argnums=0)
def _values(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
) -> Float[Array, "batch source context"]:
    return nnx.merge(graph, weights).encode(source, lengths).values
