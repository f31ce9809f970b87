"""Length buckets: the same for every corpus, system and table, fixed before looking.

A length is the number of whitespace-separated source words, before tokenisation. Buckets are
given by their lower edges; the last is open, and what lies below the first edge is outside all.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Int
from numpy import ndarray

OUTSIDE = -1
"""The place of a sentence that is shorter than every bucket."""


def bucket_of(words: int, edges: tuple[int, ...]) -> int:
    """Place of the bucket that holds this length, ``OUTSIDE`` below the first edge."""
    return bisect_right(edges, words) - 1


def bucket_labels(edges: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the buckets: ``("5-10", "11-20", "21+")`` for edges 5, 11, 21."""
    closed = [span_label(low, high - 1) for low, high in pairwise(edges)]
    return (*closed, f"{edges[-1]}+")


def span_label(low: int, high: int) -> str:
    """``"5-10"``, or ``"5"`` where both ends are the same."""
    return str(low) if low == high else f"{low}-{high}"


def holds(bucket: str, words: int) -> bool:
    """Whether a bucket of this name ("21-30", "41+") holds sentences of so many words."""
    if bucket.endswith("+"):
        return words >= int(bucket[:-1])
    low, _, high = bucket.partition("-")
    return int(low) <= words <= int(high or low)


@dataclass(frozen=True)
class Buckets:
    """Ranges of source length from ascending lower edges (words); the last one is open."""

    edges: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names such as ``5-10`` and, for the last, ``41+``."""
        return bucket_labels(self.edges)

    def assign(self, words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
        """Index of each sentence's bucket, -1 (outside) below the first edge."""
        return np.searchsorted(self.edges, words, side="right") - 1
