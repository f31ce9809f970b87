"""Few padded shapes: sentences of like lengths share one, cut where padding is least.

Every shape is compiled once and every padded place is computed, so both are to be few. Sentences
are ordered by the longer of their sides, and a dynamic programme cuts this order into classes.
(Ordered by the sum of the sides, six classes padded 37 instead of 26 places in 100 of a text of
laws: a class then holds both long sources with short targets and the reverse.)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

MULTIPLE = 2
"""Padded lengths are a multiple of this, so that near lengths share a shape."""

_UNCUT = -1


class ShapeClass(NamedTuple):
    """Sentences that share a padded shape; ``rows`` are their places in the corpus, ascending."""

    rows: Int[np.ndarray, "members"]
    source_length: int
    target_length: int


def shape_classes(
    source_lengths: Sequence[int],
    target_lengths: Sequence[int],
    groups: int,
    smallest: int,
    sizes: Sequence[int] | None = None,
) -> tuple[ShapeClass, ...]:
    """Put every sentence into one of at most ``groups`` classes, the shortest first.

    A class holds at least ``smallest`` sentences, or with ``sizes`` of the sentences a sum of at
    least that; few sentences make fewer classes, at least one.
    """
    source, target = np.asarray(source_lengths), np.asarray(target_lengths)
    counted = np.ones_like(source) if sizes is None else np.asarray(sizes)
    groups = max(1, min(groups, int(counted.sum()) // smallest))
    number = _class_numbers(source, target, counted, groups, smallest)
    members = [np.flatnonzero(number == chosen) for chosen in range(int(number.max()) + 1)]
    return tuple(
        ShapeClass(rows, round_up(int(source[rows].max())), round_up(int(target[rows].max())))
        for rows in members
    )


def round_up(length: int) -> int:
    """The next multiple of ``MULTIPLE``."""
    return -(-length // MULTIPLE) * MULTIPLE


def _class_numbers(
    source: Int[np.ndarray, "sentence"],
    target: Int[np.ndarray, "sentence"],
    counted: Int[np.ndarray, "sentence"],
    groups: int,
    smallest: int,
) -> Int[np.ndarray, "sentence"]:
    """The class of every sentence, 0 for the shortest."""
    keys, place, counts = np.unique(
        np.maximum(source, target), return_inverse=True, return_counts=True
    )
    longest = np.zeros((2, len(keys)), dtype=np.int64)
    np.maximum.at(longest[0], place, source)
    np.maximum.at(longest[1], place, target)
    sizes = np.zeros(len(keys), dtype=np.int64)
    np.add.at(sizes, place, counted)
    cost = _costs(counts, sizes, longest, smallest)
    return np.searchsorted(np.array(_cuts(cost, min(groups, len(keys))), dtype=np.int64), place)


def _costs(
    counts: Int[np.ndarray, "key"],
    sizes: Int[np.ndarray, "key"],
    longest: Int[np.ndarray, "2 key"],
    smallest: int,
) -> Float[np.ndarray, "key key"]:
    """Padded places of a class from key i to key j, infinite where it is too small."""
    cost = np.full((len(counts), len(counts)), np.inf)
    for first in range(len(counts)):
        members = np.cumsum(counts[first:])
        longest_so_far = np.maximum.accumulate(longest[:, first:], axis=1)
        places = members * (-(-longest_so_far // MULTIPLE) * MULTIPLE).sum(axis=0)
        cost[first, first:] = np.where(np.cumsum(sizes[first:]) >= smallest, places, np.inf)
    return cost


def _cuts(cost: Float[np.ndarray, "key key"], groups: int) -> list[int]:
    """The last key of every class but the last, for at most ``groups`` classes of least cost."""
    best = cost[0]  # best[j]: least cost of the keys up to j
    rounds: list[Int[np.ndarray, " key"]] = []
    for _ in range(groups - 1):
        joined = best[:-1, None] + cost[1:]  # classes up to key i, then one from i + 1 to j
        rounds.append(np.where(joined.min(axis=0) < best, joined.argmin(axis=0), _UNCUT))
        best = np.minimum(best, joined.min(axis=0))
    cuts: list[int] = []
    end = len(cost) - 1
    for choice in reversed(rounds):
        if choice[end] != _UNCUT:
            end = int(choice[end])
            cuts.append(end)
    return sorted(cuts)
