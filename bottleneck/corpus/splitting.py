"""Splitting text by source sentence, so that no test sentence was trained on, and joining.

What is chosen hangs on the seed and the sentences alone, not on their place in the file: two
files that share lines make like choices.

Joined sentences are the same content made longer, to tell length and content apart. Within each
length bucket of the ordinary test set every ``joined`` sentences in a row become one, whose own
length decides its bucket. What would be longer than ``max_words``, has too few neighbours or is in
no bucket is left out. So with two joined and the lecture's buckets, sentences of 5-10 words make
ones of 11-21, and 11-20 make 23-41. Training and validation stay what they are for the ordinary
test set.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import zip_longest
from random import Random

from ..settings.concerns import CorpusSettings, span_label
from ..settings.errors import UserError, counted
from .files import PairFiles, pair_files, read_pairs
from .pair import Link, Pairs, SentencePair, Splits, by_bucket, reverse_pair, sources
from .vocabulary import tokenize

LARGEST_PART = 10
"""At most one in this many source sentences is split off: training text is to be left."""
Notes = tuple[str, ...]
Join = Callable[[Pairs], SentencePair | None]
"""Makes one pair of several, None where they do not go together."""


def split_files(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """Read the text and split it by source sentence.

    A given test set is used whole, repeated pairs once; else one is split off, spread evenly
    over the length buckets as far as there are sentences; both within ``test_min_words`` and
    ``test_max_words`` where these are set. Validation is a random part of a given
    set, else of the training text, so like training in its lengths. Only training and validation
    keep to min_words and longest_trained; they share neither a joined test sentence nor a part of
    one. Raises UserError where nothing is left to train or to validate on.
    """
    files = pair_files(corpus, "train")
    pairs, notes = _read(files, corpus, "line")
    parts, test_notes = _test_set(corpus, pairs, edges)
    test, joining_notes = join_test(parts, corpus, edges, side_by_side)
    tested = sources(parts) | sources(test)
    disjoint = [pair for pair in pairs if pair.source not in tested]
    span = range(corpus.min_words, corpus.longest_trained + 1)
    fitting = tuple(pair for pair in disjoint if pair.words in span)
    valid, valid_notes = _validation(corpus, fitting, tested, span)
    validated = sources(valid)
    left = [pair for pair in fitting if pair.source not in validated]
    words = span_label(span[0], span[-1])
    if not valid or not left:
        raise UserError(
            f"{files.setting} leaves no pairs of {words} words to train on; "
            "give more text, other lengths or another test set"
        )
    notes += test_notes + joining_notes
    for taken, reason in (
        (len(pairs) - len(disjoint), "taken out of training: their source is in the test set"),
        (len(fitting) - len(left), "taken out of training: their source is in the validation set"),
        (len(disjoint) - len(fitting), f"outside {words} words taken out of training"),
    ):
        notes += _note(taken, "pair", reason)
    train = sample(left, corpus.train_pairs, f"{corpus.seed}:train")
    return Splits(train, valid, test, notes + valid_notes)


def _read(files: PairFiles, corpus: CorpusSettings, noun: str) -> tuple[Pairs, Notes]:
    """The pairs of the files, source first, and a note on the lines that were dropped."""
    pairs, blank = read_pairs(files, corpus.lowercase)
    notes = _note(blank, noun, "with an empty side dropped")
    return tuple(map(reverse_pair, pairs) if corpus.reverse_direction else pairs), notes


def _test_set(corpus: CorpusSettings, pairs: Pairs, edges: tuple[int, ...]) -> tuple[Pairs, Notes]:
    """The given test set, or one split off, with its notes."""
    files, notes = pair_files(corpus, "test"), ()
    if files is not None:
        given, notes = _read(files, corpus, "test line")
        pairs = tuple(dict.fromkeys(given))
        notes += _note(len(given) - len(pairs), "repeated test pair", "dropped")
    elif corpus.test:  # a named corpus without a test set: what a run on it is tested on
        other = corpus.model_copy(update={"name": corpus.test, "test": None})
        pairs, notes = _read(pair_files(other, "train"), corpus, "test line")
    within, bound_notes = within_test(pairs, corpus)
    if files is None:
        within = split_off(within, corpus.test_pairs, f"{corpus.seed}:test", edges)
    return within, notes + bound_notes


def _validation(
    corpus: CorpusSettings, fitting: Pairs, tested: frozenset[str], span: range
) -> tuple[Pairs, Notes]:
    """Some of a given set, without what is tested on, else a part of the training text; notes."""
    files, seed = pair_files(corpus, "valid"), f"{corpus.seed}:valid"
    if files is None:
        return split_off(fitting, corpus.valid_pairs, seed), ()
    given, notes = _read(files, corpus, "validation line")
    fit = tuple(pair for pair in given if pair.source not in tested and pair.words in span)
    dropped = len(given) - len(sources(fit))
    reason = "dropped: tested on, repeated or too long or short"
    valid = split_off(fit, corpus.valid_pairs, seed, part=1)
    return valid, notes + _note(dropped, "validation pair", reason)


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
    return tuple(pair for pair in different if pair.source in chosen)


def sample(pairs: Sequence[SentencePair], count: int, seed: str) -> Pairs:
    """Choose ``count`` pairs in the order of the file; a smaller count chooses some of the same."""
    random = Random(seed)
    keys = sorted((random.random(), place) for place in range(len(pairs)))
    return tuple(pairs[place] for place in sorted(place for _, place in keys[:count]))


def _note(count: int, noun: str, text: str) -> Notes:
    """One note that starts with its count, none for a count of 0."""
    return (f"{counted(count, noun)} {text}",) if count else ()


# Which sentences are tested on.


def within_test(pairs: Pairs, corpus: CorpusSettings) -> tuple[Pairs, Notes]:
    """The pairs of lengths to test on: all, where ``corpus`` sets no bound; a note on others."""
    least, most = corpus.test_min_words or 1, corpus.test_max_words
    kept = tuple(pair for pair in pairs if least <= pair.words <= (most or pair.words))
    bounds = f"under {least}" if most is None else f"outside {span_label(least, most)}"
    return kept, _note(len(pairs) - len(kept), "pair", f"{bounds} words left out of the test set")


def join_test(
    test: Pairs, corpus: CorpusSettings, edges: tuple[int, ...], join: Join
) -> tuple[Pairs, Notes]:
    """The test set as ``corpus.joined`` asks for it, with notes on what was joined.

    Raises UserError where nothing can be joined.
    """
    count = corpus.joined
    if count == 1:
        return test, ()
    _, *buckets = by_bucket(test, edges).values()
    joined = []
    for bucket in buckets:
        for start in range(0, len(bucket) - count + 1, count):
            parts = tuple(bucket[start : start + count])
            pair = join(parts) if sum(part.words for part in parts) <= corpus.max_words else None
            if pair is not None and pair.words <= corpus.max_words:
                joined.append(pair)
    if not joined:
        raise UserError(
            f"corpus.joined={count} makes no test sentence of up to {corpus.max_words} words; "
            "lower it, or raise corpus.max_words or corpus.test_pairs"
        )
    made, left = counted(len(joined), "test sentence"), len(test) - count * len(joined)
    return tuple(joined), (f"{made} made of {count} each (corpus.joined); {left:,} not joined",)


def side_by_side(parts: Pairs) -> SentencePair:
    """One sentence after the other, and no bits: the text does not say where one ends."""
    links: list[Link] = []
    source, target = 0, 0
    for part in parts:
        links += [(source + ours, target + theirs) for ours, theirs in part.links]
        source += len(tokenize(part.source))
        target += len(tokenize(part.target))
    texts = (" ".join(side) for side in zip(*((p.source, p.target) for p in parts), strict=True))
    return SentencePair(*texts, tuple(links))


def chained(
    parse: Callable[[str], SentencePair | None], reverse: bool, parts: Pairs
) -> SentencePair | None:
    """The parts with ", and " between them as a grammar reads it; None if it does not.

    ``reverse`` is for pairs whose source is the grammar's French. Greetings cannot be chained. The
    bits are left out: nothing drew this sentence.
    """
    pair = parse(", and ".join(part.target if reverse else part.source for part in parts))
    if pair is None:
        return None
    return reverse_pair(pair) if reverse else SentencePair(pair.source, pair.target, pair.links)
