"""Translating with a finished run, sentences and whole texts, and the attention behind outputs.

A text is read a few thousand lines at a time, so that its length costs no memory. An unknown word
of an output can be replaced by the source word that it attends to most: the replacement of Luong et
al. (2015b, section 3.3) without its dictionary, for names and numbers, which unknown words mostly
are, are the same in both languages.
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

from ..corpus.batches import EncodedPairs, encode_pairs, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.subwords import links_from_weights
from ..corpus.vocabulary import BOS, EOS, UNK, WORDS, Tokenizer, Vocabulary, prepare_source
from ..decoding.search import make_attention_weights, make_search
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
from ..settings.errors import UsageError, UserError, counted
from ..settings.machine import is_endless
from ..settings.run import RunSettings
from .checkpoint import load_vocabularies, read_weights

CHUNK = 4096
"""Lines of a text in memory at once."""
BATCH = 64
"""Sentences of one search."""
LONGEST = 10_000_000
"""Bytes of a line: what never ends one would be read for ever (``/dev/zero``)."""
END = "</s>"
"""How the end token is shown."""

_searcher = lru_cache(maxsize=4)(make_search)
_reader = lru_cache(maxsize=4)(make_attention_weights)


def attention_matrices(
    graph: nnx.GraphDef,
    weights: Weights,
    encoded: EncodedPairs,
    reverse: bool,
    batch_size: int = BATCH,
) -> list[Float[np.ndarray, "_ _"]]:
    """Weights of every step of every pair's target, teacher-forced, end tokens included.

    Matrices are target x source; an empty target has no row. Row t holds the weights with which
    target token t was chosen, in either placement: with ``input`` they are those of s_(t-1), read
    before token t is known. Columns are in reading order though the network read the words in
    ``reverse``; the end token is the last of both.
    """
    padded = EncodedPairs(encoded.source, [ids or [EOS] for ids in encoded.target])
    read, batches, results = _reader(graph), evaluation_batches(padded, batch_size), []
    for source, lengths, target, *_ in (item.batch for item in batches):
        start = np.full((len(target), 1), BOS, np.int32)
        before = np.concatenate([start, target[:, :-1]], axis=1)
        results.append(np.asarray(read(weights, source, lengths, before)))
    sizes = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    matrices = []
    for matrix, (rows, columns) in zip(restore(results, batches), sizes, strict=True):
        words = range(columns - 1)
        order = [*(reversed(words) if reverse else words), columns - 1]
        matrices.append(matrix[:rows, order].astype(np.float64))
    return matrices


def check_pointing(settings: RunSettings, wish: str) -> None:
    """UsageError, which names the wish, for an arm whose weights point at no word."""
    if not settings.model.points:
        raise UsageError(
            f"{wish} needs attention weights that point at a word, and arm {settings.model.arm} "
            f"has none; take an arm with attention (model.attention, --arm) or leave {wish} out"
        )


def with_copies(
    graph: nnx.GraphDef,
    weights: Weights,
    encoded: EncodedPairs,
    reverse: bool,
    tokens: Sequence[list[str]],
    words: Sequence[list[str]],
) -> list[list[str]]:
    """The tokens of every output, no unknown word among them.

    ``encoded`` are sources and outputs as they were read and written, ``tokens`` the outputs' and
    ``words`` the sources' as they are to be copied, in reading order, without the end: that is the
    last column of the weights, and no word to copy.
    """
    copied = list(tokens)
    lacking = [place for place, ids in enumerate(encoded.target) if UNK in ids]
    pairs = EncodedPairs(*([side[place] for place in lacking] for side in encoded))
    matrices = attention_matrices(graph, weights, pairs, reverse)
    for place, ids, matrix in zip(lacking, pairs.target, matrices, strict=True):
        source = words[place]
        attended = matrix[:, : len(source)].argmax(axis=1)
        copied[place] = [
            source[attended[row]] if ids[row] == UNK else token
            for row, token in enumerate(tokens[place])
        ]
    return copied


def readable(tokens: list[str], ended: bool, tokenizer: Tokenizer = WORDS) -> list[str]:
    """Tokens as a person reads them, the end token last where there is one."""
    return [*map(tokenizer.display, tokens), *([END] if ended else [])]


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
        reverse, vocabulary = self.settings.model.reverse_source, self.target_vocabulary
        pairs = [SentencePair(self.prepare(sentences[place]), "") for place in filled]
        encoded = encode_pairs(pairs, self.source_vocabulary, vocabulary, reverse)
        batches = evaluation_batches(encoded, batch_size)
        search = _searcher(self.graph, self.settings.decoding)
        searched = [search(self.weights, b.batch.source, b.batch.source_lengths) for b in batches]
        rows = restore([on_host(result.tokens) for result in searched], batches)
        lengths = restore([on_host(result.lengths) for result in searched], batches)
        outputs = [row[:length].tolist() for row, length in zip(rows, lengths, strict=True)]
        words = [self.written(sentences[place]) for place in filled]
        tokens = [vocabulary.decode(ids) for ids in outputs]
        read = self.graph, self.weights, EncodedPairs(encoded.source, outputs), reverse
        if self.settings.decoding.copy_unknown:
            tokens = with_copies(*read, tokens, words)
        weights = attention_matrices(*read) if attended else [None] * len(outputs)
        for index, place in enumerate(filled):
            results[place] = Translation(
                words[index],
                tokens[index],
                vocabulary.text(tokens[index]),
                EOS in outputs[index],
                encoded.source[index].count(UNK),
                weights[index],
            )
        return results


def attended(trained: TrainedRun, translation: Translation) -> Translation:
    """A translation with its words as a person reads them, ends included.

    An output that ran into the cap has no end token, and so no row of the weights for one.
    """
    tokenizer = trained.target_vocabulary.tokenizer
    return translation._replace(
        source=readable(translation.source, True, tokenizer),
        output=readable(translation.output, translation.ended, tokenizer),
    )


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

    def notes(self, settings: RunSettings) -> list[str]:
        """One line for each thing that a reader of the translations should know."""
        longest, decoding = settings.corpus.longest_trained, settings.decoding
        cap = f"{decoding.cap_factor:g} x source + {decoding.cap_extra} tokens"
        notes = []
        if self.lines:
            notes.append(f"{counted(self.lines, 'line')} translated, {self.empty:,} of them empty")
        if self.unknown:
            share = f"{self.unknown:,} of {self.tokens:,}"
            notes.append(f"{share} source tokens are not in the training vocabulary")
        long = f"longer than any trained on ({longest} words), translated all the same"
        cut = f"without an end, cut at the cap of {cap}"
        for lines, noun, text in ((self.long, "line", long), (self.cut, "translation", cut)):
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
    remaining, longest = iter(lines), trained.settings.corpus.longest_trained
    while chunk := list(islice(remaining, CHUNK)):
        translations = trained.translations(chunk, BATCH, aligned)
        for line, item in zip(chunk, translations, strict=True):
            tally.lines += 1
            tally.empty += not item.source
            tally.tokens += len(item.source)
            tally.unknown += item.unknown
            tally.long += [tally.lines] * (len(line.split()) > longest)
            tally.cut += [tally.lines] * (not item.ended)
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
