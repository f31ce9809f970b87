"""Translating with a finished run: the folder read back, sentences and whole texts put through.

A text is read a few thousand lines at a time, so that its length costs no memory.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import jax
import numpy as np
from flax import nnx
from jaxtyping import Float
from safetensors import SafetensorError

from ..corpus.batches import encode_pairs, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.subwords import links_from_weights
from ..corpus.vocabulary import EOS, UNK, Vocabulary, prepare_source
from ..decoding.search import make_search
from ..model.parts import on_host
from ..model.translator import Weights, create
from ..results.folders import (
    WEIGHTS,
    check_version,
    damaged,
    read_checked,
    read_settings,
    was_written,
)
from ..settings.errors import UserError, counted
from ..settings.machine import is_endless
from ..settings.run import RunSettings
from .attention import readable, weights_behind, with_copies
from .network_files import load_vocabularies, read_weights

CHUNK = 4096
"""Lines of a text in memory at once."""
BATCH = 64
"""Sentences of one search."""
LONGEST = 10_000_000
"""Bytes of a line: what never ends one would be read for ever (``/dev/zero``)."""

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
        results = [Translation([], [], "")] * len(sentences)
        filled = [place for place, sentence in enumerate(sentences) if self.tokens(sentence)]
        if not filled:
            return results
        given = [sentences[place] for place in filled]
        reverse = self.settings.model.reverse_source
        pairs = [SentencePair(self.prepare(sentence), "") for sentence in given]
        encoded = encode_pairs(pairs, self.source_vocabulary, self.target_vocabulary, reverse)
        batches = evaluation_batches(encoded, batch_size)
        search = _searcher(self.graph, self.settings.decoding)
        searched = [search(self.weights, b.batch.source, b.batch.source_lengths) for b in batches]
        rows = restore([on_host(result.tokens) for result in searched], batches)
        lengths = restore([on_host(result.lengths) for result in searched], batches)
        outputs = [row[:length].tolist() for row, length in zip(rows, lengths, strict=True)]
        words = [self.written(sentence) for sentence in given]
        tokens = [self.target_vocabulary.decode(ids) for ids in outputs]
        read = self.graph, self.weights, reverse, encoded.source, outputs
        if self.settings.decoding.copy_unknown:
            tokens = with_copies(*read, tokens, words)
        weights = weights_behind(*read) if attended else [None] * len(outputs)
        for index, place in enumerate(filled):
            results[place] = Translation(
                words[index],
                tokens[index],
                self.target_vocabulary.text(tokens[index]),
                EOS in outputs[index],
                encoded.source[index].count(UNK),
                weights[index],
            )
        return results


def attended(trained: TrainedRun, translation: Translation) -> Attended:
    """A translation whose weights were asked for, for people to look at.

    An output that ran into the cap has no end token, and so no row for one.
    """
    assert translation.weights is not None
    tokenizer = trained.target_vocabulary.tokenizer
    source = readable(translation.source, True, tokenizer)
    output = readable(translation.output, translation.ended, tokenizer)
    return Attended(source, output, translation.weights)


def load_run(folder: Path) -> TrainedRun:
    """Read a run's folder; a missing or damaged one is a ``UserError`` that names the file.

    So is a run of another version.
    """
    check_version(folder)
    settings, path = read_settings(folder), folder / WEIGHTS
    source, target = load_vocabularies(folder, settings.corpus)
    graph, like = create(settings.model, len(source), len(target), settings.training.seed)
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
    return TrainedRun(settings, source, target, graph, weights)


@dataclass
class Tally:
    """What became of the lines of a text so far; tokens are the source's.

    ``long`` and ``cut`` are the numbers of lines with more words than any that the run was trained
    on, and of those whose translations were cut.
    """

    lines: int = 0
    empty: int = 0
    tokens: int = 0
    unknown: int = 0
    long: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)

    def add(self, line: str, translation: Translation, longest: int) -> None:
        """Count a line; ``longest`` are the most words that the run was trained on."""
        self.lines += 1
        self.empty += not translation.source
        self.tokens += len(translation.source)
        self.unknown += translation.unknown
        self.long += [self.lines] * (len(line.split()) > longest)
        self.cut += [self.lines] * (not translation.ended)

    def notes(self, settings: RunSettings) -> list[str]:
        """One line for each thing that a reader of the translations should know."""
        longest, decoding = settings.corpus.longest_trained, settings.decoding
        cap = f"{decoding.cap_factor:g} x source + {decoding.cap_extra} tokens"
        long = f"longer than any trained on ({longest} words), translated all the same"
        notes = []
        if self.lines:
            notes.append(f"{counted(self.lines, 'line')} translated, {self.empty:,} of them empty")
        if self.unknown:
            share = f"{self.unknown:,} of {self.tokens:,}"
            notes.append(f"{share} source tokens are not in the training vocabulary")
        for lines, noun, text in (
            (self.long, "line", long),
            (self.cut, "translation", f"without an end, cut at the cap of {cap}"),
        ):
            if lines:
                others = " and others" if len(lines) > 1 else ""
                notes.append(f"{counted(len(lines), noun)} {text}: line {lines[0]:,}{others}")
        return notes


def translate_lines(
    trained: TrainedRun, lines: Iterable[str], tally: Tally, aligned: bool = False
) -> Iterator[list[str]]:
    """Translations in chunks, one for each line; an empty line for an empty line.

    ``aligned`` puts three columns behind a translation (``with_links``).
    """
    remaining = iter(lines)
    while chunk := list(islice(remaining, CHUNK)):
        translations = trained.translations(chunk, BATCH, aligned)
        for line, translation in zip(chunk, translations, strict=True):
            tally.add(line, translation, trained.settings.corpus.longest_trained)
        yield [with_links(trained, item) if aligned else item.text for item in translations]


def with_links(trained: TrainedRun, translation: Translation) -> str:
    """Translation, links, source tokens, output tokens, with tabs between.

    A link ``i-j`` says that output token j looked most at source token i, both counted from 0; end
    tokens are left out. Each output token has one, in the order of the output.
    """
    if translation.weights is None:
        return translation.text
    best = links_from_weights(translation.weights, len(translation.source), len(translation.output))
    links = [f"{i}-{j}" for i, j in sorted(best, key=lambda link: link[1])]
    tokens = [map(trained.display, side) for side in (translation.source, translation.output)]
    return "\t".join([translation.text, *(" ".join(column) for column in (links, *tokens))])


@contextmanager
def open_file(path: Path) -> Iterator[Iterator[str]]:
    """Lines of a UTF-8 file, plain or ``.gz``; what is wrong with it is a UserError."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        if is_endless(path):
            raise UserError(f"{str(path)!r} is a device and not a text; name a text file")
        file = opened(path, "rb")
    except OSError as error:
        raise UserError(
            f"{str(path)!r} cannot be read ({error.strerror}); name a text file, plain or .gz"
        ) from None
    with file:
        yield read_lines(file, repr(str(path)))


def read_lines(stream: BufferedIOBase, name: str) -> Iterator[str]:
    """Lines as text, without their ends; only LF and CRLF end a line.

    Raises UserError, with the line's number, for what is no UTF-8, has no end or cannot be read.
    """
    number = 0
    try:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                raise UserError(
                    f"{name} line {number:,} is over {LONGEST:,} bytes and no sentence; "
                    "is it a text, with one sentence per line?"
                )
            text = line.decode().removesuffix("\n").removesuffix("\r")
            yield text.removeprefix("\ufeff") if number == 1 else text  # a byte-order mark
    except UnicodeDecodeError:
        raise UserError(f"{name} line {number:,} is not UTF-8; save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{name} cannot be read after line {number:,} ({error}); is the file whole?"
        ) from None
