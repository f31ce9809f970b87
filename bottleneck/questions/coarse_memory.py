"""C5: translations from a memory of a few bits per number: robustness, not content.

Each number of the memory is put into the middle of its cell, one of 2^bits equal cells of its range
over training sentences; a number outside of the range into the outermost cell. What BLEU survives
shows how coarse a memory the translator tolerates, not what the memory holds: the translator was
not trained to use the bits.
"""

from collections.abc import Iterator

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..corpus.batches import EncodedPairs, evaluation_batches, restore
from ..decoding.search import make_search
from ..model.attention import Memory
from ..model.translator import Translator, real_positions
from .information import FULL, LEVELS
from .question import Tell
from .subject import Subject

BATCH = 64
"""Sentences translated at once."""
TRAINING = 1_000
"""Training sentences whose memories give the range of each number."""
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
    memories = [subject.memory(subject.weights, item.batch) for item in batches]
    words, target = map(len, subject.vocabularies), subject.vocabularies[1]
    translator = HandedMemory(subject.settings.model, *words, nnx.Rngs(params=jax.random.key(0)))
    nnx.update(translator, subject.weights)
    translator.values, translator.last = map(nnx.Variable, memories[0])
    graph, weights = nnx.split(translator)
    search = make_search(graph, subject.settings.decoding.model_copy(update={"beam_size": 1}))
    for level in LEVELS:
        tell(f"translating at {level} bits per number" if level != FULL else "translating as it is")
        outputs = []
        for padded, memory in zip(batches, memories, strict=True):
            both = zip(memory, spans, strict=True)
            coarse = memory if level == FULL else [quantise(*part, int(level)) for part in both]
            weights["values"], weights["last"] = map(nnx.Variable, coarse)
            tokens = search(weights, padded.batch.source, padded.batch.source_lengths).tokens
            outputs.append(np.asarray(tokens))
        rows = restore(outputs, batches)
        yield level, [target.text(target.decode(row.tolist())) for row in rows]


def ranges(subject: Subject) -> list[Span]:
    """The range of each number of a state, and of the context, in training."""
    source = subject.encode(subject.corpus.train[:TRAINING]).source
    parts: tuple[list, list] = ([], [])
    for padded in evaluation_batches(EncodedPairs(source, source), BATCH):
        values, last = subject.memory(subject.weights, padded.batch)
        real = np.arange(values.shape[1]) < padded.batch.source_lengths[:, None]
        parts[0].append(values[real])
        parts[1].append(last)
    both = (np.concatenate(part).astype(np.float64) for part in parts)
    return [(vectors.min(axis=0), vectors.max(axis=0)) for vectors in both]


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
