"""Sentence pairs as padded arrays: an endless stream to train on, and batches to evaluate.

The source ends in EOS, the target too; the decoder's input, BOS and then the target's words, is
the target shifted by one and made in the model.

Every padded shape is compiled once and every padded place is computed, so both are to be few:
sentences of like lengths share a shape. They are ordered by the longer of their sides, and a
dynamic programme cuts this order into classes where padding is least. (Ordered by the sum of the
sides, six classes padded 37 instead of 26 places in 100 of a text of laws: a class then holds both
long sources with short targets and the reverse.)
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Int, Int32

from .pair import SentencePair
from .vocabulary import EOS, PAD, Vocabulary

Result = TypeVar("Result")

FEWEST_BATCHES = 4
"""Batches that a class to train on fills at least: it fills its last batch up by repeating
sentences, and odd ones are not to be seen much more often than others."""

MULTIPLE = 2
"""Padded lengths to train on are a multiple of this, so that near lengths share a shape."""

STEP = 16
"""Evaluation's padded lengths are multiples of this: padding costs little there, compiling more."""

_UNCUT = -1

ALONE = 256
"""Tokens on either side above which a sentence is evaluated alone: one such line in a batch would
have all the others computed at its length."""


class PackedIds(Sequence[list[int]]):
    """Lists of ids, kept as bare numbers: of millions of sentences the lists would fill memory."""

    def __init__(self) -> None:
        self._ids, self._ends = array("i"), array("q", [0])

    def append(self, ids: Iterable[int]) -> None:
        """Put a sentence behind the others."""
        self._ids.extend(ids)
        self._ends.append(len(self._ids))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: int) -> list[int]:
        return self._ids[self._ends[row] : self._ends[row + 1]].tolist()

    @property
    def lengths(self) -> list[int]:
        """How many ids each sentence has."""
        return np.diff(np.asarray(self._ends)).tolist()


class EncodedPairs(NamedTuple):
    """Ids of every sentence, each with EOS at its end."""

    source: list[list[int]] | PackedIds
    target: list[list[int]] | PackedIds

    @property
    def source_lengths(self) -> list[int]:
        """Lengths with EOS."""
        return _lengths(self.source)

    @property
    def target_lengths(self) -> list[int]:
        """Lengths with EOS."""
        return _lengths(self.target)


def _lengths(side: list[list[int]] | PackedIds) -> list[int]:
    return side.lengths if isinstance(side, PackedIds) else [len(ids) for ids in side]


class Batch(NamedTuple):
    """Padded ids; lengths count EOS, what lies beyond them is ``PAD``."""

    source: Int32[np.ndarray, "batch source_length"]
    source_lengths: Int32[np.ndarray, "batch"]
    target: Int32[np.ndarray, "batch target_length"]
    target_lengths: Int32[np.ndarray, "batch"]

    def take(self, rows: Int[np.ndarray, "rows"]) -> "Batch":
        """These rows alone, at the same padded lengths."""
        return Batch(*(array[rows] for array in self))


class EvaluationBatch(NamedTuple):
    """A full batch whose first ``real`` rows count; ``rows`` are their places in the corpus.

    The other rows repeat the last real one: results of them are cut off.
    """

    batch: Batch
    rows: Int[np.ndarray, "real"]

    @property
    def real(self) -> int:
        """How many rows are no fillers."""
        return len(self.rows)


class Place(NamedTuple):
    """What an update trains on: members of one shape class, counted within the class."""

    shape: int
    members: Int[np.ndarray, "batch"]


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


def encode_pairs(
    pairs: Iterable[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    reverse_source: bool = False,
    *,
    packed: bool = False,
) -> EncodedPairs:
    """Ids of both sides; reversing turns the pieces round and leaves EOS last.

    ``packed`` is for as many pairs as one trains on.
    """
    encoded = EncodedPairs(PackedIds(), PackedIds()) if packed else EncodedPairs([], [])
    for pair in pairs:
        ids = source_vocabulary.numbers(pair.source)
        encoded.source.append([*(reversed(ids) if reverse_source else ids), EOS])
        encoded.target.append([*target_vocabulary.numbers(pair.target), EOS])
    return encoded


def pad_class(pairs: EncodedPairs, shape_class: ShapeClass) -> Batch:
    """All sentences of a shape class as one padded batch."""
    source, source_lengths = _padded(pairs.source, shape_class.rows, shape_class.source_length)
    target, target_lengths = _padded(pairs.target, shape_class.rows, shape_class.target_length)
    return Batch(source, source_lengths, target, target_lengths)


def _padded(
    side: list[list[int]] | PackedIds, rows: Int[np.ndarray, "sentence"], length: int
) -> tuple[Int32[np.ndarray, "sentence length"], Int32[np.ndarray, "sentence"]]:
    """One row per sentence, ``PAD`` behind its end; and the lengths."""
    padded = np.full((len(rows), length), PAD, dtype=np.int32)
    lengths = np.zeros(len(rows), dtype=np.int32)
    for place, row in enumerate(rows.tolist()):
        ids = side[row]
        padded[place, : len(ids)] = ids
        lengths[place] = len(ids)
    return padded, lengths


@dataclass(frozen=True, eq=False)
class TrainingBatches:
    """The endless stream of full batches; update k is computed from the seed and k alone.

    ``classes`` hold all sentences, padded once; ``batch_sizes`` say of each how many of them a
    batch takes. Each epoch shuffles every class and fills its last batch up from the same class.
    The order of the *shapes* is the same for every seed, so that seeds can be stacked along one
    more axis, and every arm computes equally many tokens.
    """

    classes: tuple[Batch, ...]
    batch_sizes: tuple[int, ...]
    seed: int
    _plans: dict[int, tuple[Place, ...]] = field(default_factory=dict, init=False, repr=False)
    """The plan of the epoch that was asked for last, by its number. Each stream has its own, so
    that any number of seeds can be trained together without planning every update anew."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many sentences each class holds."""
        return tuple(len(shape_class.source) for shape_class in self.classes)

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Padded source and target length of each class."""
        return tuple(
            (shape_class.source.shape[1], shape_class.target.shape[1])
            for shape_class in self.classes
        )

    @property
    def updates_per_epoch(self) -> int:
        """Batches that visit every sentence at least once."""
        sizes = zip(self.sizes, self.batch_sizes, strict=True)
        return sum(-(-size // batch_size) for size, batch_size in sizes)

    def place(self, update: int) -> Place:
        """Which class and which of its members update k (from 0) trains on."""
        epoch, within = divmod(update, self.updates_per_epoch)
        if epoch not in self._plans:
            self._plans.clear()
            self._plans[epoch] = epoch_plan(self.sizes, self.batch_sizes, self.seed, epoch)
        return self._plans[epoch][within]

    def batch(self, update: int) -> Batch:
        """The batch of update k (from 0)."""
        shape, members = self.place(update)
        return self.classes[shape].take(members)


def training_batches(
    pairs: EncodedPairs,
    batch_size: int,
    seed: int,
    groups: int = 6,
    batch_tokens: int | None = None,
) -> TrainingBatches:
    """Sort the pairs into shape classes, pad them, and make them an endless stream.

    A batch holds ``batch_size`` pairs or, where ``batch_tokens`` is given, as many pairs of its
    class as have about so many target tokens, EOS included: updates are then equal in tokens,
    whatever the lengths trained on.
    """
    lengths = (pairs.source_lengths, pairs.target_lengths)
    if batch_tokens is None:
        shapes = shape_classes(*lengths, groups, FEWEST_BATCHES * batch_size)
    else:
        shapes = shape_classes(*lengths, groups, FEWEST_BATCHES * batch_tokens, lengths[1])
    classes = tuple(pad_class(pairs, item) for item in shapes)
    if batch_tokens is None:
        return TrainingBatches(classes, (batch_size,) * len(classes), seed)
    means = [float(item.target_lengths.mean()) for item in classes]
    return TrainingBatches(classes, tuple(max(1, round(batch_tokens / n)) for n in means), seed)


def epoch_plan(
    sizes: tuple[int, ...], batch_sizes: tuple[int, ...], seed: int, epoch: int
) -> tuple[Place, ...]:
    """The batches of one epoch: shapes in an order of the epoch, members in one of the seed too."""
    members = np.random.default_rng([seed % 2**64, epoch])
    batches = []
    for size, batch_size in zip(sizes, batch_sizes, strict=True):
        # Shuffled and cut into full batches; the first members fill up the last.
        count = -(-size // batch_size)
        shuffled = np.resize(members.permutation(size), count * batch_size)
        batches.append(shuffled.reshape(count, batch_size))
    shapes = np.repeat(np.arange(len(sizes)), [len(cut) for cut in batches])
    order = np.random.default_rng(epoch).permutation(shapes)
    turns = [iter(cut) for cut in batches]
    return tuple(Place(int(shape), next(turns[shape])) for shape in order)


def evaluation_batches(pairs: EncodedPairs, batch_size: int) -> list[EvaluationBatch]:
    """Every sentence once, in full batches, the shortest first, the longest ones alone.

    Both sides of a batch have one padded length, a multiple of ``STEP``, so that all corpora are
    evaluated in the same few shapes.
    """
    longest = np.maximum(pairs.source_lengths, pairs.target_lengths)
    order = np.argsort(longest, kind="stable")
    together = order[longest[order] <= ALONE]
    cuts = range(0, len(together), batch_size)
    batches = []
    for cut in cuts:
        rows = together[cut : cut + batch_size]
        # The last row is repeated up to a full batch.
        filled = np.concatenate([rows, np.repeat(rows[-1:], batch_size - len(rows))])
        length = -(-int(longest[rows].max()) // STEP) * STEP
        batches.append(EvaluationBatch(pad_class(pairs, ShapeClass(filled, length, length)), rows))
    for row in order[len(together) :]:
        # Lengths are powers of two, so that such shapes are few.
        source, target = (1 << (len(side[int(row)]) - 1).bit_length() for side in pairs)
        shape = ShapeClass(np.array([row]), source, target)
        batches.append(EvaluationBatch(pad_class(pairs, shape), shape.rows))
    return batches


def restore(results: Iterable[Iterable[Result]], batches: list[EvaluationBatch]) -> list[Result]:
    """Results, one sequence of rows per batch, in the corpus's order and without the fillers."""
    restored: dict[int, Result] = {}
    for result, batch in zip(results, batches, strict=True):
        restored.update(zip(batch.rows.tolist(), result, strict=False))  # fillers have no row
    return [restored[row] for row in range(len(restored))]
