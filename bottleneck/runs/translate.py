"""Translating with a finished run: the folder read back, the user's sentences put through."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import jax
import numpy as np
from flax import nnx
from jaxtyping import Float
from safetensors import SafetensorError

from ..corpus.batches import EncodedPairs, encode_pairs, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.tokens import prepare_source
from ..corpus.vocabulary import EOS, UNK, Vocabulary
from ..decoding.search import make_search
from ..model.parts import on_host
from ..model.translator import Weights, create
from ..results.discovery import check_version
from ..results.folders import WEIGHTS, damaged, read_checked, read_settings, was_written
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .attention import END, Copyable, weights_behind, with_copies
from .network_files import load_vocabularies, read_weights

_searcher = lru_cache(maxsize=4)(make_search)


class Translation(NamedTuple):
    """A sentence's tokens and those of its translation, end tokens left out.

    ``unknown`` counts source tokens that the run has never seen; ``ended`` is False where the
    translation was cut at its cap. ``weights`` have the end tokens as last row (if it ended) and
    last column, and are there where they were asked for.
    """

    source: list[str]
    output: list[str]
    text: str
    ended: bool = True
    unknown: int = 0
    weights: Float[np.ndarray, "output source"] | None = None


EMPTY = Translation([], [], "")
"""What nothing is translated as."""


class Attended(NamedTuple):
    """A translation and what it was read from: words as a person reads them, ends included."""

    source: list[str]
    output: list[str]
    weights: Float[np.ndarray, "output source"]


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """A run read back from its folder."""

    settings: RunSettings
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    graph: nnx.GraphDef
    weights: Weights

    def prepare(self, sentence: str) -> str:
        """The user's sentence in the form that the corpus has."""
        return prepare_source(sentence, self.settings.corpus)

    def tokens(self, sentence: str) -> list[str]:
        """The tokens that the model reads."""
        return self.source_vocabulary.pieces(self.prepare(sentence))

    def written(self, sentence: str) -> list[str]:
        """The same tokens in the user's own case; as the model reads them where it cut others."""
        read = self.tokens(sentence)
        pieces = self.source_vocabulary.pieces(normalize("NFC", sentence))[: len(read)]
        same = [token.lower() for token in pieces] == [token.lower() for token in read]
        return pieces if same else read

    def text(self, tokens: list[str]) -> str:
        """Tokens of the target as a person writes them."""
        return self.target_vocabulary.text(tokens)

    def display(self, token: str) -> str:
        """One token as a person reads it."""
        return self.target_vocabulary.tokenizer.display(token)

    def unknown(self, sentence: str) -> list[str]:
        """Words of the sentence that the run has never seen."""
        known = set(self.source_vocabulary.words)
        return [self.display(word) for word in self.tokens(sentence) if word not in known]

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Translate with the search that the run's settings name."""
        return [translation.text for translation in self.translations(sentences, len(sentences))]

    def translations(
        self, sentences: Sequence[str], batch_size: int, attended: bool = False
    ) -> list[Translation]:
        """The same token by token, with attention weights if so asked; of nothing, nothing.

        Unknown words are copied from the source where the settings say so.
        """
        real = [bool(self.tokens(sentence)) for sentence in sentences]
        given = [sentence for sentence, is_real in zip(sentences, real, strict=True) if is_real]
        translations = iter(self._translations(given, batch_size, attended) if given else [])
        return [next(translations) if is_real else EMPTY for is_real in real]

    def _translations(
        self, sentences: Sequence[str], batch_size: int, attended: bool
    ) -> list[Translation]:
        """Translations of sentences that have words."""
        encoded = self._encode(sentences)
        outputs = self._search(encoded, batch_size)
        reader = self.graph, self.weights, self.settings.model.reverse_source
        words = [self.written(sentence) for sentence in sentences]
        tokens = [self.target_vocabulary.decode(ids) for ids in outputs]
        if self.settings.decoding.copy_unknown:
            said = zip(encoded.source, outputs, tokens, words, strict=True)
            tokens = with_copies(*reader, [Copyable(*item) for item in said])
        weights: list = [None] * len(outputs)
        if attended:
            weights = weights_behind(*reader, encoded.source, outputs)
        return [
            Translation(source, output, self.text(output), EOS in ids, read.count(UNK), matrix)
            for source, output, ids, read, matrix in zip(
                words, tokens, outputs, encoded.source, weights, strict=True
            )
        ]

    def _encode(self, sentences: Sequence[str]) -> EncodedPairs:
        """Sources as the model reads them; there are no targets."""
        pairs = [SentencePair(self.prepare(sentence), "") for sentence in sentences]
        vocabularies = self.source_vocabulary, self.target_vocabulary
        return encode_pairs(pairs, *vocabularies, self.settings.model.reverse_source)

    def _search(self, encoded: EncodedPairs, batch_size: int) -> list[list[int]]:
        """Ids of the outputs, the end token with those that have one."""
        batches = evaluation_batches(encoded, batch_size)
        search = _searcher(self.graph, self.settings.decoding)
        outputs = [search(self.weights, b.batch.source, b.batch.source_lengths) for b in batches]
        rows = restore([on_host(output.tokens) for output in outputs], batches)
        lengths = restore([on_host(output.lengths) for output in outputs], batches)
        return [row[:length].tolist() for row, length in zip(rows, lengths, strict=True)]


def attended(trained: TrainedRun, translation: Translation) -> Attended:
    """A translation whose weights were asked for, for people to look at.

    An output that ran into the cap has no end token, and so no row for one.
    """
    assert translation.weights is not None
    output = [*map(trained.display, translation.output), *([END] if translation.ended else [])]
    return Attended([*map(trained.display, translation.source), END], output, translation.weights)


def load_run(folder: Path) -> TrainedRun:
    """Read a run's folder; a missing or damaged one is a ``UserError`` that names the file.

    So is a run of another version.
    """
    check_version(folder)
    settings = read_settings(folder)
    source, target = load_vocabularies(folder, settings.corpus)
    graph, like = create(settings.model, len(source), len(target), settings.training.seed)
    return TrainedRun(settings, source, target, graph, _weights(folder, like))


def _weights(folder: Path, like: Weights) -> Weights:
    """The weights, checked to be whole and those of this model."""
    path = folder / WEIGHTS
    if not was_written(path):
        raise UserError(
            f"no weights in {str(folder)!r}: the run did not end; the command that began it goes on"
        )
    try:
        weights = read_weights(read_checked(path), like)
    except (OSError, SafetensorError) as error:
        raise damaged(path, error) from None
    except KeyError as error:
        raise damaged(path, f"it has no {error}") from None
    shapes = [[leaf.shape for leaf in jax.tree.leaves(tree)] for tree in (weights, like)]
    if shapes[0] != shapes[1]:
        raise damaged(path, "its sizes are not those of the run's settings and vocabularies")
    return weights
