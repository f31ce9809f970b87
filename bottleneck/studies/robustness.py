"""C5: BLEU with the memory in a few bits a number after training: robustness, not content."""

from collections.abc import Iterator, Sequence
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
from ..probes.quantisation import Range, quantise, range_of
from ..questions.question import Columns, Tell
from ..questions.subject import Subject
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu_statistics

LEVELS = (1, 2, 4, 8)
"""Bits a number."""
FULL = "full"
"""The level at which nothing is rounded."""
PARTS = (*map(str, LEVELS), FULL)
BATCH = 64
"""Sentences translated at once."""
TRAINING = 1_000
"""Training sentences whose contexts and states give each number's range."""

States = tuple[Float[np.ndarray, "batch source context"], Float[np.ndarray, "batch context"]]
"""Every state at context width, and the context."""
Ranges = tuple[Range, Range]


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


def robustness(subject: Subject, tell: Tell) -> Columns:
    """BLEU's counts of every test sentence at each level, greedy search: ``bleu_4_correct_1``."""
    pairs = subject.corpus.test
    references = [pair.target for pair in pairs]
    batches = evaluation_batches(subject.encode(pairs), BATCH)
    tell("ranges of the numbers")
    spans = ranges(subject)
    held = [memory(subject, batch) for batch in batches]
    columns = {}
    for part in PARTS:
        tell(f"translating at {part} bits a number" if part != FULL else "translating as it is")
        texts = translate(subject, batches, [rounded(states, spans, part) for states in held])
        counts = bleu_statistics(texts, references)
        columns |= dict(zip(names(part), counts.T, strict=True))
    return columns


def names(part: str) -> list[str]:
    """The columns of BLEU's counts at a level."""
    return [f"bleu_{part}_{column}" for column in BLEU_COLUMNS]


def ranges(subject: Subject) -> Ranges:
    """Lowest and highest value of each number of a state, and of the context, in training."""
    source = subject.encode(subject.corpus.train[:TRAINING]).source
    batches = evaluation_batches(EncodedPairs(source, source), BATCH)
    values, last = zip(*_real(subject, batches), strict=True)
    return range_of(np.concatenate(values)), range_of(np.concatenate(last))


def _real(subject: Subject, batches: Sequence[EvaluationBatch]) -> Iterator[tuple]:
    """States of real positions, and contexts."""
    for held in batches:
        values, last = memory(subject, held)
        real = np.arange(values.shape[1]) < held.batch.source_lengths[:, None]
        yield values[real], last


def memory(subject: Subject, held: EvaluationBatch) -> States:
    """What the encoder leaves of a batch, in full precision."""
    batch = held.batch
    found = _memory(subject.graph, subject.weights, batch.source, batch.source_lengths)
    return on_host(found.values), on_host(found.last)


def rounded(states: States, spans: Ranges, part: str) -> States:
    """The states in so many bits a number, each number in its own training range."""
    if part == FULL:
        return states
    values, last = (
        quantise(each, span, int(part)) for each, span in zip(states, spans, strict=True)
    )
    return values, last


def translate(
    subject: Subject, batches: list[EvaluationBatch], memories: Sequence[States]
) -> list[str]:
    """Greedy translations of the batches from these memories, in the corpus's order."""
    settings = subject.settings.decoding.model_copy(update={"beam_size": 1})
    graph, weights = _handed(subject, memories[0])
    search = make_search(graph, settings)
    outputs = []
    for held, (values, last) in zip(batches, memories, strict=True):
        weights["values"], weights["last"] = nnx.Variable(values), nnx.Variable(last)
        outputs.append(search(weights, held.batch.source, held.batch.source_lengths).tokens)
    rows = restore(map(np.asarray, outputs), batches)
    words = subject.vocabularies[1]
    return [words.text(words.decode(row.tolist())) for row in rows]


def _handed(subject: Subject, states: States) -> tuple[nnx.GraphDef, Weights]:
    """The trained translator as one that is handed these states."""
    words = map(len, subject.vocabularies)
    translator = HandedMemory(subject.settings.model, *words, nnx.Rngs(params=jax.random.key(0)))
    nnx.update(translator, subject.weights)
    translator.values, translator.last = map(nnx.Variable, states)
    return nnx.split(translator)


@partial(jax.jit, static_argnums=0)
def _memory(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
) -> Memory:
    return nnx.merge(graph, weights).encode(source, lengths)
