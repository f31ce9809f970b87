"""Draw sentence pairs from a language with known probabilities, and cache them.

Only ``Random.random()`` is used, seeded by strings, so that every machine draws the same sentences.
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
from itertools import accumulate, pairwise
from math import fsum, log2
from pathlib import Path
from random import Random

from ..settings.concerns import FILES, CorpusSettings, span_label
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import write_bytes
from ..settings.machine import cache_root
from .grammar import Grammar
from .pair import Edges, Pairs, SentencePair, Splits, by_bucket, sources

KEPT = 5_000  # corpora of fewer training pairs are not cached: they are drawn in seconds


@dataclass(frozen=True)
class Copying:
    """The copying corpus: the target repeats the source; n of V words have n log2 V bits."""

    vocabulary: int
    shortest: int = 1
    longest: int = sys.maxsize

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a sentence of this many words, linked word by word to itself."""
        text = " ".join(f"w{int(random.random() * self.vocabulary)}" for _ in range(words))
        links = tuple((position, position) for position in range(words))
        return SentencePair(text, text, links, words * log2(self.vocabulary))


Language = Copying | Grammar  # draws pairs whose sources have ``shortest`` to ``longest`` words


def note(notes: list[str], count: int, noun: str, text: str) -> None:
    """Append a note that starts with its count, unless the count is 0."""
    if count:
        notes.append(f"{counted(count, noun)} {text}")


def within_test(pairs: Pairs, corpus: CorpusSettings, notes: list[str]) -> Pairs:
    """The pairs of lengths to test on; ``notes`` gets a note on the others."""
    least, most = corpus.test_min_words or 1, corpus.test_max_words
    kept = tuple(pair for pair in pairs if least <= pair.words <= (most or pair.words))
    bounds = f"{least} to {most} words" if most else f"{least} words or more"
    note(notes, len(pairs) - len(kept), "pair", f"not of {bounds} left out of the test set")
    return kept


def join_test(
    test: Pairs, corpus: CorpusSettings, edges: Edges, parse: Callable, notes: list[str]
) -> Pairs:
    """Join neighbours of a length bucket, ``corpus.joined`` at a time, into longer sentences.

    A sentence that does not parse or is too long is left out. Joined sentences were not drawn, so
    they have no bits.
    """
    count, joined = corpus.joined, []
    for bucket in [*by_bucket(test, edges).values()][1:]:
        for start in range(0, len(bucket) - count + 1, count):
            text = ", and ".join(pair.source for pair in bucket[start : start + count])
            pair = parse(text)
            if pair is not None and pair.words <= corpus.max_words:
                joined.append(replace(pair, bits=None))
    if not joined:
        raise UserError(f"corpus.joined={count} makes no test sentence of up to corpus.max_words")
    left = len(test) - count * len(joined)
    reason = f"made of {count} each (corpus.joined); {left:,} not joined"
    note(notes, len(joined), "test sentence", reason)
    return tuple(joined)


def draw_splits(
    source: Language, corpus: CorpusSettings, edges: Edges, held_out: frozenset[str] = frozenset()
) -> Splits:
    """Draw test, then validation, then training pairs; no source sentence is in two of them.

    Test and validation are stratified by length group and hold no sentence twice; training may
    repeat sentences. The test set does not depend on the settings of the other two.
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
            # Each group has a seed, so that it stays the same when the others change.
            random = Random(f"{corpus.seed}:{name}:{group[0]}")
            drawn += draw_pairs(source, part, chances, random, group, exclude, distinct=True)
        return tuple(drawn)

    notes: list[str] = []
    drawn = stratified("test", corpus.test_pairs, chances, held_out)
    test = within_test(drawn, corpus, notes)
    if corpus.joined > 1:
        test = join_test(test, corpus, edges, source.parse, notes)
    taken = held_out | sources(drawn) | sources(test)
    valid = stratified("valid", corpus.valid_pairs, trained_chances, taken)
    taken |= sources(valid)
    random = Random(f"{corpus.seed}:train")
    train = draw_pairs(source, corpus.train_pairs, trained_chances, random, exclude=taken)
    return Splits(train, valid, test, tuple(notes))


def draw_pairs(
    source: Language,
    count: int,
    probabilities: dict[int, float],
    random: Random,
    lengths: Iterable[int] | None = None,
    exclude: Container[str] = frozenset(),
    distinct: bool = False,
) -> Pairs:
    """Draw pairs: a length, then a sentence of that length; bits include -log2 P(length).

    If a sentence is excluded or, with ``distinct``, repeated, length and sentence are drawn again.
    If only ``lengths`` are drawn, the bits are still those of the whole distribution.
    """
    choices = sorted(probabilities if lengths is None else lengths)
    ladder = list(accumulate(probabilities[words] for words in choices))
    drawn: list[SentencePair] = []
    seen: set[str] = set()
    for _ in range(count):
        for _ in range(10_000):  # so many draws without a new sentence: the language is exhausted
            words = choices[bisect(ladder, random.random() * ladder[-1], hi=len(ladder) - 1)]
            pair = source.draw(random, words)
            if pair.source not in exclude and pair.source not in seen:
                break
        else:
            raise UserError(
                f"{len(drawn)} different sentences of {span_label(choices[0], choices[-1])} words "
                f"found, not {count}; lower corpus.test_pairs and corpus.valid_pairs"
            )
        drawn.append(replace(pair, bits=pair.bits - log2(probabilities[words])))
        if distinct:
            seen.add(pair.source)
    return tuple(drawn)


def length_groups(min_words: int, max_words: int, edges: Edges) -> tuple[range, ...]:
    """The lengths from min to max, cut at the bucket edges; those below the first form a group."""
    end = max_words + 1
    cuts = pairwise([*sorted({1, *edges}), end])
    groups = (range(max(start, min_words), min(stop, end)) for start, stop in cuts)
    return tuple(filter(None, groups))


def length_probabilities(
    kind: str, min_words: int, max_words: int, edges: Edges
) -> dict[int, float]:
    """Probability of each length: all are equal, or for ``buckets`` all `length_groups` are."""
    groups = length_groups(min_words, max_words, edges)
    masses = {words: 1 / len(group) for group in groups for words in group}
    if kind == "uniform":
        masses = dict.fromkeys(masses, 1.0)
    total = fsum(masses.values())
    return {words: mass / total for words, mass in masses.items()}


def shares(count: int, masses: list[float]) -> list[int]:
    """Split a count in proportion to masses by largest remainder, ties to the first."""
    total = fsum(masses)
    exact = [count * mass / total for mass in masses]
    parts = [int(part + 1e-9) for part in exact]
    # Rounded, so that the last bit of a sum cannot decide a tie.
    lacks = [round(part - whole, 6) for part, whole in zip(parts, exact, strict=True)]
    for index in sorted(range(len(lacks)), key=lacks.__getitem__)[: count - sum(parts)]:
        parts[index] += 1
    return parts


def cached_splits(corpus: CorpusSettings, edges: Edges, draw: Callable[[], Splits]) -> Splits:
    """Read the splits from the user's cache, or draw and cache them: drawing takes many seconds.

    The file is named by a hash of all that the pairs depend on, including the code in this folder.
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
    link = cache(lambda source, target: (source, target))  # equal links are in memory once
    with suppress(OSError, EOFError, zlib.error):
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
