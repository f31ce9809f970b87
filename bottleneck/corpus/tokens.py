"""Word tokens that can be put back together: ``detokenize(tokenize(text))`` is the text.

A token that was glued to its neighbour carries the joiner on that side: ``"l'homme, dit-il"``
becomes ``l'￭ homme ￭, dit-il``. White space is folded to single spaces.
"""

import re
from functools import lru_cache

JOINER = "\uffed"
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
