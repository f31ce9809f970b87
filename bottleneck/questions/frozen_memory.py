"""What an encoder's memory holds of the source: a probe of it, and memories of other sentences.

A *probe of the source* is a fresh decoder that learns to write the source from the memory. It is
the project's own decoder and reads what the translator's decoder reads: the last state without
attention, all states through its own score with attention. It writes the words and then the end
token, so that -log P of the whole is what remains to be told once the memory is known, the length
included.
"""

from collections.abc import Iterable

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..corpus.batches import EncodedPairs, encode_pairs, evaluation_batches, training_batches
from ..corpus.pair import SentencePair
from ..model.attention import Memory
from ..model.translator import Translator, Weights, real_positions
from ..settings.concerns import TrainingSettings
from ..settings.errors import UserError
from ..training.loop import Learner, Progress, sentence_losses, train
from ..training.step import make_sentence_losses
from .question import Tell
from .subject import Subject

BATCH = 64
"""Sentences evaluated at once."""


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


def reader_settings(training: TrainingSettings) -> TrainingSettings:
    """How the probe of a translator is trained; of its validations it keeps the best weights."""
    changes = {
        "updates": max(1, training.updates // 2),
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
