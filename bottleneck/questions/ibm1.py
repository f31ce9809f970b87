"""IBM model 1 (Brown et al. 1993, section 4.1): which word is the translation of which.

Target word j of J has one source word i of 0..I, where 0 is the empty word NULL, every i equally
likely, and P(target | source) = prod_j sum_i t(f_j | e_i) / (I + 1), the factor for J left out.
EM finds t, from equal probabilities: the log-likelihood is concave, so that no start is better
than another. Nothing is smoothed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..corpus.pair import Link

Tokens = Sequence[str]
Pair = tuple[Tokens, Tokens]

NULL = 0
_UNKNOWN = -1
_CHUNK_CELLS = 2**20


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
        e = np.array([NULL, *(self.source_ids.get(word, _UNKNOWN) for word in source)], np.int64)
        f = np.array([self.target_ids.get(word, _UNKNOWN) for word in target], np.int64)
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
            chosen = nearest_to_diagonal(equal)
            links.append(frozenset((int(i), j) for j, i in enumerate(chosen) if equal[j, i]))
        return links


def nearest_to_diagonal(allowed: Bool[ndarray, "target source"]) -> Int[ndarray, "target"]:
    """For each target word the allowed source word nearest to the diagonal, the later of equals.

    Distance is |(i + 1/2) / I - (j + 1/2) / J|. Where nothing is allowed, any.
    """
    targets, sources = allowed.shape
    i, j = np.arange(sources)[None, :], np.arange(targets)[:, None]
    distance = np.abs((2 * i + 1) * targets - (2 * j + 1) * sources)
    far = 2 * sources * targets + 1
    return sources - 1 - np.where(allowed, distance, far)[:, ::-1].argmin(axis=1)


def train(pairs: Sequence[Pair], *, iterations: int = 5) -> tuple[IBM1, Float[ndarray, "steps"]]:
    """Train by EM; also the log-likelihood (nats) of the text before each iteration.

    Pairs with an empty side are left out; without any other raises ValueError. Time and memory go
    with the cells, target words x (source words of the sentence, and NULL).
    """
    full = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
    if not full:
        raise ValueError("IBM model 1 needs a sentence pair with words on both sides")
    words = (dict.fromkeys(word for pair in full for word in pair[side]) for side in (0, 1))
    source_ids, target_ids = (
        {word: number for number, word in enumerate(side, first)}
        for side, first in zip(words, (NULL + 1, 0), strict=True)
    )
    sizes = np.cumsum([(len(source) + 1) * len(target) for source, target in full])
    edges = np.flatnonzero(np.diff(sizes // _CHUNK_CELLS)) + 1
    chunks = [
        _chunk(full[start:stop], source_ids, target_ids)
        for start, stop in pairwise([0, *edges.tolist(), len(full)])
    ]
    keys, places = np.unique(
        np.concatenate([chunk.entries for chunk in chunks]), return_inverse=True
    )
    ends = np.cumsum([len(chunk.entries) for chunk in chunks])[:-1]
    numbered = zip(chunks, np.split(places, ends), strict=True)
    chunks = [chunk._replace(entries=entries) for chunk, entries in numbered]
    owners = keys // len(target_ids)
    probabilities = np.full(len(keys), 1 / len(target_ids))
    history = np.zeros(iterations)
    for step in range(iterations):
        counts = np.zeros(len(keys))
        for entries, cells, widths in chunks:
            t = probabilities[entries][cells]
            sums = np.add.reduceat(t, np.cumsum(widths) - widths)
            history[step] += float(np.log(sums / widths).sum())
            counts[entries] += np.bincount(cells, t / np.repeat(sums, widths))
        probabilities = counts / np.bincount(owners, counts)[owners]
    return IBM1(source_ids, target_ids, keys, probabilities), history


class _Chunk(NamedTuple):
    """The cells of some sentences, target word by target word.

    ``entries`` are the word pairs that occur (keys, then places in the model's keys) and
    ``cells`` the entry of each cell; ``widths`` are the cells of each target word.
    """

    entries: Int[ndarray, "entries"]
    cells: Int[ndarray, "cells"]
    widths: Int[ndarray, "target"]


def _chunk(pairs: Sequence[Pair], source_ids: dict[str, int], target_ids: dict[str, int]) -> _Chunk:
    """Number the cells of some sentences by their keys: source id x target words + target id."""
    keys = []
    for source, target in pairs:
        rows = [target_ids[word] for word in target]
        columns = [NULL, *(source_ids[word] * len(target_ids) for word in source)]
        keys.append(np.add.outer(rows, columns).ravel())
    lengths = np.array([(len(source) + 1, len(target)) for source, target in pairs])
    cells, entries = pd.factorize(np.concatenate(keys))
    return _Chunk(entries, cells.astype(np.int32), np.repeat(*lengths.T))
