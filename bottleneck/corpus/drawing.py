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

from ..settings.concerns import FILES, CorpusSettings, bucket_members, span_label
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import write_file
from ..settings.machine import cache_root
from .grammar import LECTURE_SENTENCES, Grammar, english_french
from .pair import Edges, Pairs, SentencePair, Splits, sources


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


def language_of(corpus: CorpusSettings) -> Language:
    """The language that a corpus is drawn from."""
    return Copying(corpus.copy_words) if corpus.name == "copy" else english_french(corpus.lexicon)


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
    for rows in bucket_members([pair.words for pair in test], edges).values():
        for start in range(0, len(rows) - count + 1, count):
            pair = parse(", and ".join(test[row].source for row in rows[start : start + count]))
            if pair is not None and pair.words <= corpus.max_words:
                joined.append(replace(pair, bits=None))
    if not joined:
        raise UserError(f"corpus.joined={count} makes no test sentence of up to corpus.max_words")
    left = len(test) - count * len(joined)
    reason = f"made of {count} each (corpus.joined); {left:,} not joined"
    note(notes, len(joined), "test sentence", reason)
    return tuple(joined)


def draw_splits(source: Language, corpus: CorpusSettings, edges: Edges) -> Splits:
    """Draw test, then validation, then training pairs; no source sentence is in two of them.

    Test and validation are stratified by length group and hold no sentence twice; training may
    repeat sentences. The test set does not depend on the settings of the other two.
    """
    least, most = corpus.min_words, corpus.max_words
    if least < source.shortest or most > source.longest:
        raise UsageError(
            f"sentences of corpus {corpus.name!r} have {source.shortest} to {source.longest} "
            "words: change corpus.min_words or corpus.max_words"
        )
    stratified, notes, taken = {}, [], frozenset(LECTURE_SENTENCES)
    for split, longest in (("test", most), ("valid", corpus.longest_trained)):
        groups, chances = length_probabilities(corpus.lengths, least, longest, edges)
        masses = [fsum(chances[words] for words in group) for group in groups]
        # Each group's part of the pairs, by largest remainder, ties to the first.
        count, total = getattr(corpus, f"{split}_pairs"), fsum(masses)
        exact = [count * mass / total for mass in masses]
        parts = [int(part + 1e-9) for part in exact]
        # Rounded, so that the last bit of a sum cannot decide a tie.
        lacks = [round(part - whole, 6) for part, whole in zip(parts, exact, strict=True)]
        for index in sorted(range(len(lacks)), key=lacks.__getitem__)[: count - sum(parts)]:
            parts[index] += 1
        pairs: Pairs = ()
        for group, part in zip(groups, parts, strict=True):
            # Each group has a seed, so that it stays the same when the others change.
            random = Random(f"{corpus.seed}:{split}:{group[0]}")
            pairs += draw_pairs(source, part, chances, random, group, taken, distinct=True)
        taken |= sources(pairs)
        if split == "test":
            pairs = within_test(pairs, corpus, notes)
            if corpus.joined > 1:
                pairs = join_test(pairs, corpus, edges, source.parse, notes)
                taken |= sources(pairs)
        stratified[split] = pairs
    random = Random(f"{corpus.seed}:train")  # lengths are as likely as in validation
    train = draw_pairs(source, corpus.train_pairs, chances, random, exclude=taken)
    return Splits(train, stratified["valid"], stratified["test"], tuple(notes))


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


def length_probabilities(
    kind: str, min_words: int, max_words: int, edges: Edges
) -> tuple[list[range], dict[int, float]]:
    """Groups of the lengths from min to max, cut at the bucket edges; each length's probability.

    Lengths below the first edge form a group. The probabilities of all lengths are equal, or for
    ``buckets`` those of all groups.
    """
    end = max_words + 1
    cuts = pairwise([*sorted({1, *edges}), end])
    groups = [range(max(start, min_words), min(stop, end)) for start, stop in cuts]
    groups = [group for group in groups if group]
    masses = {words: 1 / len(group) for group in groups for words in group}
    if kind == "uniform":
        masses = dict.fromkeys(masses, 1.0)
    total = fsum(masses.values())
    return groups, {words: mass / total for words, mass in masses.items()}


def cached_splits(corpus: CorpusSettings, edges: Edges) -> Splits:
    """Read the splits from the user's cache, or draw and cache them: drawing takes many seconds.

    The file is named by a hash of all that the pairs depend on, including the code in this folder.
    """
    root = cache_root()
    if root is None or corpus.train_pairs < 5_000:  # which are drawn in seconds
        return draw_splits(language_of(corpus), corpus, edges)
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
    splits = draw_splits(language_of(corpus), corpus, edges)
    rows = [[(p.source, p.target, p.links, p.bits) for p in pairs] for pairs in splits[:3]]
    content = json.dumps([*rows, splits.notes], ensure_ascii=False, separators=(",", ":")).encode()
    with suppress(UserError):  # no room or no right to write there
        write_file(path, gzip.compress(content, 1, mtime=0))
    return splits
