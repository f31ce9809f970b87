"""What the grammar is made of: rules over symbols, and words.

A symbol that starts with a capital letter is rewritten; any other is a token that stands in the
English sentence as it is. A token that carries a joiner (a comma, the possessive) is glued to the
word before it and so adds no length.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..tokens import JOINER

COMMA = JOINER + ","
POSSESSIVE = JOINER + "'s"

Links = tuple[int, ...]
Item = tuple[str, Links]  # a French form before elision, and the source positions it stands for


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A leaf: its English tokens, and what its French is made from."""

    symbol: str
    tokens: tuple[str, ...]
    value: Any
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rewriting; ``build`` makes the value of the whole from the parts' values, in order.

    A token's value is its position in the source, a leaf's is the pair (value, positions).
    """

    symbol: str
    parts: tuple[str, ...]
    build: Callable[..., Any]
    weight: float = 1.0


Choice = Word | Rule


def is_symbol(part: str) -> bool:
    """Whether a part is rewritten, rather than being a token of the sentence."""
    return part[0].isupper()


def words_in(token: str) -> int:
    """How many whitespace-separated words a token adds: none if glued to the word before."""
    return 0 if token.startswith(JOINER) else 1


def rule(symbol: str, parts: str, build: Callable[..., Any], weight: int | float = 1) -> Rule:
    """A rule whose parts are written with spaces between them; "," and "'s" are glued tokens."""
    glued = {",": COMMA, "'s": POSSESSIVE}
    return Rule(
        symbol, tuple(glued.get(part, part) for part in parts.split()), build, float(weight)
    )
