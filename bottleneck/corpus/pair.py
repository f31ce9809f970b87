"""Sentence pairs of any corpus, their splits and length buckets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..settings.concerns import bucket_labels, bucket_of
from .vocabulary import count_words

Link = tuple[int, int]
Edges = tuple[int, ...]  # the least length of each bucket


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A source sentence and its translation.

    ``links`` are the gold alignment as (source, target) positions, 0-based, over word tokens.
    ``bits`` is the exact -log2 probability of the pair in the language that it was drawn from.
    """

    source: str
    target: str
    links: tuple[Link, ...] = ()
    bits: float | None = None

    @property
    def words(self) -> int:
        """Source length before tokenisation."""
        return count_words(self.source)


Pairs = tuple[SentencePair, ...]


class Splits(NamedTuple):
    """Training, validation and test pairs, and notes on how they were made."""

    train: Pairs
    valid: Pairs
    test: Pairs
    notes: tuple[str, ...] = ()


def sources(pairs: Iterable[SentencePair]) -> frozenset[str]:
    """The source sentences, each once."""
    return frozenset(pair.source for pair in pairs)


def by_bucket(pairs: Iterable[SentencePair], edges: Edges) -> dict[str, list[SentencePair]]:
    """Pairs by bucket; the first entry has those shorter than every bucket ("under 5")."""
    groups = {label: [] for label in (f"under {edges[0]}", *bucket_labels(edges))}
    places = list(groups.values())
    for pair in pairs:
        places[bucket_of(pair.words, edges) + 1].append(pair)
    return groups
