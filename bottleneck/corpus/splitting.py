"""Splitting text by source sentence, so that no test sentence was trained on.

What is chosen hangs on the seed and the sentences alone, not on their place in the file: two
files that share lines make like choices.
"""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import zip_longest
from random import Random

from ..settings.buckets import OUTSIDE, bucket_of, span_label
from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError, counted
from .files import (
    PairFiles,
    PairsRead,
    given_test_files,
    given_valid_files,
    read_pairs,
    tested_text,
    training_files,
)
from .joining import join_test, left_out, side_by_side, within_test
from .pair import SentencePair, Splits, sources
from .turned import reverse_pair

LARGEST_PART = 10
"""At most one in this many source sentences is split off: training text is to be left."""

NEARER = (
    "validation pairs are a random part of the training text: nearer to it than a test set of "
    "other documents, and so are their losses"
)
"""A note for a given test set beside which no validation set was given."""

Pairs = list[SentencePair]


def split_files(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """Read the text and split it by source sentence.

    A given test set is used whole, repeated pairs once; else one is split off, spread evenly
    over the length buckets as far as there are sentences; both within ``test_min_words`` and
    ``test_max_words`` where these are set. Validation is a random part of a given
    set, else of the training text, so like training in its lengths. Only training and validation
    keep to min_words and longest_trained; they share neither a joined test sentence nor a part of
    one. Raises UserError where nothing is left to train or to validate on.
    """
    pairs, blank = _read(training_files(corpus), corpus)
    notes = _note(blank, "line", "with an empty side dropped")
    parts, test_notes = _test_set(corpus, pairs, edges)
    test, joining_notes = join_test(tuple(parts), corpus, edges, side_by_side)
    disjoint = _without(pairs, sources(parts) | sources(test))
    fitting = _fitting(disjoint, corpus)
    span = span_label(corpus.min_words, corpus.longest_trained)
    valid, valid_notes = _validation(corpus, fitting, sources(parts) | sources(test), span)
    left = _without(fitting, sources(valid))
    if not valid or not left:
        raise UserError(
            f"{training_files(corpus).setting} leaves no pairs of {span} words to train on; "
            "give more text, other lengths or another test set"
        )
    notes += test_notes + joining_notes
    for kept, split in (
        (len(pairs) - len(disjoint), "test"),
        (len(fitting) - len(left), "validation"),
    ):
        notes += _note(kept, "pair", f"taken out of training: their source is in the {split} set")
    notes += _note(
        len(disjoint) - len(fitting), "pair", f"outside {span} words taken out of training"
    )
    train = sample(left, corpus.train_pairs, f"{corpus.seed}:train")
    notes += valid_notes + _capped(len(train), len(left), "train")
    return Splits(tuple(train), tuple(valid), test, notes)


def _read(files: PairFiles, corpus: CorpusSettings) -> PairsRead:
    """The pairs of the files, source first."""
    read = read_pairs(files, corpus.lowercase)
    if not corpus.reverse_direction:
        return read
    return PairsRead([reverse_pair(pair) for pair in read.pairs], read.blank)


def _fitting(pairs: Pairs, corpus: CorpusSettings) -> Pairs:
    """The pairs of lengths to train on."""
    return [pair for pair in pairs if corpus.min_words <= pair.words <= corpus.longest_trained]


def _validation(
    corpus: CorpusSettings, fitting: Pairs, tested: frozenset[str], span: str
) -> tuple[Pairs, tuple[str, ...]]:
    """Some of a given set, without what is tested on, else a part of the training text; notes."""
    files, seed = given_valid_files(corpus), f"{corpus.seed}:valid"
    if files is None:
        valid = split_off_random(fitting, corpus.valid_pairs, seed)
        nearer = (NEARER,) if corpus.test or corpus.test_source else ()
        return valid, nearer + _short(len(valid), corpus.valid_pairs, "validation")
    given, blank = _read(files, corpus)
    disjoint = _without(given, tested)
    of_length = _fitting(disjoint, corpus)
    first = _first_pairs(of_length)
    chosen = sources(_ranked(first, seed)[: corpus.valid_pairs])
    notes = (
        *_note(blank, "validation line", "with an empty side dropped"),
        *_note(
            len(given) - len(disjoint), "validation pair", "dropped: their source is in the test"
        ),
        *_note(len(disjoint) - len(of_length), "validation pair", f"outside {span} words dropped"),
        *_note(len(of_length) - len(first), "validation pair", "of a repeated source dropped"),
        *_capped(len(chosen), len(first), "valid"),
    )
    return [pair for pair in first if pair.source in chosen], notes


def _test_set(
    corpus: CorpusSettings, pairs: Pairs, edges: tuple[int, ...]
) -> tuple[Pairs, tuple[str, ...]]:
    """The given test set, or one split off, with its notes."""
    files = given_test_files(corpus)
    if files is None:
        text = _read(tested_text(corpus), corpus) if corpus.test else PairsRead(pairs, 0)
        within = within_test(text.pairs, corpus)
        test = split_off_even(within, corpus.test_pairs, f"{corpus.seed}:test", edges)
        notes = _note(text.blank, "test line", "with an empty side dropped")
        notes += left_out(len(text.pairs) - len(within), corpus)
        return test, notes + _short(len(test), corpus.test_pairs, "test")
    given, blank = _read(files, corpus)
    whole = list(dict.fromkeys(given))
    test = within_test(whole, corpus)
    notes = _note(blank, "test line", "with an empty side dropped")
    notes += _note(len(given) - len(whole), "repeated test pair", "dropped")
    return test, notes + left_out(len(whole) - len(test), corpus)


def split_off_even(pairs: Pairs, count: int, seed: str, edges: tuple[int, ...]) -> Pairs:
    """Choose up to ``count`` pairs of different sources, evenly over the buckets.

    The buckets take turns until there are enough; a bucket gives at most its
    ``LARGEST_PART``-th part. A source with many translations comes with its first.
    """
    first = _first_pairs(pairs)
    pools: list[Pairs] = [[] for _ in edges]
    for pair in first:
        place = bucket_of(pair.words, edges)
        if place != OUTSIDE:
            pools[place].append(pair)
    chances = (_ranked(pool, seed)[: _largest_part(pool)] for pool in pools)
    turns = (pair for turn in zip_longest(*chances) for pair in turn if pair is not None)
    chosen = {pair.source for pair, _ in zip(turns, range(count), strict=False)}
    return [pair for pair in first if pair.source in chosen]


def split_off_random(pairs: Pairs, count: int, seed: str) -> Pairs:
    """Choose up to ``count`` pairs of different sources, at most their ``LARGEST_PART``-th part."""
    first = _first_pairs(pairs)
    chosen = sources(_ranked(first, seed)[: min(count, _largest_part(first))])
    return [pair for pair in first if pair.source in chosen]


def sample(pairs: Pairs, count: int, seed: str) -> Pairs:
    """Choose ``count`` pairs in the order of the file; a smaller count chooses some of the same."""
    random = Random(seed)
    keys = [(random.random(), place) for place in range(len(pairs))]
    return [pairs[place] for place in sorted(place for _, place in sorted(keys)[:count])]


def _first_pairs(pairs: Pairs) -> Pairs:
    """The first pair of every source sentence."""
    first: dict[str, SentencePair] = {}
    for pair in pairs:
        first.setdefault(pair.source, pair)
    return list(first.values())


def _ranked(pairs: Pairs, seed: str) -> Pairs:
    """Pairs in an order at random that hangs on the seed and the sentences alone."""

    def rank(pair: SentencePair) -> bytes:
        return blake2b(f"{seed}:{pair.source}".encode(), digest_size=8).digest()

    return sorted(pairs, key=rank)


def _largest_part(pool: Pairs) -> int:
    """How many of a pool may be split off, rounded up."""
    return -(-len(pool) // LARGEST_PART)


def _without(pairs: Iterable[SentencePair], taken: frozenset[str]) -> Pairs:
    """The pairs whose source is not taken."""
    return [pair for pair in pairs if pair.source not in taken]


def _note(count: int, noun: str, text: str) -> tuple[str, ...]:
    """One note that starts with its count, none for a count of 0."""
    return (f"{counted(count, noun)} {text}",) if count else ()


def _short(available: int, wanted: int, split: str) -> tuple[str, ...]:
    """A note where a split came out smaller than asked for."""
    if available >= wanted:
        return ()
    return (f"{available:,} {split} pairs of {wanted:,}: at most 1 in {LARGEST_PART} is split off",)


def _capped(kept: int, available: int, split: str) -> tuple[str, ...]:
    """A note where a split takes less than there is."""
    name = {"train": "training", "valid": "validation"}[split]
    return (
        ()
        if kept == available
        else (f"{kept:,} of {available:,} {name} pairs kept ({split}_pairs)",)
    )
