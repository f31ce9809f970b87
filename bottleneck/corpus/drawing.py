"""Drawing sentence pairs from a language whose probabilities are known, and keeping what was drawn.

Only ``Random.random()`` is used, seeded by strings, so that the sentences are the same on every
machine and Python version. Drawn corpora are kept on this machine: reading one takes a twentieth of
the time of drawing it.
"""

import gzip
import json
import sys
import zlib
from bisect import bisect
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import accumulate
from math import fsum, log2
from pathlib import Path
from random import Random
from typing import Protocol, runtime_checkable

from ..settings.concerns import FILES, CorpusSettings, span_label
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import write_bytes
from ..settings.machine import cache_root
from .pair import Link, Pairs, SentencePair, Splits, by_bucket, reverse_pair, sources
from .vocabulary import tokenize

TRIES = 10_000
"""Draws in a row that may give nothing new before the language counts as exhausted."""
KEPT = 5_000
"""Training pairs, at least, of a corpus worth a file: fewer are drawn in a second or two."""
Join = Callable[[Pairs], SentencePair | None]
"""Makes one pair of several, None where they do not go together."""


@runtime_checkable  # so that beartype can check it in tests
class SentenceSource(Protocol):
    """A language that draws a sentence pair; its sources have ``shortest`` to ``longest`` words."""

    shortest: int
    longest: int

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a pair with this many source words; its bits are those given the length."""


@dataclass(frozen=True)
class Copying(SentenceSource):
    """The copying corpus: words ``w0`` to ``w{vocabulary - 1}``, and the target is the source.

    A sentence of n words of V equally probable ones has exactly n log2 V bits.
    """

    vocabulary: int
    shortest: int = 1
    longest: int = sys.maxsize

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a sentence of this many words, linked word by word to itself."""
        text = " ".join(f"w{int(random.random() * self.vocabulary)}" for _ in range(words))
        links = tuple((place, place) for place in range(words))
        return SentencePair(text, text, links, words * log2(self.vocabulary))


class Reversed(SentenceSource):
    """A language drawn by the length of its translations, which are the sources, without bits.

    A length near the one that is wanted is drawn, then a sentence of it, until its translation has
    the right length. What came at other lengths is kept for later draws with the same ``Random``.
    """

    def __init__(self, language: SentenceSource) -> None:
        self.language = language
        self.shortest, self.longest = language.shortest, language.longest
        self._spare: dict[Random, dict[int, list[SentencePair]]] = {}

    def draw(self, random: Random, words: int) -> SentencePair:
        """Raises UserError where `TRIES` draws find no translation of this many words."""
        spare = self._spare.setdefault(random, {})
        if spare.get(words):
            return spare[words].pop()
        spread = 2 + words // 10
        low = max(self.shortest, min(words, self.longest) - spread)
        lengths = range(low, min(self.longest, words + spread) + 1)
        for _ in range(TRIES):
            length = lengths[int(random.random() * len(lengths))]
            pair = replace(reverse_pair(self.language.draw(random, length)), bits=None)
            if pair.words == words:
                return pair
            spare.setdefault(pair.words, []).append(pair)
        raise UserError(f"found no sentence of {words} words; change corpus.min_words or max_words")


def note(notes: list[str], count: int, noun: str, text: str) -> None:
    """Append a note that starts with its count, none for a count of 0."""
    if count:
        notes.append(f"{counted(count, noun)} {text}")


def within_test(pairs: Pairs, corpus: CorpusSettings, notes: list[str]) -> Pairs:
    """The pairs of lengths to test on, and a note on others."""
    least, most = corpus.test_min_words or 1, corpus.test_max_words
    kept = tuple(pair for pair in pairs if least <= pair.words <= (most or pair.words))
    bounds = f"under {least}" if most is None else f"outside {span_label(least, most)}"
    note(notes, len(pairs) - len(kept), "pair", f"{bounds} words left out of the test set")
    return kept


def join_test(
    test: Pairs, corpus: CorpusSettings, edges: tuple[int, ...], join: Join, notes: list[str]
) -> Pairs:
    """The test set as ``corpus.joined`` asks for it; UserError where nothing can be joined.

    Every ``joined`` neighbours of a length bucket become one sentence, whose own length decides its
    bucket: the same content made longer, to tell length and content apart.
    """
    count = corpus.joined
    if count == 1:
        return test
    _, *buckets = by_bucket(test, edges).values()
    joined = []
    for bucket in buckets:
        for start in range(0, len(bucket) - count + 1, count):
            parts = tuple(bucket[start : start + count])
            pair = join(parts) if sum(part.words for part in parts) <= corpus.max_words else None
            if pair is not None and pair.words <= corpus.max_words:
                joined.append(pair)
    if not joined:
        raise UserError(f"corpus.joined={count} makes no test sentence of up to corpus.max_words")
    left = len(test) - count * len(joined)
    reason = f"made of {count} each (corpus.joined); {left:,} not joined"
    note(notes, len(joined), "test sentence", reason)
    return tuple(joined)


def side_by_side(parts: Pairs) -> SentencePair:
    """One sentence after the other, and no bits: the text does not say where one ends."""
    links: list[Link] = []
    source, target = 0, 0
    for part in parts:
        links += [(source + ours, target + theirs) for ours, theirs in part.links]
        source += len(tokenize(part.source))
        target += len(tokenize(part.target))
    texts = (" ".join(getattr(part, side) for part in parts) for side in ("source", "target"))
    return SentencePair(*texts, tuple(links))


def chained(
    parse: Callable[[str], SentencePair | None], reverse: bool, parts: Pairs
) -> SentencePair | None:
    """The parts with ", and " between them as a grammar reads it; None if it does not.

    ``reverse`` is for pairs whose source is the grammar's French. Nothing drew it: it has no bits.
    """
    pair = parse(", and ".join(part.target if reverse else part.source for part in parts))
    if pair is None:
        return None
    return reverse_pair(pair) if reverse else SentencePair(pair.source, pair.target, pair.links)


def draw_splits(
    source: SentenceSource,
    corpus: CorpusSettings,
    edges: tuple[int, ...],
    held_out: frozenset[str] = frozenset(),
    join: Join = side_by_side,
) -> Splits:
    """Draw test, then validation, then training pairs; no source sentence is in two of them.

    Test and validation are stratified by length group, each getting its exact share, the shortest
    first, and hold no sentence twice; training draws its lengths at random and repeats what the
    language repeats. The test set depends on nothing that concerns the other two.
    ``held_out`` sentences are in none.
    """
    least, most, trained = corpus.min_words, corpus.max_words, corpus.longest_trained
    if least < source.shortest or most > source.longest:
        raise UsageError(
            f"sentences of corpus {corpus.name!r} have {source.shortest} to {source.longest} "
            "words: change corpus.min_words or corpus.max_words"
        )
    chances, trained_chances = (
        length_probabilities(corpus.lengths, least, longest, edges) for longest in (most, trained)
    )

    def stratified(
        name: str, count: int, chances: dict[int, float], exclude: frozenset[str]
    ) -> Pairs:
        groups = length_groups(least, max(chances), edges)
        masses = [fsum(chances[words] for words in group) for group in groups]
        drawn: list[SentencePair] = []
        for group, part in zip(groups, shares(count, masses), strict=True):
            # A group has a seed of its own and stays when the others change.
            random = Random(f"{corpus.seed}:{name}:{group[0]}")
            drawn += draw_pairs(source, part, chances, random, group, exclude, distinct=True)
        return tuple(drawn)

    notes: list[str] = []
    drawn = stratified("test", corpus.test_pairs, chances, held_out)
    test = join_test(within_test(drawn, corpus, notes), corpus, edges, join, notes)
    taken = held_out | sources(drawn) | sources(test)
    valid = stratified("valid", corpus.valid_pairs, trained_chances, taken)
    taken |= sources(valid)
    random = Random(f"{corpus.seed}:train")
    train = draw_pairs(source, corpus.train_pairs, trained_chances, random, exclude=taken)
    return Splits(train, valid, test, tuple(notes))


def draw_pairs(
    source: SentenceSource,
    count: int,
    probabilities: dict[int, float],
    random: Random,
    lengths: Iterable[int] | None = None,
    exclude: Container[str] = frozenset(),
    distinct: bool = False,
) -> Pairs:
    """Draw pairs: a length, then a sentence of it; bits gain -log2 P(length).

    An excluded or, with ``distinct``, repeated sentence is thrown back together with its length:
    what is left is the language given that those sentences do not occur. ``lengths`` restricts
    the draw to some of the lengths; the bits stay those of the whole distribution.
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
            raise UserError(
                f"{len(drawn)} different sentences of {span_label(choices[0], choices[-1])} words "
                f"found, not {count}; lower corpus.test_pairs and corpus.valid_pairs"
            )
        if pair.bits is not None:
            pair = replace(pair, bits=pair.bits - log2(probabilities[words]))
        drawn.append(pair)
        if distinct:
            seen.add(pair.source)
    return tuple(drawn)


def length_groups(min_words: int, max_words: int, edges: tuple[int, ...]) -> tuple[range, ...]:
    """The lengths from min to max cut at the bucket edges; what lies below the first is a group."""
    starts = sorted({1, *edges})
    groups = (
        range(max(start, min_words), min(stop, max_words + 1))
        for start, stop in zip(starts, [*starts[1:], max_words + 1], strict=True)
    )
    return tuple(group for group in groups if group)


def length_probabilities(
    kind: str, min_words: int, max_words: int, edges: tuple[int, ...]
) -> dict[int, float]:
    """Probability of each length: all equal, or for ``buckets`` all groups of `length_groups`."""
    masses = dict.fromkeys(range(min_words, max_words + 1), 1.0)
    if kind == "buckets":
        groups = length_groups(min_words, max_words, edges)
        masses = {words: 1 / len(group) for group in groups for words in group}
    total = fsum(masses.values())
    return {words: mass / total for words, mass in masses.items()}


def shares(count: int, masses: list[float]) -> list[int]:
    """Split a count in proportion to masses, by largest remainder; ties go to the first."""
    total = fsum(masses)
    exact = [count * mass / total for mass in masses]
    parts = [int(part + 1e-9) for part in exact]
    # Rounded, so that the last bit of a sum cannot decide who is first.
    by_remainder = sorted(
        range(len(masses)), key=lambda place: round(parts[place] - exact[place], 6)
    )
    for place in by_remainder[: count - sum(parts)]:
        parts[place] += 1
    return parts


def cached_splits(
    corpus: CorpusSettings, edges: tuple[int, ...], draw: Callable[[], Splits]
) -> Splits:
    """The splits from their file or, where there is none, drawn and written to it.

    The file is named by a hash of all that the pairs depend on, this package's code included.
    """
    root = cache_root()
    if root is None or corpus.train_pairs < KEPT:
        return draw()
    later = {"test", "tokens", "source_vocabulary", "target_vocabulary", "lowercase", *FILES}
    digest = sha256(f"{corpus.model_dump_json(exclude=later)} {edges}".encode())
    for code in sorted(Path(__file__).parent.rglob("*")):
        if code.suffix in (".py", ".toml", ".txt"):
            digest.update(code.read_bytes())
    path = root / "drawn" / f"{digest.hexdigest()[:16]}.json.gz"
    link = cache(lambda source, target: (source, target))  # of equal links one is in memory
    with suppress(OSError, EOFError, zlib.error, ValueError):
        *rows, notes = json.loads(gzip.decompress(path.read_bytes()))
        train, valid, test = (
            tuple(
                SentencePair(source, target, tuple(link(*ends) for ends in links), bits)
                for source, target, links, bits in pairs
            )
            for pairs in rows
        )
        return Splits(train, valid, test, tuple(notes))
    splits = draw()
    rows = [[(p.source, p.target, p.links, p.bits) for p in pairs] for pairs in splits[:3]]
    content = json.dumps([*rows, splits.notes], ensure_ascii=False, separators=(",", ":")).encode()
    with suppress(UserError):  # no room or no right to write there
        write_bytes(path, gzip.compress(content, 1, mtime=0))
    return splits
