"""C5: translations from a memory of a few bits per number: robustness, not content.

Each number of the memory is put into the middle of its cell, one of 2^bits equal cells of its range
over training sentences; a number outside of the range into the outermost cell. What BLEU survives
shows how coarse a memory the translator tolerates, not what the memory holds: the translator was
not trained to use the bits.
"""

from collections.abc import Iterator
from functools import partial

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..corpus.batches import EncodedPairs, EvaluationBatch, evaluation_batches, restore
from ..decoding.search import make_search
from ..model.attention import Memory
from ..model.parts import on_host
from ..model.translator import Translator, Weights, real_positions
from .information import FULL, LEVELS
from .question import Tell
from .subject import Subject

BATCH = 64
"""Sentences translated at once."""
TRAINING = 1_000
"""Training sentences whose memories give the range of each number."""

States = tuple[Float[np.ndarray, "batch source context"], Float[np.ndarray, "batch context"]]
"""Every state at context width, and the context."""
Span = tuple[Float[np.ndarray, "context"], Float[np.ndarray, "context"]]
"""Lowest and highest value of each number."""


class HandedMemory(Translator):
    """A translator that reads no source: its memory is part of its weights."""

    values: nnx.Variable
    last: nnx.Variable

    def encode(
        self,
        source: Int[Array, "batch source"],
        lengths: Int[Array, " batch"],
        key: PRNGKeyArray | None = None,  # noqa: ARG002 (nothing is drawn)
    ) -> Memory:
        """The memory that was handed in; s_0 is made of it, and the score's keys."""
        values = self.values[...]
        mask = real_positions(lengths, source.shape[1])
        return Memory(values, self.decoder.attention.keys(values), mask, self.last[...])


def coarse_translations(subject: Subject, tell: Tell) -> Iterator[tuple[str, list[str]]]:
    """The test set's translations by greedy search at each level of `LEVELS`, by its name."""
    batches = evaluation_batches(subject.encode(subject.corpus.test), BATCH)
    tell("ranges of the numbers")
    spans = ranges(subject)
    memories = [memory(subject, batch) for batch in batches]
    words, target = map(len, subject.vocabularies), subject.vocabularies[1]
    translator = HandedMemory(subject.settings.model, *words, nnx.Rngs(params=jax.random.key(0)))
    nnx.update(translator, subject.weights)
    translator.values, translator.last = map(nnx.Variable, memories[0])
    graph, weights = nnx.split(translator)
    search = make_search(graph, subject.settings.decoding.model_copy(update={"beam_size": 1}))
    for level in LEVELS:
        tell(f"translating at {level} bits per number" if level != FULL else "translating as it is")
        outputs = []
        for padded, states in zip(batches, memories, strict=True):
            coarse = states
            if level != FULL:
                both = zip(states, spans, strict=True)
                coarse = [quantise(vectors, span, int(level)) for vectors, span in both]
            weights["values"], weights["last"] = map(nnx.Variable, coarse)
            tokens = search(weights, padded.batch.source, padded.batch.source_lengths).tokens
            outputs.append(np.asarray(tokens))
        rows = restore(outputs, batches)
        yield level, [target.text(target.decode(row.tolist())) for row in rows]


def ranges(subject: Subject) -> tuple[Span, Span]:
    """The range of each number of a state, and of the context, in training."""
    source = subject.encode(subject.corpus.train[:TRAINING]).source
    states, contexts = [], []
    for padded in evaluation_batches(EncodedPairs(source, source), BATCH):
        values, last = memory(subject, padded)
        states.append(values[np.arange(values.shape[1]) < padded.batch.source_lengths[:, None]])
        contexts.append(last)
    both = (np.concatenate(part).astype(np.float64) for part in (states, contexts))
    of_states, of_contexts = ((part.min(axis=0), part.max(axis=0)) for part in both)
    return of_states, of_contexts


def memory(subject: Subject, padded: EvaluationBatch) -> States:
    """What the encoder makes of a batch, in full precision."""
    batch = padded.batch
    encoded = _memory(subject.graph, subject.weights, batch.source, batch.source_lengths)
    return on_host(encoded.values), on_host(encoded.last)


@partial(jax.jit, static_argnums=0)
def _memory(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
) -> Memory:
    return nnx.merge(graph, weights).encode(source, lengths)


def quantise(
    vectors: Float[np.ndarray, "*rows context"], span: Span, bits: int
) -> Float[np.ndarray, "*rows context"]:
    """The vectors as their cells alone tell them, in their own precision.

    Within the range no number moves by more than half a cell, (high - low) / 2^(bits + 1).
    """
    low, high = span
    width = high - low
    within = np.clip(vectors.astype(np.float64), low, high) - low
    parts = within / np.where(width > 0, width, 1.0)
    cells = np.minimum((parts * 2**bits).astype(np.int64), 2**bits - 1)
    return (low + (cells + 0.5) * width / 2**bits).astype(vectors.dtype)
