"""One sentence pair, whatever corpus it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A source sentence and its translation.

    ``links`` are the gold word alignment as (source, target) positions, 0-based, over the tokens
    of ``tokens.tokenize``; empty where no gold is known. ``bits`` is the exact -log2 probability
    of the pair in the language that it was drawn from, before splits were kept apart and the
    lecture's sentences held out (which matters at two words, hardly from five); ``None`` where
    that is unknown.
    """

    source: str
    target: str
    links: tuple[Link, ...] = ()
    bits: float | None = None

    @property
    def words(self) -> int:
        """Source length: whitespace-separated words before tokenisation."""
        return len(self.source.split())


def sources(pairs: Iterable[SentencePair]) -> frozenset[str]:
    """The set of source sentences, for keeping splits apart."""
    return frozenset(pair.source for pair in pairs)


class Splits(NamedTuple):
    """Training, validation and test pairs, and what a person should know about their making."""

    train: tuple[SentencePair, ...]
    valid: tuple[SentencePair, ...]
    test: tuple[SentencePair, ...]
    notes: tuple[str, ...] = ()
