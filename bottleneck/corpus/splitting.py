"""Splitting text by source sentence, so that no test sentence was trained on.

What is chosen hangs on the seed and the sentences alone, not on their place in the file: two
files that share lines make like choices.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import zip_longest
from random import Random

from ..settings.concerns import CorpusSettings, span_label
from ..settings.errors import UserError, counted
from .files import PairFiles, given_test_files, given_valid_files, read_pairs, training_files
from .joining import Notes, join_test, side_by_side, within_test
from .pair import SentencePair, Splits, by_bucket, reverse_pair, sources

LARGEST_PART = 10
"""At most one in this many source sentences is split off: training text is to be left."""
NEARER = (
    "validation pairs are a random part of the training text: nearer to it than a test set of "
    "other documents, and so are their losses"
)
"""A note for a given test set beside which no validation set was given."""

Pairs = Sequence[SentencePair]


def split_files(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """Read the text and split it by source sentence.

    A given test set is used whole, repeated pairs once; else one is split off, spread evenly
    over the length buckets as far as there are sentences; both within ``test_min_words`` and
    ``test_max_words`` where these are set. Validation is a random part of a given
    set, else of the training text, so like training in its lengths. Only training and validation
    keep to min_words and longest_trained; they share neither a joined test sentence nor a part of
    one. Raises UserError where nothing is left to train or to validate on.
    """
    pairs, notes = _read(training_files(corpus), corpus, "line")
    parts, test_notes = _test_set(corpus, pairs, edges)
    test, joining_notes = join_test(tuple(parts), corpus, edges, side_by_side)
    tested = sources(parts) | sources(test)
    disjoint = [pair for pair in pairs if pair.source not in tested]
    fitting = _fitting(disjoint, corpus)
    span = span_label(corpus.min_words, corpus.longest_trained)
    valid, valid_notes = _validation(corpus, fitting, tested, span)
    validated = sources(valid)
    left = [pair for pair in fitting if pair.source not in validated]
    if not valid or not left:
        raise UserError(
            f"{training_files(corpus).setting} leaves no pairs of {span} words to train on; "
            "give more text, other lengths or another test set"
        )
    train = sample(left, corpus.train_pairs, f"{corpus.seed}:train")
    shared = "taken out of training: their source is in the"
    notes += (
        *test_notes,
        *joining_notes,
        *_note(len(pairs) - len(disjoint), "pair", f"{shared} test set"),
        *_note(len(fitting) - len(left), "pair", f"{shared} validation set"),
        *_note(len(disjoint) - len(fitting), "pair", f"outside {span} words taken out of training"),
        *valid_notes,
        *_capped(len(train), len(left), "training", "train_pairs"),
    )
    return Splits(tuple(train), tuple(valid), test, notes)


def _read(files: PairFiles, corpus: CorpusSettings, noun: str) -> tuple[Pairs, Notes]:
    """The pairs of the files, source first, and a note on the lines that were dropped."""
    pairs, blank = read_pairs(files, corpus.lowercase)
    if corpus.reverse_direction:
        pairs = [reverse_pair(pair) for pair in pairs]
    return pairs, _note(blank, noun, "with an empty side dropped")


def _fitting(pairs: Pairs, corpus: CorpusSettings) -> Pairs:
    """The pairs of lengths to train on."""
    return [pair for pair in pairs if corpus.min_words <= pair.words <= corpus.longest_trained]


def _test_set(corpus: CorpusSettings, pairs: Pairs, edges: tuple[int, ...]) -> tuple[Pairs, Notes]:
    """The given test set, or one split off, with its notes."""
    files, notes = given_test_files(corpus), ()
    if files is None:
        if corpus.test:  # a named corpus without a test set: what a run on it is tested on
            other = corpus.model_copy(update={"name": corpus.test, "test": None})
            pairs, notes = _read(training_files(other), corpus, "test line")
        within, bound_notes = within_test(pairs, corpus)
        test = split_off(within, corpus.test_pairs, f"{corpus.seed}:test", edges)
        return test, notes + bound_notes + _short(len(test), corpus.test_pairs, "test")
    given, notes = _read(files, corpus, "test line")
    whole = list(dict.fromkeys(given))
    notes += _note(len(given) - len(whole), "repeated test pair", "dropped")
    test, bound_notes = within_test(whole, corpus)
    return test, notes + bound_notes


def _validation(
    corpus: CorpusSettings, fitting: Pairs, tested: frozenset[str], span: str
) -> tuple[Pairs, Notes]:
    """Some of a given set, without what is tested on, else a part of the training text; notes."""
    files, count, seed = given_valid_files(corpus), corpus.valid_pairs, f"{corpus.seed}:valid"
    if files is None:
        valid = split_off(fitting, count, seed)
        nearer = (NEARER,) if corpus.test or corpus.test_source else ()
        return valid, nearer + _short(len(valid), count, "validation")
    given, notes = _read(files, corpus, "validation line")
    disjoint = [pair for pair in given if pair.source not in tested]
    of_length = _fitting(disjoint, corpus)
    valid, different = split_off(of_length, count, seed, part=1), len(sources(of_length))
    for dropped, reason in (
        (len(given) - len(disjoint), "dropped: their source is in the test"),
        (len(disjoint) - len(of_length), f"outside {span} words dropped"),
        (len(of_length) - different, "of a repeated source dropped"),
    ):
        notes += _note(dropped, "validation pair", reason)
    return valid, notes + _capped(len(valid), different, "validation", "valid_pairs")


def split_off(
    pairs: Pairs,
    count: int,
    seed: str,
    edges: tuple[int, ...] | None = None,
    part: int = LARGEST_PART,
) -> Pairs:
    """Choose up to ``count`` pairs of different sources at random, in the order of the file.

    With ``edges`` the buckets take turns until there are enough. At most one pair in ``part`` of a
    bucket, or of all pairs, is chosen. A source with many translations comes with its first.
    """
    first: dict[str, SentencePair] = {}
    for pair in pairs:
        first.setdefault(pair.source, pair)
    different = list(first.values())
    buckets = [different] if edges is None else list(by_bucket(different, edges).values())[1:]

    def rank(pair: SentencePair) -> bytes:
        return blake2b(f"{seed}:{pair.source}".encode(), digest_size=8).digest()

    ranked = (sorted(bucket, key=rank)[: -(-len(bucket) // part)] for bucket in buckets)
    turns = [pair for turn in zip_longest(*ranked) for pair in turn if pair is not None]
    chosen = sources(turns[:count])
    return [pair for pair in different if pair.source in chosen]


def sample(pairs: Pairs, count: int, seed: str) -> Pairs:
    """Choose ``count`` pairs in the order of the file; a smaller count chooses some of the same."""
    random = Random(seed)
    keys = [(random.random(), place) for place in range(len(pairs))]
    return [pairs[place] for place in sorted(place for _, place in sorted(keys)[:count])]


def _note(count: int, noun: str, text: str) -> Notes:
    """One note that starts with its count, none for a count of 0."""
    return (f"{counted(count, noun)} {text}",) if count else ()


def _short(available: int, wanted: int, split: str) -> Notes:
    """A note where a split came out smaller than asked for."""
    text = f"{available:,} {split} pairs of {wanted:,}: at most 1 in {LARGEST_PART} is split off"
    return (text,) if available < wanted else ()


def _capped(kept: int, available: int, split: str, setting: str) -> Notes:
    """A note where a split takes less than there is."""
    text = f"{kept:,} of {available:,} {split} pairs kept ({setting})"
    return (text,) if kept < available else ()
