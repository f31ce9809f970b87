"""IBM model 1 (Brown et al. 1993, section 4.1): which word is the translation of which.

Target word j of J has one source word i of 0..I, where 0 is the empty word NULL, every i equally
likely, and P(target | source) = prod_j sum_i t(f_j | e_i) / (I + 1), the factor for J left out.
EM finds t, from equal probabilities: the log-likelihood is concave, so that no start is better
than another. Nothing is smoothed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..corpus.pair import Link

Tokens = Sequence[str]
Pair = tuple[Tokens, Tokens]

NULL, UNKNOWN = 0, -1
CHUNK_CELLS = 2**20
"""Cells (target words x source words) of the sentences that are counted at once."""


@dataclass(frozen=True, eq=False)
class IBM1:
    """A trained model: t(target | source) of every word pair that stood in one sentence pair.

    ``keys`` are source id x number of target words + target id, ascending; source id 0 is NULL.
    """

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: Int[ndarray, "entries"]
    probabilities: Float[ndarray, "entries"]

    def table(self, source: Tokens, target: Tokens) -> Float[ndarray, "target source_and_null"]:
        """t(target word | source word), NULL in column 0; 0 where unseen together."""
        e = np.array([NULL, *(self.source_ids.get(word, UNKNOWN) for word in source)], np.int64)
        f = np.array([self.target_ids.get(word, UNKNOWN) for word in target], np.int64)
        keys = e[None, :] * len(self.target_ids) + f[:, None]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        seen = (e[None, :] >= 0) & (f[:, None] >= 0) & (self.keys[places] == keys)
        return np.where(seen, self.probabilities[places], 0.0)

    def align(self, pairs: Iterable[Pair]) -> list[frozenset[Link]]:
        """(source, target) places of the likeliest source word of each target word.

        None for a target word whose likeliest source is NULL alone. The model knows no order:
        among equals (copies of a word; all words, for a target word that it never saw) it is the
        nearest to the diagonal.
        """
        links = []
        for source, target in pairs:
            if not source or not target:
                links.append(frozenset())
                continue
            table = self.table(source, target)
            equal = table[:, 1:] == table.max(axis=1, keepdims=True)
            nearest = nearest_to_diagonal(equal)
            links.append(frozenset((i, j) for i, j in nearest if equal[j, i]))
        return links


def nearest_to_diagonal(allowed: Bool[ndarray, "target source"]) -> frozenset[Link]:
    """Link each target word to the allowed source word nearest to the diagonal, else to any.

    Distance is |(i + 1/2) / I - (j + 1/2) / J|; of equals it is the later word. If all are allowed
    this is the baseline that knows no words: i = floor((j + 1/2) I / J).
    """
    targets, sources = allowed.shape
    i, j = np.arange(sources)[None, :], np.arange(targets)[:, None]
    distance = np.abs((2 * i + 1) * targets - (2 * j + 1) * sources)
    far = 2 * sources * targets + 1
    nearest = sources - 1 - np.where(allowed, distance, far)[:, ::-1].argmin(axis=1)
    return frozenset(zip(nearest.tolist(), range(targets), strict=True))


def train(pairs: Sequence[Pair], *, iterations: int = 5) -> tuple[IBM1, Float[ndarray, "steps"]]:
    """Train by EM; also the log-likelihood (nats) of the text before each iteration.

    Pairs with an empty side are left out; without any other raises ValueError. Time and memory go
    with the cells, target words x (source words of the sentence, and NULL).
    """
    full = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
    if not full:
        raise ValueError("IBM model 1 needs a sentence pair with words on both sides")
    source_ids, target_ids = (
        {word: index for index, word in enumerate(dict.fromkeys(chain(*side)), first)}
        for side, first in zip(zip(*full, strict=True), (NULL + 1, 0), strict=True)
    )
    lengths = np.array([(len(source) + 1, len(target)) for source, target in full])
    edges = np.flatnonzero(np.diff(np.cumsum(lengths.prod(axis=1)) // CHUNK_CELLS)) + 1
    chunks = []
    for start, stop in pairwise([0, *edges.tolist(), len(full)]):
        cells = []
        for source, target in full[start:stop]:
            columns = [NULL, *(source_ids[word] * len(target_ids) for word in source)]
            cells.append(np.add.outer([target_ids[word] for word in target], columns).ravel())
        # The chunk's entries (word pairs), the entry of each cell, the cells of each target word.
        places, entries = pd.factorize(np.concatenate(cells))
        chunks.append((entries, places.astype(np.int32), np.repeat(*lengths[start:stop].T)))
    keys = np.unique(np.concatenate([entries for entries, _, _ in chunks]))
    chunks = [(np.searchsorted(keys, entries), *rest) for entries, *rest in chunks]
    sources = keys // len(target_ids)
    probabilities = np.full(len(keys), 1 / len(target_ids))
    history = np.zeros(iterations)
    for step in range(iterations):
        counts = np.zeros(len(keys))
        for entries, cells, widths in chunks:
            t = probabilities[entries][cells]
            sums = np.add.reduceat(t, np.cumsum(widths) - widths)
            history[step] += float(np.log(sums / widths).sum())
            counts[entries] += np.bincount(cells, t / np.repeat(sums, widths))
        probabilities = counts / np.bincount(sources, counts)[sources]
    return IBM1(source_ids, target_ids, keys, probabilities), history
