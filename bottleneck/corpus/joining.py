"""Test sentences joined: the same content made longer, to tell length and content apart.

The rule: the ordinary test set is taken, and within each length bucket every ``joined``
sentences in a row become one, whose own length decides its bucket. What would be longer than
``max_words``, has too few neighbours or is in no bucket is left out. So with two joined and the
lecture's buckets, sentences of 5-10 words make ones of 11-21, and 11-20 make 23-41. Training and
validation stay what they are for the ordinary test set.
"""

from collections.abc import Callable, Iterable, Sequence

from ..settings.buckets import OUTSIDE, bucket_of, span_label
from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError, counted
from .pair import Link, SentencePair
from .tokens import tokenize

Pairs = tuple[SentencePair, ...]
Join = Callable[[Sequence[SentencePair]], SentencePair | None]
"""Makes one pair of several, None where they do not go together."""


def side_by_side(parts: Sequence[SentencePair]) -> SentencePair:
    """One sentence after the other, and no bits: where one ends is not told by the text."""
    links: list[Link] = []
    source, target = 0, 0
    for part in parts:
        links += [(source + ours, target + theirs) for ours, theirs in part.links]
        source += len(tokenize(part.source))
        target += len(tokenize(part.target))
    return SentencePair(
        " ".join(part.source for part in parts),
        " ".join(part.target for part in parts),
        tuple(links),
    )


def chained(
    parse: Callable[[str], SentencePair | None], parts: Sequence[SentencePair]
) -> SentencePair | None:
    """The parts with ", and " between them as a grammar reads it; None if it does not.

    Greetings cannot be chained. The bits are left out: nothing drew this sentence.
    """
    pair = parse(", and ".join(part.source for part in parts))
    return pair and SentencePair(pair.source, pair.target, pair.links)


def join_test(
    test: Pairs, corpus: CorpusSettings, edges: tuple[int, ...], join: Join
) -> tuple[Pairs, tuple[str, ...]]:
    """The test set as ``corpus.joined`` asks for it, with notes on what was joined.

    Raises UserError where nothing can be joined.
    """
    if corpus.joined == 1:
        return test, ()
    rows = neighbours(test, corpus.joined, edges)
    candidates = (_join_short(row, corpus.max_words, join) for row in rows)
    joined = tuple(pair for pair in candidates if pair is not None)
    if not joined:
        raise UserError(
            f"corpus.joined={corpus.joined} makes no test sentence of up to {corpus.max_words} "
            "words; lower it, or raise corpus.max_words or corpus.test_pairs"
        )
    left = counted(len(test) - corpus.joined * len(joined), "test sentence")
    return joined, (
        f"{counted(len(joined), 'test sentence')} made of {corpus.joined} each (corpus.joined)",
        f"{left} not joined: too long together, in no bucket or left over",
    )


def neighbours(test: Pairs, count: int, edges: tuple[int, ...]) -> list[Pairs]:
    """Every ``count`` sentences in a row of one bucket, the shortest bucket first."""
    buckets: list[list[SentencePair]] = [[] for _ in edges]
    for pair in test:
        place = bucket_of(pair.words, edges)
        if place != OUTSIDE:
            buckets[place].append(pair)
    return [
        tuple(bucket[start : start + count])
        for bucket in buckets
        for start in range(0, len(bucket) - count + 1, count)
    ]


def _join_short(parts: Pairs, max_words: int, join: Join) -> SentencePair | None:
    """The joined pair, None where it is too long or cannot be."""
    if sum(part.words for part in parts) > max_words:
        return None
    pair = join(parts)
    return pair if pair is not None and pair.words <= max_words else None


Pairs = list[SentencePair]


def within_test(pairs: Iterable[SentencePair], corpus: CorpusSettings) -> Pairs:
    """The pairs of lengths to test on: all, where ``corpus`` sets no bound."""
    least, most = corpus.test_min_words, corpus.test_max_words
    return [
        pair
        for pair in pairs
        if (least is None or least <= pair.words) and (most is None or pair.words <= most)
    ]


def left_out(count: int, corpus: CorpusSettings) -> tuple[str, ...]:
    """The note on as many pairs outside the bounds; none for a count of 0."""
    if not count:
        return ()
    least, most = corpus.test_min_words, corpus.test_max_words
    if most is None:
        return (f"{counted(count, 'pair')} under {least} words left out of the test set",)
    span = span_label(1 if least is None else least, most)
    return (f"{counted(count, 'pair')} outside {span} words left out of the test set",)
