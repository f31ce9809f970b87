"""Sentence pairs as padded arrays: an endless stream to train on, and batches to evaluate.

Every padded shape is compiled once, and padding costs as much as words. So sentences are sorted by
their longer side, and cut by a dynamic programme into the classes with the least padding.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Int32

from .pair import SentencePair
from .vocabulary import EOS, PAD, Vocabulary


class EncodedPairs(NamedTuple):
    """Ids of every sentence, each with EOS at its end."""

    source: list[list[int]]
    target: list[list[int]]


class Batch(NamedTuple):
    """Padded ids; lengths count EOS, and the rest of each row is ``PAD``."""

    source: Int32[np.ndarray, "batch source_length"]
    source_lengths: Int32[np.ndarray, "batch"]
    target: Int32[np.ndarray, "batch target_length"]
    target_lengths: Int32[np.ndarray, "batch"]


class EvaluationBatch(NamedTuple):
    """A full batch; ``rows`` are the sentence numbers of its first rows, the others are fillers."""

    batch: Batch
    rows: Int[np.ndarray, "real"]


def encode_pairs(
    pairs: Iterable[SentencePair], source: Vocabulary, target: Vocabulary, reverse: bool = False
) -> EncodedPairs:
    """Ids of both sides; a reversed source keeps EOS last."""
    encoded = EncodedPairs([], [])
    for pair in pairs:
        ids = source.numbers(pair.source)
        encoded.source.append([*(reversed(ids) if reverse else ids), EOS])
        encoded.target.append([*target.numbers(pair.target), EOS])
    return encoded


def pad(pairs: EncodedPairs, rows: Sequence[int], lengths: Sequence[int]) -> Batch:
    """These rows as one batch, each side padded to its length."""
    arrays = []
    for side, length in zip(pairs, lengths, strict=True):
        padded = np.full((len(rows), length), PAD, dtype=np.int32)
        for index, row in enumerate(rows):
            padded[index, : len(side[row])] = side[row]
        arrays += [padded, np.array([len(side[row]) for row in rows], dtype=np.int32)]
    return Batch(*arrays)


@dataclass(frozen=True, eq=False)
class TrainingBatches:
    """An endless stream of full batches; the seed and k alone decide the batch of update k.

    ``classes`` hold all sentences, padded. All seeds have the same order of shapes, so that they
    can be stacked.
    """

    classes: tuple[Batch, ...]
    batch_sizes: tuple[int, ...]
    updates_per_epoch: int  # so many batches contain every sentence at least once
    seed: int
    _plans: dict[int, list] = field(default_factory=dict, init=False, repr=False)

    def batch(self, update: int) -> Batch:
        """The batch of update k (from 0)."""
        epoch, within = divmod(update, self.updates_per_epoch)
        if epoch not in self._plans:
            random = np.random.default_rng([self.seed % 2**64, epoch])
            batches = []
            for item, batch_size in zip(self.classes, self.batch_sizes, strict=True):
                # Shuffled and cut into full batches; the first members fill up the last.
                count = -(-len(item.source) // batch_size)
                shuffled = np.resize(random.permutation(len(item.source)), count * batch_size)
                batches.append(shuffled.reshape(count, batch_size))
            shapes = np.repeat(np.arange(len(batches)), [len(cut) for cut in batches])
            turns = [iter(cut) for cut in batches]
            order = np.random.default_rng(epoch).permutation(shapes)
            self._plans.clear()
            self._plans[epoch] = [(int(shape), next(turns[shape])) for shape in order]
        shape, members = self._plans[epoch][within]
        return Batch(*(array[members] for array in self.classes[shape]))


def training_batches(
    pairs: EncodedPairs,
    batch_size: int,
    seed: int,
    groups: int = 6,
    batch_tokens: int | None = None,
) -> TrainingBatches:
    """A stream of batches of ``batch_size`` pairs, or of about ``batch_tokens`` target tokens.

    Sentences are in at most ``groups`` classes by length; padded lengths are even.
    """
    lengths = np.array([[len(ids) for ids in side] for side in pairs])
    keys, key, counts = np.unique(lengths.max(axis=0), return_inverse=True, return_counts=True)
    longest = np.zeros((2, len(keys)), dtype=np.int64)
    np.maximum.at(longest, np.s_[:, key], lengths)
    longest += longest % 2  # similar lengths share a shape
    # Padded positions of a class from each key to each other. It is infinite for fewer than four
    # batches: the last batch of a class repeats sentences, and none is to be seen too often.
    totals = np.bincount(key, lengths[1] if batch_tokens else None)
    positions = np.full((len(keys), len(keys)), math.inf)
    for first in range(len(keys)):
        padded = np.maximum.accumulate(longest[:, first:], axis=1).sum(axis=0)
        enough = np.cumsum(totals[first:]) >= 4 * (batch_tokens or batch_size)
        positions[first, first:] = np.where(enough, padded * np.cumsum(counts[first:]), math.inf)
    # The fewest padded positions for keys up to each one, and the first key of each class.
    best = [(total, (0,)) for total in positions[0].tolist()]
    for _ in range(groups - 1):
        fewer, best = best, []
        for last, way in enumerate(fewer):
            ways = [way]
            for first, total in enumerate(positions[1 : last + 1, last].tolist(), start=1):
                before, starts = fewer[first - 1]
                ways.append((before + total, (*starts, first)))
            best.append(min(ways, key=itemgetter(0)))  # ties: the first
    classes, batch_sizes, updates = [], [], 0
    for first, end in pairwise((*best[-1][1], len(keys))):
        rows = np.flatnonzero((key >= first) & (key < end))
        classes.append(pad(pairs, rows.tolist(), longest[:, first:end].max(axis=1).tolist()))
        mean = float(lengths[1, rows].mean())
        batch_sizes.append(max(1, round(batch_tokens / mean)) if batch_tokens else batch_size)
        updates += -(-len(rows) // batch_sizes[-1])
    return TrainingBatches(tuple(classes), tuple(batch_sizes), updates, seed)


def evaluation_batches(pairs: EncodedPairs, batch_size: int) -> list[EvaluationBatch]:
    """Every sentence once, in full batches, the shortest first.

    Both sides have one padded length, a multiple of 16: padding costs less here than compiling.
    """
    longest = np.array([max(map(len, pair)) for pair in zip(*pairs, strict=True)])
    order, batches = np.argsort(longest, kind="stable"), []
    for cut in range(0, len(order), batch_size):
        rows = order[cut : cut + batch_size]
        # The last row is repeated up to a full batch.
        filled = np.concatenate([rows, np.repeat(rows[-1:], batch_size - len(rows))])
        length = -(-int(longest[rows].max()) // 16) * 16
        batches.append(EvaluationBatch(pad(pairs, filled.tolist(), (length, length)), rows))
    return batches


def restore(results: Iterable[Iterable], batches: Sequence[EvaluationBatch]) -> list:
    """Put results, one sequence of rows per batch, into the corpus's order, without fillers."""
    restored = {}
    for result, batch in zip(results, batches, strict=True):
        restored.update(zip(batch.rows.tolist(), result, strict=False))  # fillers have no row
    return [restored[row] for row in range(len(restored))]
