"""C5, C6: what a frozen encoder's memory holds of the source, and how coarse the memory may be.

A *probe of the source* is a fresh decoder that learns to write the source from the memory. It is
the project's own decoder and reads what the translator's decoder reads: the last state without
attention, all states through its own score with attention. It writes the words and then the end
token, so that -log P of the whole is what remains to be told once the memory is known, the length
included.

A *coarse memory* has a few bits per number: each number is put into the middle of its cell, one of
2^bits equal cells of its range over training sentences; a number outside of the range into the
outermost cell. What BLEU survives shows how coarse a memory the translator tolerates, not what the
memory holds: the translator was not trained to use the bits.
"""

from collections.abc import Iterable, Iterator

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..corpus.batches import (
    EncodedPairs,
    encode_pairs,
    evaluation_batches,
    restore,
    training_batches,
)
from ..corpus.pair import SentencePair
from ..decoding.search import make_search
from ..model.attention import Memory
from ..model.translator import Translator, Weights, real_positions
from ..settings.concerns import TrainingSettings
from ..settings.errors import UserError
from ..training.loop import Learner, Progress, sentence_losses, train
from ..training.step import make_sentence_losses
from .information import FULL, LEVELS, probe_updates
from .question import Tell
from .subject import Subject

BATCH = 64
"""Sentences evaluated or translated at once."""
Span = tuple[Float[np.ndarray, "context"], Float[np.ndarray, "context"]]
"""Lowest and highest value of each number."""


class SourceReader(Translator):
    """A translator from the source to itself whose encoder is never changed."""

    def encode(
        self,
        source: Int[Array, "batch source"],
        lengths: Int[Array, " batch"],
        key: PRNGKeyArray | None = None,  # noqa: ARG002 (nothing is dropped)
    ) -> Memory:
        """The memory, through which no gradient goes back; the keys are the probe's own."""
        mask = real_positions(lengths, source.shape[1])
        values, last = jax.lax.stop_gradient(self.encoder.of_words(source, mask))
        return Memory(values, self.decoder.attention.keys(values), mask, last)


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


def reader_settings(training: TrainingSettings) -> TrainingSettings:
    """How the probe of a translator is trained; of its validations it keeps the best weights."""
    changes = {
        "updates": probe_updates(training.updates),
        "validations": 5,
        "teacher_forcing": 1.0,
        "label_smoothing": 0.0,
        "average_last": 0.0,
        "shapes": min(training.shapes, 8),  # source and target have the same length
    }
    return training.model_copy(update=changes)


def train_reader(
    subject: Subject, encoder: Weights, tell: Tell, name: str
) -> tuple[nnx.GraphDef, Weights]:
    """Structure and weights of the probe of an encoder (a whole translator's weights).

    Nothing is dropped, and s_0 is made of the context. Raises UserError, naming the probe and the
    run, where its training diverges.
    """
    plain = {"dropout": 0.0, "initial_state": "context"}
    model, words = subject.settings.changed(model=plain).model, len(subject.vocabularies[0])
    rngs = nnx.Rngs(params=jax.random.key(subject.settings.training.seed))
    graph, weights = nnx.split(SourceReader(model, words, words, rngs))
    weights["encoder"] = encoder["encoder"]
    settings = reader_settings(subject.settings.training)
    batches = training_batches(
        written_back(subject, subject.corpus.train),
        settings.batch_size, settings.seed, settings.shapes, settings.batch_tokens,
    )  # fmt: skip
    validation = evaluation_batches(written_back(subject, subject.corpus.valid), BATCH)

    def report(_: int, progress: Progress) -> None:
        if progress.valid_loss is not None:
            tell(f"{name}: update {progress.update:,} of {progress.updates:,}")

    (trained,) = train(graph, [Learner(weights, settings, batches)], validation, report).trained
    if trained.status != "done":
        raise UserError(
            f"the {name} of run {subject.folder.name} failed: {trained.reason}; leave the run out "
            "with --where, or train it with a lower training.learning_rate"
        )
    return graph, trained.weights


def written_back(subject: Subject, pairs: Iterable[SentencePair]) -> EncodedPairs:
    """The source as the encoder reads it, and as the probe is to write it: in its own order."""
    pairs, words = list(pairs), subject.vocabularies[0]
    return EncodedPairs(subject.encode(pairs).source, encode_pairs(pairs, words, words).source)


def losses(
    graph: nnx.GraphDef, weights: Weights, pairs: EncodedPairs
) -> Float[np.ndarray, "sentences"]:
    """-log P in nats of each target, end token included: a probe's or a translator's."""
    return sentence_losses(make_sentence_losses(graph), weights, evaluation_batches(pairs, BATCH))


def shuffled(pairs: EncodedPairs, groups: Int[np.ndarray, "sentences"]) -> EncodedPairs:
    """Each target with the source of another sentence of its group; in a group of one its own.

    The other one is half a group away, so that neighbours in a text of the user's do not meet.
    """
    order = np.arange(len(groups))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        order[rows] = np.roll(rows, max(1, len(rows) // 2))
    return EncodedPairs([pairs.source[place] for place in order], pairs.target)


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
    """The range of each number of a state, and of the context, over 1,000 training sentences."""
    source = subject.encode(subject.corpus.train[:1_000]).source
    states, contexts = [], []
    for padded in evaluation_batches(EncodedPairs(source, source), BATCH):
        values, last = subject.memory(subject.weights, padded.batch)
        states.append(values[np.arange(values.shape[1]) < padded.batch.source_lengths[:, None]])
        contexts.append(last)
    both = (np.concatenate(part).astype(np.float64) for part in (states, contexts))
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
