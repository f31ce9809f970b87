"""Which sentences are tested on: those within bounds of length, and several joined into one.

Joined sentences are the same content made longer, to tell length and content apart. Within each
length bucket of the ordinary test set every ``joined`` sentences in a row become one, whose own
length decides its bucket. What would be longer than ``max_words``, has too few neighbours or is in
no bucket is left out. So with two joined and the lecture's buckets, sentences of 5-10 words make
ones of 11-21, and 11-20 make 23-41. Training and validation stay what they are for the ordinary
test set.
"""

from collections.abc import Callable, Iterable, Sequence

from ..settings.concerns import CorpusSettings, span_label
from ..settings.errors import UserError, counted
from .pair import Link, Pairs, SentencePair, by_bucket, reverse_pair
from .vocabulary import tokenize

Notes = tuple[str, ...]
Join = Callable[[Sequence[SentencePair]], SentencePair | None]
"""Makes one pair of several, None where they do not go together."""


def within_test(pairs: Iterable[SentencePair], corpus: CorpusSettings) -> tuple[Pairs, Notes]:
    """The pairs of lengths to test on: all, where ``corpus`` sets no bound; a note on others."""
    pairs, least, most = tuple(pairs), corpus.test_min_words or 1, corpus.test_max_words
    kept = tuple(
        pair for pair in pairs if least <= pair.words and (most is None or pair.words <= most)
    )
    if len(kept) == len(pairs):
        return kept, ()
    bounds = f"under {least}" if most is None else f"outside {span_label(least, most)}"
    left = counted(len(pairs) - len(kept), "pair")
    return kept, (f"{left} {bounds} words left out of the test set",)


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
            parts = bucket[start : start + count]
            pair = join(parts) if sum(part.words for part in parts) <= corpus.max_words else None
            if pair is not None and pair.words <= corpus.max_words:
                joined.append(pair)
    if not joined:
        raise UserError(
            f"corpus.joined={count} makes no test sentence of up to {corpus.max_words} words; "
            "lower it, or raise corpus.max_words or corpus.test_pairs"
        )
    left = counted(len(test) - count * len(joined), "test sentence")
    return tuple(joined), (
        f"{counted(len(joined), 'test sentence')} made of {count} each (corpus.joined)",
        f"{left} not joined: too long together, in no bucket or left over",
    )


def side_by_side(parts: Sequence[SentencePair]) -> SentencePair:
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
    parse: Callable[[str], SentencePair | None],
    reverse: bool,
    parts: Sequence[SentencePair],
) -> SentencePair | None:
    """The parts with ", and " between them as a grammar reads it; None if it does not.

    ``reverse`` is for pairs whose source is the grammar's French. Greetings cannot be chained. The
    bits are left out: nothing drew this sentence.
    """
    pair = parse(", and ".join(part.target if reverse else part.source for part in parts))
    if pair is None:
        return None
    return reverse_pair(pair) if reverse else SentencePair(pair.source, pair.target, pair.links)
