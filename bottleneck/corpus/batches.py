"""Sentence pairs as padded arrays: an endless stream to train on, and batches to evaluate.

The source ends in EOS, the target too; the decoder's input, BOS and then the target's words, is
the target shifted by one and made in the model.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Int, Int32

from .pair import SentencePair
from .shapes import ShapeClass, shape_classes
from .vocabulary import EOS, PAD, Vocabulary

Result = TypeVar("Result")

FEWEST_BATCHES = 4
"""Batches that a class to train on fills at least: it fills its last batch up by repeating
sentences, and odd ones are not to be seen much more often than others."""


STEP = 16
"""Evaluation's padded lengths are multiples of this: padding costs little there, compiling more."""

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
        return self._plan(epoch)[within]

    def _plan(self, epoch: int) -> tuple[Place, ...]:
        """The batches of an epoch, planned when its first is asked for."""
        if epoch not in self._plans:
            self._plans.clear()
            self._plans[epoch] = epoch_plan(self.sizes, self.batch_sizes, self.seed, epoch)
        return self._plans[epoch]

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
    sizes = tuple(_pairs_per_batch(item, batch_size, batch_tokens) for item in classes)
    return TrainingBatches(classes, sizes, seed)


def _pairs_per_batch(shape_class: Batch, batch_size: int, batch_tokens: int | None) -> int:
    """How many pairs of a class make a batch."""
    if batch_tokens is None:
        return batch_size
    return max(1, round(batch_tokens / float(shape_class.target_lengths.mean())))


def epoch_plan(
    sizes: tuple[int, ...], batch_sizes: tuple[int, ...], seed: int, epoch: int
) -> tuple[Place, ...]:
    """The batches of one epoch: shapes in an order of the epoch, members in one of the seed too."""
    members = np.random.default_rng([seed % 2**64, epoch])
    batches = [
        _class_batches(size, batch_size, members)
        for size, batch_size in zip(sizes, batch_sizes, strict=True)
    ]
    shapes = np.repeat(np.arange(len(sizes)), [len(cut) for cut in batches])
    order = np.random.default_rng(epoch).permutation(shapes)
    turns = [iter(cut) for cut in batches]
    return tuple(Place(int(shape), next(turns[shape])) for shape in order)


def _class_batches(
    size: int, batch_size: int, random: np.random.Generator
) -> Int[np.ndarray, "batches batch"]:
    """A class's members shuffled and cut into full batches; the first fill up the last."""
    batches = -(-size // batch_size)
    shuffled = np.resize(random.permutation(size), batches * batch_size)
    return shuffled.reshape(batches, batch_size)


def evaluation_batches(pairs: EncodedPairs, batch_size: int) -> list[EvaluationBatch]:
    """Every sentence once, in full batches, the shortest first, the longest ones alone.

    Both sides of a batch have one padded length, a multiple of ``STEP``, so that all corpora are
    evaluated in the same few shapes.
    """
    longest = np.maximum(pairs.source_lengths, pairs.target_lengths)
    order = np.argsort(longest, kind="stable")
    together = order[longest[order] <= ALONE]
    cuts = range(0, len(together), batch_size)
    batches = [_together(pairs, together[cut : cut + batch_size], batch_size) for cut in cuts]
    return [*batches, *(_alone(pairs, int(row)) for row in order[len(together) :])]


def _together(
    pairs: EncodedPairs, rows: Int[np.ndarray, "real"], batch_size: int
) -> EvaluationBatch:
    """These rows of the corpus, the last repeated up to a full batch."""
    filled = np.concatenate([rows, np.repeat(rows[-1:], batch_size - len(rows))])
    longest = max(max(len(side[row]) for side in pairs) for row in rows)
    length = -(-longest // STEP) * STEP
    return EvaluationBatch(pad_class(pairs, ShapeClass(filled, length, length)), rows)


def _alone(pairs: EncodedPairs, row: int) -> EvaluationBatch:
    """One long sentence as a batch; lengths are powers of two, so that such shapes are few."""
    source, target = (1 << (len(side[row]) - 1).bit_length() for side in pairs)
    batch = pad_class(pairs, ShapeClass(np.array([row]), source, target))
    return EvaluationBatch(batch, np.array([row]))


def restore(results: Iterable[Iterable[Result]], batches: list[EvaluationBatch]) -> list[Result]:
    """Results, one sequence of rows per batch, in the corpus's order and without the fillers."""
    restored: dict[int, Result] = {}
    for result, batch in zip(results, batches, strict=True):
        restored.update(zip(batch.rows.tolist(), result, strict=False))  # fillers have no row
    return [restored[row] for row in range(len(restored))]
