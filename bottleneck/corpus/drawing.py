"""Drawing sentence pairs from a language whose probabilities are known.

Only ``Random.random()`` is used, seeded by strings, so that the sentences are the same on every
machine and Python version.
"""

import sys
from bisect import bisect
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import fsum, log2
from random import Random
from typing import Protocol, runtime_checkable

from ..settings.buckets import span_label
from ..settings.concerns import CorpusSettings
from ..settings.errors import UsageError, UserError
from .joining import Join, join_test, left_out, side_by_side, within_test
from .lengths import length_groups, length_probabilities, shares
from .pair import SentencePair, Splits, sources


@dataclass(frozen=True)
class Copying:
    """The copying corpus: random words ``w0`` to ``w{vocabulary - 1}``; the target is the source.

    Words are equally probable and independent, so that a sentence of n words of V possible ones has
    exactly n log2 V bits: the plainest load for a fixed context.
    """

    vocabulary: int
    shortest: int = 1
    longest: int = sys.maxsize

    def weight(self, words: int) -> float:
        """Every length is equally common."""
        return float(self.shortest <= words <= self.longest)

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a sentence of this many words, n log2 V bits, linked word by word to itself."""
        text = " ".join(f"w{int(random.random() * self.vocabulary)}" for _ in range(words))
        links = tuple((place, place) for place in range(words))
        return SentencePair(text, text, links, words * log2(self.vocabulary))


TRIES = 10_000
"""Draws in a row that may give nothing new before the language counts as exhausted."""


@runtime_checkable  # so that beartype can check it in tests
class SentenceSource(Protocol):
    """A language that draws a sentence pair of a given source length."""

    @property
    def shortest(self) -> int:
        """Fewest source words of a sentence."""

    @property
    def longest(self) -> int:
        """Most source words of a sentence."""

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a pair with this many source words; its bits are those given the length."""

    def weight(self, words: int) -> float:
        """How common this length is, up to a constant; 0 where there is no such sentence."""


def draw_splits(
    source: SentenceSource,
    corpus: CorpusSettings,
    edges: tuple[int, ...],
    held_out: frozenset[str] = frozenset(),
    join: Join = side_by_side,
) -> Splits:
    """Draw test, then validation, then training pairs; no source sentence is in two of them.

    Test and validation are stratified by length group and hold no sentence twice; training
    draws its lengths at random and repeats what the language repeats. The test set depends on
    nothing that concerns the other two, which keep to ``corpus.longest_trained`` words; those
    share neither a joined test sentence nor a part of one. ``held_out`` sentences are in none. What
    is drawn for the test set outside ``test_min_words`` to ``test_max_words`` is in none either.
    """
    check_lengths(source, corpus)
    chances, groups = _lengths(source, corpus, corpus.max_words, edges)
    drawn = draw_stratified(
        source, corpus.test_pairs, chances, groups, f"{corpus.seed}:test", held_out
    )
    parts = tuple(within_test(drawn, corpus))
    notes = left_out(len(drawn) - len(parts), corpus)
    test, joining_notes = join_test(parts, corpus, edges, join)
    taken = held_out | sources(drawn) | sources(test)
    chances, groups = _lengths(source, corpus, corpus.longest_trained, edges)
    valid = draw_stratified(
        source, corpus.valid_pairs, chances, groups, f"{corpus.seed}:valid", taken
    )
    taken |= sources(valid)
    random = Random(f"{corpus.seed}:train")
    train = draw_pairs(source, corpus.train_pairs, chances, random, exclude=taken)
    return Splits(train, valid, test, notes + joining_notes)


def _lengths(
    source: SentenceSource, corpus: CorpusSettings, longest: int, edges: tuple[int, ...]
) -> tuple[dict[int, float], tuple[range, ...]]:
    """The chance of every length up to ``longest``, and the lengths in groups."""
    chances = length_probabilities(corpus.lengths, corpus.min_words, longest, edges, source.weight)
    return chances, length_groups(corpus.min_words, longest, edges)


def check_lengths(source: SentenceSource, corpus: CorpusSettings) -> None:
    """Refuse lengths that the language cannot draw as a UsageError."""
    if corpus.min_words < source.shortest:
        raise UsageError(
            f"corpus.min_words={corpus.min_words} is below the shortest sentence of corpus "
            f"{corpus.name!r}; give {source.shortest} or more"
        )
    if corpus.max_words > source.longest:
        raise UsageError(
            f"corpus.max_words={corpus.max_words} is above the longest sentence of corpus "
            f"{corpus.name!r}; give {source.longest} or less"
        )


def draw_stratified(
    source: SentenceSource,
    count: int,
    probabilities: dict[int, float],
    groups: Sequence[range],
    seed: str,
    exclude: frozenset[str],
) -> tuple[SentencePair, ...]:
    """Draw distinct pairs, each group of lengths getting its exact share, shortest group first.

    Every group has a seed of its own, so that a group's sentences stay the same when the others
    change.
    """
    filled = [[words for words in group if words in probabilities] for group in groups]
    filled = [group for group in filled if group]
    masses = [fsum(probabilities[words] for words in group) for group in filled]
    drawn: list[SentencePair] = []
    for group, part in zip(filled, shares(count, masses), strict=True):
        random = Random(f"{seed}:{group[0]}")
        drawn += draw_pairs(source, part, probabilities, random, group, exclude, distinct=True)
    return tuple(drawn)


def draw_pairs(
    source: SentenceSource,
    count: int,
    probabilities: dict[int, float],
    random: Random,
    lengths: Iterable[int] | None = None,
    exclude: Container[str] = frozenset(),
    distinct: bool = False,
) -> tuple[SentencePair, ...]:
    """Draw pairs: a length, then a sentence of it; bits gain -log2 P(length).

    An excluded or, with ``distinct``, repeated sentence is thrown back together with its length:
    what is left is the language given that those sentences do not occur. ``lengths`` restricts
    the draw to some of the lengths; the bits stay those of the whole distribution. Raises UserError
    where `TRIES` draws in a row give nothing new.
    """
    choices = sorted(probabilities if lengths is None else lengths)
    ladder = list(accumulate(probabilities[words] for words in choices))
    drawn: list[SentencePair] = []
    seen: set[str] = set()
    for _ in range(count):
        for _ in range(TRIES):
            words = choices[bisect(ladder, random.random() * ladder[-1], hi=len(ladder) - 1)]
            pair = source.draw(random, words)
            if pair.source not in exclude and pair.source not in seen:
                break
        else:
            raise _exhausted(choices, len(drawn), count)
        if pair.bits is not None:  # and those of its length
            pair = replace(pair, bits=pair.bits - log2(probabilities[words]))
        drawn.append(pair)
        if distinct:
            seen.add(pair.source)
    return tuple(drawn)


def _exhausted(lengths: list[int], drawn_count: int, count: int) -> UserError:
    """The error for a language that has no further sentence of these lengths."""
    return UserError(
        f"too few different sentences of {span_label(lengths[0], lengths[-1])} words: "
        f"{drawn_count} found of {count}; lower corpus.test_pairs and corpus.valid_pairs "
        "or raise corpus.min_words"
    )
