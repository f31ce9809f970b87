"""Buckets of source length in words, the same for every system, fixed before looking."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..settings.buckets import bucket_labels


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
