"""A finished run opened again: its text, its weights, and the weights that it began with."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from flax import nnx
from jaxtyping import Int

from ..corpus.batches import EncodedPairs, encode_pairs
from ..corpus.corpus import Corpus, load_corpus
from ..corpus.pair import SentencePair
from ..corpus.pieces import Shares, shares_of
from ..corpus.tokens import tokenize
from ..corpus.vocabulary import Vocabulary
from ..model.translator import Weights, create
from ..results.folders import ENVIRONMENT, read_object
from ..runs.translate import TrainedRun, load_run
from ..settings.buckets import Buckets
from ..settings.errors import UserError
from ..settings.run import RunSettings


@dataclass(frozen=True, eq=False)
class Subject:
    """What a probe may look at."""

    folder: Path
    trained: TrainedRun

    @property
    def settings(self) -> RunSettings:
        """The run's settings."""
        return self.trained.settings

    @property
    def graph(self) -> nnx.GraphDef:
        """The translator's structure, for trained and fresh weights alike."""
        return self.trained.graph

    @property
    def weights(self) -> Weights:
        """The weights that training kept: of the least validation loss, or a mean of the last."""
        return self.trained.weights

    @cached_property
    def untrained(self) -> Weights:
        """The weights that the run began with."""
        sizes = map(len, self.vocabularies)
        return create(self.settings.model, *sizes, self.settings.training.seed)[1]

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Source and target."""
        return self.trained.source_vocabulary, self.trained.target_vocabulary

    @cached_property
    def corpus(self) -> Corpus:
        """The run's text, made or read again; a UserError where it is not the same any more."""
        corpus = load_corpus(self.settings.corpus, self.settings.scoring.lower_edges)
        known = read_object(self.folder / ENVIRONMENT).get("fingerprint")
        if corpus.fingerprint != known:
            raise UserError(
                f"the text of run {self.folder.name} has changed since it was trained "
                f"(fingerprint {known}, now {corpus.fingerprint}): put the old files back, or "
                "train again"
            )
        return corpus

    @property
    def buckets(self) -> Buckets:
        """The run's length buckets."""
        return Buckets(self.settings.scoring.lower_edges)

    def encode(self, pairs: tuple[SentencePair, ...] | list[SentencePair]) -> EncodedPairs:
        """Token ids as the run's model reads them."""
        return encode_pairs(list(pairs), *self.vocabularies, self.settings.model.reverse_source)

    def shares(self, pair: SentencePair) -> tuple[Shares, Shares]:
        """Of the source and the target: whose words the model's tokens are, in reading order."""
        ours, theirs = (
            shares_of(vocabulary.pieces(text), tokenize(text), vocabulary.tokenizer)
            for vocabulary, text in zip(self.vocabularies, (pair.source, pair.target), strict=True)
        )
        return ours, theirs

    def require_words(self) -> None:
        """UserError for a run of subwords, where a study speaks of the model's tokens as words."""
        if self.settings.corpus.tokens != "words":
            raise UserError(
                "it asks for words one by one, and the run reads subwords: choose runs that read "
                "words with `--where tokens=words`, or train some with corpus.tokens=words"
            )


def open_subject(folder: Path) -> Subject:
    """Open a finished run's folder; what is missing or damaged is a UserError that names it."""
    return Subject(folder, load_run(folder))


def source_words(pairs: tuple[SentencePair, ...]) -> Int[np.ndarray, "sentences"]:
    """Length of each pair's source in words, which decides its bucket."""
    return np.array([pair.words for pair in pairs], dtype=np.int64)
