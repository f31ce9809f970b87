"""A finished run, opened for a probe: its text, its weights at the start and the end, its states.

The *probe of the source* is a new decoder that learns to write the source and the end token from an
encoder's memory. Its -log P of the source measures what the memory does not tell.
"""

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from random import Random

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.batches import (
    EncodedPairs,
    encode_pairs,
    evaluation_batches,
    restore,
    training_batches,
)
from ..corpus.corpus import Corpus, load_corpus
from ..corpus.drawing import draw_pairs, language_of, length_probabilities
from ..corpus.pair import Pairs, SentencePair, sources
from ..model.attention import Memory
from ..model.parts import Stack, on_host
from ..model.recurrence import Key
from ..model.translator import Translator, Weights, create
from ..results.folders import read_object
from ..runs.translate import BATCH, TrainedRun, load_run
from ..settings.concerns import bucket_members, bucket_of
from ..settings.errors import UserError
from ..training.loop import Learner, train
from ..training.step import make_sentence_losses
from .question import Tell


class Subject:
    """What a probe may read of a run; trained and untrained weights have the same ``graph``."""

    def __init__(
        self, folder: Path, trained: TrainedRun | None = None, tell: Tell = lambda _: None
    ) -> None:
        trained = trained or load_run(folder)
        self.folder, self.trained, self.settings = folder, trained, trained.settings
        self.tell = tell
        self.graph, self.weights, self.encode = trained.graph, trained.weights, trained.encode
        self.vocabularies = trained.source_vocabulary, trained.target_vocabulary
        self.edges = self.settings.scoring.lower_edges
        self._encode = jax.jit(
            lambda weights, *given: attrgetter("values", "last")(
                nnx.merge(self.graph, weights).encode(*given)
            )
        )

    @cached_property
    def untrained(self) -> Weights:
        """The weights that the run began with."""
        sizes = map(len, self.vocabularies)
        return create(self.settings.model, *sizes, self.settings.training.seed)[1]

    @cached_property
    def corpus(self) -> Corpus:
        """The run's text, made or read again; a ``UserError`` if it has changed."""
        corpus = load_corpus(self.settings.corpus, self.edges)
        if corpus.fingerprint != read_object(self.folder / "environment.json").get("fingerprint"):
            raise UserError(
                f"the text of run {self.folder.name} has changed since it was trained: put the old "
                "files back, or train again"
            )
        return corpus

    def first_of_each(self, pairs: Sequence[SentencePair], most: int) -> list[Pairs]:
        """The first pairs of each length bucket, at most ``most``."""
        buckets = bucket_members([pair.words for pair in pairs], self.edges)
        return [tuple(pairs[i] for i in inside[:most]) for inside in buckets.values()]

    def fresh_sentences(self, wanted: int) -> list[Pairs]:
        """New sentences of the run's language for each length bucket, the same for all runs.

        Real text has no new sentences: test and validation sentences take their place.
        """
        corpus, edges = self.settings.corpus, self.edges
        if not corpus.is_drawn:
            return self.first_of_each(self.corpus.test + self.corpus.valid, wanted)
        language = language_of(corpus)
        used = sources((*self.corpus.train, *self.corpus.valid, *self.corpus.test))
        ends = corpus.min_words, corpus.max_words
        groups, chances = length_probabilities(corpus.lengths, *ends, edges)
        buckets: list[Pairs] = [()] * len(edges)
        for group in groups:
            if (bucket := bucket_of(group[0], edges)) >= 0:
                random = Random(f"{corpus.seed}:fresh:{group[0]}")
                buckets[bucket] = draw_pairs(language, wanted, chances, random, group, used, True)
        return buckets

    def read(
        self, weights: Weights, pairs: Sequence[SentencePair]
    ) -> list[tuple[Float[np.ndarray, "words context"], Float[np.ndarray, "context"]]]:
        """For each sentence, h_t after each of its tokens, and h_Tx after the end token."""
        source = self.encode(pairs).source
        batches = evaluation_batches(EncodedPairs(source, source), 128)
        memories = (self._encode(weights, *item.batch[:2]) for item in batches)
        rows = [zip(*map(on_host, memory), strict=True) for memory in memories]
        read = zip(restore(rows, batches), source, strict=True)
        return [(states[: len(ids) - 1], context) for (states, context), ids in read]

    def require_words(self) -> None:
        """A ``UserError`` for a run on subwords: the study takes the model's tokens for words."""
        if self.settings.corpus.tokens != "words":
            raise UserError(
                "it needs single words, but the run reads subwords: choose runs that read "
                "words with `--where tokens=words`, or train some with corpus.tokens=words"
            )


class SourceReader(Translator):
    """A translator from the source to itself; its encoder does not change."""

    def encode(
        self, source: Int[Array, "batch source"], lengths: Int[Array, " batch"], key: Key = None
    ) -> Memory:
        """The memory, without a gradient to the encoder; the keys are the probe's own."""
        memory = jax.lax.stop_gradient(super().encode(source, lengths, key))
        return memory._replace(keys=self.decoder.attention.keys(memory.values))


def train_reader(
    subject: Subject, encoder: Weights, name: str
) -> tuple[Float[np.ndarray, "sentences"], Weights]:
    """Train the probe of an encoder; return -log P in nats of each test source, and the weights.

    The encoder reads a source in the run's order, and the probe writes it in the text's own order.
    """
    words, training = subject.vocabularies[0], subject.settings.training
    settings = subject.settings.changed(
        model={"dropout": 0.0, "initial_state": "context"},
        training={
            "updates": max(1, training.updates // 2),
            "validations": 5,
            "teacher_forcing": 1.0,
            "label_smoothing": 0.0,
            "average_last": 0.0,
            "shapes": min(training.shapes, 8),  # source and target have the same length
        },
    )
    rngs = nnx.Rngs(params=jax.random.key(training.seed))
    graph, weights = nnx.split(SourceReader(settings.model, len(words), len(words), rngs))
    weights["encoder"] = encoder["encoder"]
    text, *others = (
        EncodedPairs(subject.encode(pairs).source, encode_pairs(pairs, words, words).source)
        for pairs in (subject.corpus.train, subject.corpus.valid, subject.corpus.test)
    )
    validation, test = (evaluation_batches(pairs, BATCH) for pairs in others)
    training = settings.training
    batches = training_batches(
        text, training.batch_size, training.seed, training.shapes, training.batch_tokens
    )
    subject.tell(f"training the {name}: {training.updates:,} updates")
    learners = [Learner(weights, training, batches)]
    (trained,) = train(graph, learners, validation, lambda *_: None).trained
    if trained.status != "done":
        raise UserError(f"the {name} failed: {trained.reason}; leave the run out with --where")
    return make_sentence_losses(graph, Stack(1))(trained.weights, test), trained.weights
