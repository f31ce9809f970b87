"""Word tokens that can be put back together, and a model's own pieces.

``detokenize(tokenize(text))`` is the text: a token that was glued to its neighbour carries the
joiner on that side, so that ``"l'homme, dit-il"`` becomes ``l'￭ homme ￭, dit-il``. White space is
folded to single spaces.

Word tokens are what gold links, IBM model 1 and word classes speak of, in any run. What a model
reads and writes are the pieces of its run's `Tokenizer`: these word tokens, or `subwords`.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..settings.concerns import CorpusSettings

JOINER = "\uffed"
"""Stands on the side on which a token was glued to its neighbour; in the user's text it is read as
a square."""

_ELISION = r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w)"
_POSSESSIVE = r"['’]s\b"
_WORD = r"\w+(?:(?!['’]s\b)[-'’.,]\w+)*"
_PIECES = re.compile(rf"({_ELISION})|({_POSSESSIVE}|[^\w\s])|({_WORD})", re.IGNORECASE)


def tokenize(text: str) -> list[str]:
    """Split text into word tokens: elisions, possessives and punctuation stand alone."""
    tokens: list[str] = []
    for chunk in text.replace(JOINER, "\u25a0").split():
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


def detokenize(tokens: Sequence[str]) -> str:
    """Join word tokens into text; the inverse of ``tokenize`` up to white space."""
    text = " ".join(tokens)
    return text.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def plain(token: str) -> str:
    """The token as a person reads it, without joiners."""
    return token.replace(JOINER, "")


def is_word(token: str) -> bool:
    """Whether a token is more than punctuation."""
    return any(sign.isalnum() for sign in token)


@dataclass(frozen=True)
class Tokenizer:
    """How text becomes the pieces that a model reads and writes, and text again: word tokens."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text; they are as many as the model has tokens, less its end token."""
        return tokenize(text)

    def text(self, pieces: Sequence[str]) -> str:
        """The text of pieces, a model's own too; of ``pieces(text)`` it is the folded text."""
        return detokenize(pieces)

    def display(self, piece: str) -> str:
        """A piece as a person reads it."""
        return plain(piece)

    def size(self, piece: str) -> int:
        """How many bytes of the text, in UTF-8 and without its spaces, a piece stands for."""
        return len(plain(piece).encode())


WORDS = Tokenizer()


def prepare_source(sentence: str, corpus: CorpusSettings) -> str:
    """Normalise as the corpus was: case, Unicode form, spaces; the grammar has no full stops."""
    lower = corpus.lowercase or corpus.name == "grammar"
    # Case first: the small letter may be one character where the capital is two.
    text = unicodedata.normalize("NFC", sentence.lower() if lower else sentence)
    folded = " ".join(text.split())
    return folded.rstrip(" .!?") if corpus.name == "grammar" else folded
