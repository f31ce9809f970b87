"""IBM model 1 learns from sentence pairs alone which words translate which.

P(target | source) = prod_j sum_i t(f_j | e_i) / (I + 1), where source word 0 is NULL, no word
(Brown et al. 1993, section 4.1).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.vocabulary import tokenize


@dataclass(frozen=True, eq=False)
class IBM1:
    """A trained model: t(target | source) of every word pair that occurs in a sentence pair.

    A key is the source id times the number of target words, plus the target id; keys ascend.
    """

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: Int[ndarray, "entries"]
    probabilities: Float[ndarray, "entries"]

    def align(self, source: Sequence[str], target: Sequence[str]) -> frozenset[Link]:
        """Link each target word to its likeliest source word, if that is not NULL."""
        e = np.array([0, *(self.source_ids.get(word, -1) for word in source)], np.int64)
        f = np.array([self.target_ids.get(word, -1) for word in target], np.int64)
        keys = e[None, :] * len(self.target_ids) + f[:, None]
        entries = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        seen = (f[:, None] >= 0) & (self.keys[entries] == keys)
        # A row per target word, NULL in column 0; 0 for pairs never seen.
        table = np.where(seen, self.probabilities[entries], 0.0)
        equal = table[:, 1:] == table.max(axis=1, keepdims=True)
        nearest = nearest_to_diagonal(equal) if source and target else ()
        return frozenset((i, j) for i, j in nearest if equal[j, i])


def nearest_to_diagonal(allowed: Bool[ndarray, "target source"]) -> frozenset[Link]:
    """Link each target word to the allowed source word nearest to the diagonal, or else to any.

    If all words are allowed, this is the diagonal baseline: i = floor((j + 1/2) I / J).
    """
    targets, sources = allowed.shape
    i, j = np.arange(sources)[None, :], np.arange(targets)[:, None]
    distance = np.abs((2 * i + 1) * targets - (2 * j + 1) * sources)
    far = 2 * sources * targets + 1
    nearest = sources - 1 - np.where(allowed, distance, far)[:, ::-1].argmin(axis=1)
    return frozenset(zip(nearest.tolist(), range(targets), strict=True))


def train(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], *, iterations: int = 5, chunk: int = 500
) -> IBM1:
    """Train IBM model 1 by EM on pairs without an empty side, counted ``chunk`` pairs at once."""
    full = [pair for pair in pairs if all(pair)]
    source_ids, target_ids = (
        {word: index for index, word in enumerate(dict.fromkeys(chain(*side)), first)}
        for side, first in zip(zip(*full, strict=True), (1, 0), strict=True)
    )
    chunks = []
    for start in range(0, len(full), chunk):
        cells, widths = [], []
        for source, target in full[start : start + chunk]:
            columns = [0, *(source_ids[word] * len(target_ids) for word in source)]
            cells.append(np.add.outer([target_ids[word] for word in target], columns).ravel())
            widths += [len(columns)] * len(target)
        # The chunk's entries (word pairs), the entry of each cell, the cells of each target word.
        places, entries = pd.factorize(np.concatenate(cells))
        chunks.append((entries, places.astype(np.int32), np.array(widths)))
    keys = np.unique(np.concatenate([entries for entries, _, _ in chunks]))
    chunks = [(np.searchsorted(keys, entries), *rest) for entries, *rest in chunks]
    sources = keys // len(target_ids)
    probabilities = np.full(len(keys), 1 / len(target_ids))
    for _ in range(iterations):
        counts = np.zeros(len(keys))
        for entries, cells, widths in chunks:
            t = probabilities[entries][cells]
            sums = np.add.reduceat(t, np.cumsum(widths) - widths)
            counts[entries] += np.bincount(cells, t / np.repeat(sums, widths))
        probabilities = counts / np.bincount(sources, counts)[sources]
    return IBM1(source_ids, target_ids, keys, probabilities)


def words_of(pair: SentencePair) -> tuple[list[str], list[str]]:
    """The tokens of source and target."""
    return tokenize(pair.source), tokenize(pair.target)
