"""Translate with a finished run, and read the attention weights of its outputs."""

import platform
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from flax import nnx
from jax.tree_util import keystr, tree_leaves_with_path
from jaxtyping import Float
from safetensors.numpy import load

from ..corpus.batches import (
    EncodedPairs,
    EvaluationBatch,
    encode_pairs,
    evaluation_batches,
    restore,
)
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import BOS, EOS, SPECIAL, Vocabulary, prepare_source, without_joiner
from ..decoding.search import make_search
from ..model.parts import on_host
from ..model.translator import Weights, create
from ..results.folders import read_checked, read_object, read_settings, was_written
from ..settings.errors import UserError
from ..settings.machine import cache_root, processor
from ..settings.run import SCHEMA_VERSION, RunSettings
from .checkpoint import load_vocabularies

BATCH = 64
"""Sentences per batch of a search or an evaluation."""


@lru_cache(maxsize=4)
def _reader(graph: nnx.GraphDef) -> Callable:
    """(weights, source, lengths, words before each step) -> the attention weights of the steps."""
    return jax.jit(lambda weights, *batch: nnx.merge(graph, weights).logits(*batch)[1])


class Translation(NamedTuple):
    """A sentence's tokens and its translation's, as a person reads them, with end tokens.

    ``weights``, if asked for, have a row per output token and a column per source token.
    """

    source: list[str]
    output: list[str]
    text: str
    ended: bool = True
    weights: Float[np.ndarray, "output source"] | None = None


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """A trained network with its settings and vocabularies, ready to translate."""

    settings: RunSettings
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    graph: nnx.GraphDef
    weights: Weights

    def unknown(self, sentences: Sequence[str]) -> tuple[list[str], int]:
        """Tokens of sentences that are not in the source vocabulary, and the number of all."""
        corpus, known = self.settings.corpus, set(self.source_vocabulary.words)
        texts = (prepare_source(sentence, corpus) for sentence in sentences)
        tokens = [*chain(*map(self.source_vocabulary.tokenizer.pieces, texts))]
        return [without_joiner(token) for token in tokens if token not in known], len(tokens)

    def encode(self, pairs: Sequence[SentencePair]) -> EncodedPairs:
        """Token ids; the source is reversed if the model reads it so."""
        vocabularies = self.source_vocabulary, self.target_vocabulary
        return encode_pairs(pairs, *vocabularies, self.settings.model.reverse_source)

    def attention(
        self, encoded: EncodedPairs, batch_size: int = BATCH
    ) -> list[Float[np.ndarray, "_ _"]]:
        """Attention weights for every target token of every pair, under teacher forcing.

        Matrices are target x source, end tokens last; an empty target has no row. Row t has the
        weights with which target token t was chosen: in placement ``input`` those of s_(t-1).
        Columns are in reading order, even if the network reads in reverse.
        """
        padded = EncodedPairs(encoded.source, [ids or [EOS] for ids in encoded.target])
        read, batches, results = _reader(self.graph), evaluation_batches(padded, batch_size), []
        for source, lengths, target, *_ in (item.batch for item in batches):
            before = np.insert(target[:, :-1], 0, BOS, axis=1)
            results.append(np.asarray(read(self.weights, source, lengths, before)))
        matrices = []
        for matrix, source, target in zip(restore(results, batches), *encoded, strict=True):
            words = range(len(source) - 1)
            reading = reversed(words) if self.settings.model.reverse_source else words
            matrix = matrix[: len(target), [*reading, len(source) - 1]]
            matrices.append(matrix.astype(np.float64))
        return matrices

    def decode(
        self, batches: list[EvaluationBatch]
    ) -> tuple[list[list[int]], list[list[str]], list[str]]:
        """The ids (also of end tokens), tokens and text of every output."""
        search = make_search(self.graph, self.settings.decoding)
        results = [search(self.weights, *item.batch[:2]) for item in batches]
        rows = restore([on_host(tokens) for tokens, _ in results], batches)
        lengths = restore([on_host(lengths) for _, lengths in results], batches)
        ids = [row[:length].tolist() for row, length in zip(rows, lengths, strict=True)]
        vocabulary = self.target_vocabulary
        tokens = [[vocabulary.tokens[number] for number in row if number != EOS] for row in ids]
        return ids, tokens, list(map(vocabulary.tokenizer.text, tokens))

    def translations(
        self, sentences: Sequence[str], batch_size: int = BATCH, attended: bool = False
    ) -> list[Translation]:
        """Translations, with attention weights if ``attended``; empty if there are no words."""
        results = [Translation([], [], "")] * len(sentences)
        texts = [prepare_source(sentence, self.settings.corpus) for sentence in sentences]
        words = dict(enumerate(map(self.source_vocabulary.tokenizer.pieces, texts)))
        words = {place: tokens for place, tokens in words.items() if tokens}
        if not words:
            return results
        encoded = self.encode([SentencePair(texts[place], "") for place in words])
        batches = evaluation_batches(encoded, batch_size)
        decoded = self.decode(batches)
        weights = [None] * len(words)
        if attended:
            weights = self.attention(EncodedPairs(encoded.source, decoded[0]))
        for place, ids, output, text, matrix in zip(words, *decoded, weights, strict=True):
            end, ended = SPECIAL[EOS], EOS in ids
            source = [*map(without_joiner, words[place]), end]
            target = [*map(without_joiner, output), *([end] if ended else [])]
            results[place] = Translation(source, target, text, ended, matrix)
        return results


def load_run(folder: Path, beam: int | None = None) -> TrainedRun:
    """Read the folder of a finished run of this version; ``beam`` replaces its beam size."""
    cache_programs()
    path = folder / "environment.json"
    if path.is_file() and read_object(path).get("schema") != SCHEMA_VERSION:
        raise UserError(
            f"the run {folder.name!r} was made by another version of this program; train it again"
        )
    path = folder / "weights.safetensors"
    if not was_written(path):
        raise UserError(
            f"no weights in {str(folder)!r}: the run did not end; repeat its command to continue"
        )
    decoding = {"beam_size": beam} if beam else {}
    settings = read_settings(folder).changed(decoding=decoding)
    source, target = load_vocabularies(folder, settings.corpus)
    graph, like = create(settings.model, len(source), len(target), settings.training.seed)
    tensors, weights = load(read_checked(path)), []
    for place, leaf in tree_leaves_with_path(like):
        name = keystr(place, simple=True, separator=".").removesuffix(".value")
        weights.append(jax.numpy.asarray(tensors[name], leaf.dtype))
    weights = jax.tree.unflatten(jax.tree.structure(like), weights)
    return TrainedRun(settings, source, target, graph, weights)


def cache_programs() -> None:
    """Keep compiled programs between runs, for this processor and version of jax."""
    kind, root = f"{platform.node()} {processor()} {version('jaxlib')}", cache_root()
    if root is None:
        return
    folder = root / sha256(kind.encode()).hexdigest()[:12]
    with suppress(OSError):  # no folder, no cache
        folder.mkdir(parents=True, exist_ok=True)
        # A program that cannot be read is compiled again.
        warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache")
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
