"""Word tokens that can be put back together, a model's own pieces, and weights word by word.

``detokenize(tokenize(text))`` is the text: a token that was glued to its neighbour carries the
joiner on that side, so that ``"l'homme, dit-il"`` becomes ``l'￭ homme ￭, dit-il``. White space is
folded to single spaces.

Word tokens are what gold links, IBM model 1 and word classes speak of, in any run. What a model
reads and writes are the pieces of its run's `Tokenizer`: these word tokens, or `subwords`. Where
pieces are finer, the attention weights (or gradients) of the pieces of a source word are added, and
those of the pieces of a target word averaged: the weights of each target word still add up to 1.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..settings.concerns import CorpusSettings
from .pair import Link

JOINER = "\uffed"
"""Stands on the side on which a token was glued to its neighbour."""
_STAND_IN = "\u25a0"  # what a joiner in the user's own text is read as

_ELISION = r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)"
_POSSESSIVE = r"['’]s\b"
_WORD = r"\w+(?:(?!['’]s\b)[-'’.,]\w+)*"
_PIECES = re.compile(rf"({_ELISION})|({_POSSESSIVE}|[^\w\s])|({_WORD})", re.IGNORECASE)


def tokenize(text: str) -> list[str]:
    """Split text into word tokens: elisions, possessives and punctuation stand alone."""
    tokens: list[str] = []
    for chunk in text.replace(JOINER, _STAND_IN).split():
        tokens.extend(_split_chunk(chunk))
    return tokens


@lru_cache(maxsize=2**16)  # text repeats its words: half the time, for a grammar or for laws
def _split_chunk(chunk: str) -> tuple[str, ...]:
    """Split one whitespace-free chunk; between two pieces exactly one carries the joiner."""
    if chunk.isalnum():
        return (chunk,)
    pieces = [(match.group(), match.lastindex) for match in _PIECES.finditer(chunk)]
    tokens = [text for text, _ in pieces]
    for place in range(1, len(pieces)):
        if pieces[place][1] == 2:  # the right piece is not a word: it carries the joiner
            tokens[place] = JOINER + tokens[place]
        else:
            tokens[place - 1] += JOINER
    return tuple(tokens)


def detokenize(tokens: list[str]) -> str:
    """Join word tokens into text; the inverse of ``tokenize`` up to white space."""
    text = " ".join(tokens)
    return text.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def plain(token: str) -> str:
    """The token as a person reads it, without joiners."""
    return token.replace(JOINER, "")


def is_word(token: str) -> bool:
    """Whether a token is more than punctuation."""
    return any(sign.isalnum() for sign in token)


@runtime_checkable  # so that beartype can check it in tests
class Tokenizer(Protocol):
    """How text becomes the pieces that a model reads and writes, and text again."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text; they are as many as the model has tokens, less its end token."""

    def text(self, pieces: Sequence[str]) -> str:
        """The text of pieces, a model's own too; of ``pieces(text)`` it is the folded text."""

    def display(self, piece: str) -> str:
        """A piece as a person reads it."""

    def size(self, piece: str) -> int:
        """How many bytes of the text, in UTF-8 and without its spaces, a piece stands for."""


@dataclass(frozen=True)
class Words:
    """Word tokens as pieces."""

    def pieces(self, text: str) -> list[str]:
        """The word tokens."""
        return tokenize(text)

    def text(self, pieces: Sequence[str]) -> str:
        """The word tokens joined."""
        return detokenize(list(pieces))

    def display(self, piece: str) -> str:
        """Without joiners."""
        return plain(piece)

    def size(self, piece: str) -> int:
        """Bytes without joiners."""
        return len(plain(piece).encode())


WORDS = Words()


def prepare_source(sentence: str, corpus: CorpusSettings) -> str:
    """Normalise as the corpus was: case, Unicode form, spaces; the grammar has no full stops."""
    lower = corpus.lowercase or corpus.name == "grammar"
    # Case first: the small letter may be one character where the capital is two.
    text = unicodedata.normalize("NFC", sentence.lower() if lower else sentence)
    folded = " ".join(text.split())
    return folded.rstrip(" .!?") if corpus.name == "grammar" else folded


Shares = Float[ndarray, "_ _"]
"""How much of each piece lies in each word, pieces x words: rows add up to 1. The end token is the
last of both."""


def shares_of(pieces: Sequence[str], words: Sequence[str], tokenizer: Tokenizer) -> Shares:
    """The shares of pieces in word tokens (or words between spaces) of the same text, by bytes.

    A piece that reaches over a border of word tokens, ``).``, belongs to both. Raises ValueError
    where the two are not the same text.
    """
    return overlaps([tokenizer.size(piece) for piece in pieces], [*map(WORDS.size, words)])


def overlaps(pieces: Sequence[int], words: Sequence[int]) -> Shares:
    """The shares of pieces of these sizes in words of these sizes, end tokens put behind.

    A piece of no size belongs to the word that follows. Raises ValueError where sizes do not add up
    to the same.
    """
    if sum(pieces) != sum(words):
        raise ValueError(f"pieces of {sum(pieces)} bytes for words of {sum(words)}")
    # The end token is a piece of size 1 behind the text, and so is the end word.
    sizes, widths = (np.array([*side, 1], np.int64) for side in (pieces, words))
    starts, ends = np.cumsum(sizes) - sizes, np.cumsum(widths)
    last_starts = np.maximum.outer(starts, ends - widths)
    common = np.minimum.outer(starts + np.maximum(sizes, 1), ends) - last_starts
    shared = np.maximum(common, 0).astype(np.float64)
    return shared / shared.sum(axis=1, keepdims=True)


def backwards(shares: Shares) -> Shares:
    """The shares of a text that is read from its end; the end token stays the last."""
    reordered = shares[[*reversed(range(len(shares) - 1)), -1]]
    return reordered[:, [*reversed(range(shares.shape[1] - 1)), -1]]


def by_word(
    weights: Float[ndarray, "target_pieces source_pieces"],
    source: Float[ndarray, "source_pieces source_words"],
    target: Float[ndarray, "target_pieces target_words"],
) -> Float[ndarray, "target_words source_words"]:
    """Weights of the pieces of a source word added, of those of a target word averaged.

    A source piece of two words gives each its share; a target piece of two words counts in both.
    Where pieces are words, nothing changes.
    """
    touching = (target > 0).astype(np.float64)
    return (touching / touching.sum(axis=0)).T @ weights @ source


def links_from_weights(
    weights: Float[ndarray, "rows columns"], source_words: int, target_words: int
) -> frozenset[Link]:
    """Link each target word to the source word with the largest weight, the first of equals.

    Rows are target tokens, columns source tokens; those past the words (end tokens, padding)
    are left out before looking.
    """
    best = weights[:target_words, :source_words].argmax(axis=1) if source_words else ()
    return frozenset((int(i), j) for j, i in enumerate(best))
