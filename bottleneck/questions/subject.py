"""A finished run opened again: its text, its weights, and the weights that it began with."""

from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from random import Random

import jax
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.batches import EncodedPairs, encode_pairs, evaluation_batches, restore
from ..corpus.corpus import Corpus, load_corpus
from ..corpus.drawing import Copying, Reversed, draw_pairs, length_groups, length_probabilities
from ..corpus.pair import SentencePair, sources
from ..corpus.subwords import Shares, shares_of
from ..corpus.vocabulary import tokenize
from ..model.parts import on_host
from ..model.translator import Weights, create
from ..results.folders import ENVIRONMENT, read_object
from ..runs.translate import TrainedRun, load_run
from ..settings.concerns import OUTSIDE, Buckets, bucket_of
from ..settings.errors import UserError

Pairs = tuple[SentencePair, ...]


class Subject:
    """What a probe may look at.

    ``graph`` is the translator's structure, for trained and fresh weights alike; ``weights`` are
    those that training kept: of the least validation loss, or a mean of the last.
    """

    def __init__(self, folder: Path, trained: TrainedRun) -> None:
        self.folder, self.trained, self.settings = folder, trained, trained.settings
        self.graph, self.weights = trained.graph, trained.weights
        self.vocabularies = trained.source_vocabulary, trained.target_vocabulary
        self.buckets = Buckets(self.settings.scoring.lower_edges)

    @cached_property
    def untrained(self) -> Weights:
        """The weights that the run began with."""
        sizes = map(len, self.vocabularies)
        return create(self.settings.model, *sizes, self.settings.training.seed)[1]

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

    def first_of_each(self, pairs: Sequence[SentencePair], most: int) -> list[Pairs]:
        """The first pairs of each length bucket, at most so many."""
        assigned = self.buckets.assign(np.array([pair.words for pair in pairs], np.int64))
        return [
            tuple(pairs[row] for row in np.flatnonzero(assigned == place)[:most].tolist())
            for place in range(len(self.buckets.names))
        ]

    def fresh_sentences(self, wanted: int) -> list[Pairs]:
        """For each length bucket so many new sentences of the run's language, none twice.

        They are the same for every run of a corpus. Lengths within a bucket are as probable as in
        the run's own test set. Of real text, which has no new ones, it is at most so many of the
        test and validation sentences. Raises UserError where the language has too few.
        """
        corpus, edges = self.settings.corpus, self.settings.scoring.lower_edges
        if not corpus.is_drawn:
            return self.first_of_each(self.corpus.test + self.corpus.valid, wanted)
        if corpus.name == "copy":
            language = Copying(corpus.copy_words)
        else:
            # Imported here, so that other corpora do not pay for building the grammar.
            from ..corpus.grammar import english_french

            grammar = english_french(corpus.lexicon)
            language = Reversed(grammar) if corpus.reverse_direction else grammar
        known = frozenset().union(*map(sources, self.corpus.splits.values()))
        ends = corpus.min_words, corpus.max_words, edges
        chances = length_probabilities(corpus.lengths, *ends)
        buckets: list[Pairs] = [()] * len(edges)
        for group in length_groups(*ends):
            place, lengths = bucket_of(group[0], edges), [n for n in group if n in chances]
            random = Random(f"{corpus.seed}:fresh:{group[0]}")
            if place != OUTSIDE and lengths:
                buckets[place] = draw_pairs(language, wanted, chances, random, lengths, known, True)
        return buckets

    def encode(self, pairs: Sequence[SentencePair]) -> EncodedPairs:
        """Token ids as the run's model reads them."""
        return encode_pairs(pairs, *self.vocabularies, self.settings.model.reverse_source)

    def contexts(
        self, weights: Weights, pairs: Sequence[SentencePair]
    ) -> Float[np.ndarray, "sentences context"]:
        """The encoder's last vector of each sentence: what s_0 is made of in every arm, and c
        without attention (LECTURE D)."""
        return np.stack(self._memories(1, weights, self.encode(pairs).source))

    def states(
        self, weights: Weights, pairs: Sequence[SentencePair]
    ) -> list[Float[np.ndarray, "words context"]]:
        """h_t of each sentence after each of its tokens, in the order of reading.

        The state after the end token is left out. In a two-way encoder h_t has read the words to
        come.
        """
        source = self.encode(pairs).source
        memories = zip(self._memories(0, weights, source), source, strict=True)
        return [values[: len(ids) - 1] for values, ids in memories]

    def _memories(
        self, part: int, weights: Weights, source: Sequence[Sequence[int]]
    ) -> list[np.ndarray]:
        """The states (part 0) or the last vector (1) of each sentence."""
        batches = evaluation_batches(EncodedPairs(source, source), 128)
        parts = [on_host(_encode(self.graph, weights, *item.batch[:2])[part]) for item in batches]
        return restore(parts, batches)

    def shares(self, pair: SentencePair) -> tuple[Shares, Shares]:
        """Of the source and the target: whose words the model's tokens are, in reading order."""
        source, target = (
            shares_of(vocabulary.pieces(text), tokenize(text), vocabulary.tokenizer)
            for vocabulary, text in zip(self.vocabularies, (pair.source, pair.target), strict=True)
        )
        return source, target

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


@partial(jax.jit, static_argnums=0)
def _encode(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
) -> tuple[Float[Array, "batch source context"], Float[Array, "batch context"]]:
    memory = nnx.merge(graph, weights).encode(source, lengths)
    return memory.values, memory.last
