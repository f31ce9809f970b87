"""Which word is the translation of which, and which source words reach the output.

IBM model 1 (Brown et al. 1993, section 4.1) finds links in sentence pairs alone:
P(target | source) = prod_j sum_i t(f_j | e_i) / (I + 1), where source word 0 is NULL, no word.

A source word survives if the output has the words of the reference that it is linked to. If the
reference has a word m times and the output k times, each copy has the share min(m, k) / m, as in
BLEU's clipping. A source word with several target words has the mean of their shares.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.vocabulary import is_word, tokenize

Tokens = Sequence[str]
Floats = Float[ndarray, "words"]
CHUNK = 500
"""Sentence pairs that IBM model 1 counts at once."""
CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", "function word")
"""Adverbs and numerals together: either is missing in parts of some bucket's sentences."""
SURVIVED, PARTLY, LOST, UNLINKED = "survived", "in part", "lost", "not linked"


@dataclass(frozen=True, eq=False)
class IBM1:
    """A trained model: t(target | source) of every word pair that stood in one sentence pair."""

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: Int[ndarray, "entries"]
    probabilities: Float[ndarray, "entries"]

    def table(self, source: Tokens, target: Tokens) -> Float[ndarray, "target source_and_null"]:
        """t(target word | source word), NULL in column 0; 0 where unseen together."""
        e = np.array([0, *(self.source_ids.get(word, -1) for word in source)], np.int64)
        f = np.array([self.target_ids.get(word, -1) for word in target], np.int64)
        keys = e[None, :] * len(self.target_ids) + f[:, None]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        seen = (e[None, :] >= 0) & (f[:, None] >= 0) & (self.keys[places] == keys)
        return np.where(seen, self.probabilities[places], 0.0)

    def align(self, pairs: Iterable[tuple[Tokens, Tokens]]) -> list[frozenset[Link]]:
        """(source, target) places of the likeliest source word of each target word."""
        links: list[frozenset[Link]] = []
        for source, target in pairs:
            table = self.table(source, target)
            equal = table[:, 1:] == table.max(axis=1, keepdims=True)
            nearest = nearest_to_diagonal(equal) if source and target else ()
            links.append(frozenset((i, j) for i, j in nearest if equal[j, i]))
        return links


def nearest_to_diagonal(allowed: Bool[ndarray, "target source"]) -> frozenset[Link]:
    """Link each target word to the allowed source word nearest to the diagonal, else to any.

    If all are allowed this is the baseline that knows no words: i = floor((j + 1/2) I / J).
    """
    targets, sources = allowed.shape
    i, j = np.arange(sources)[None, :], np.arange(targets)[:, None]
    distance = np.abs((2 * i + 1) * targets - (2 * j + 1) * sources)
    far = 2 * sources * targets + 1
    nearest = sources - 1 - np.where(allowed, distance, far)[:, ::-1].argmin(axis=1)
    return frozenset(zip(nearest.tolist(), range(targets), strict=True))


def train(pairs: Sequence[tuple[Tokens, Tokens]], *, iterations: int = 5) -> IBM1:
    """Train IBM model 1 by EM on pairs without an empty side."""
    full = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
    source_ids, target_ids = (
        {word: index for index, word in enumerate(dict.fromkeys(chain(*side)), first)}
        for side, first in zip(zip(*full, strict=True), (1, 0), strict=True)
    )
    chunks = []
    for start in range(0, len(full), CHUNK):
        cells, widths = [], []
        for source, target in full[start : start + CHUNK]:
            columns = [0, *(source_ids[word] * len(target_ids) for word in source)]
            cells.append(np.add.outer([target_ids[word] for word in target], columns).ravel())
            widths += [len(columns)] * len(target)
        # The chunk's entries (word pairs), the entry of each cell, the cells of each target word.
        places, entries = pd.factorize(np.concatenate(cells))
        chunks.append((entries, places.astype(np.int32), np.array(widths)))
    keys = np.unique(np.concatenate([entries for entries, _, _ in chunks]))
    chunks = [(np.searchsorted(keys, entries), *rest) for entries, *rest in chunks]
    sources = keys // len(target_ids)
    probabilities = np.full(len(keys), 1 / len(target_ids))
    for _ in range(iterations):
        counts = np.zeros(len(keys))
        for entries, cells, widths in chunks:
            t = probabilities[entries][cells]
            sums = np.add.reduceat(t, np.cumsum(widths) - widths)
            counts[entries] += np.bincount(cells, t / np.repeat(sums, widths))
        probabilities = counts / np.bincount(sources, counts)[sources]
    return IBM1(source_ids, target_ids, keys, probabilities)


def words_of(pair: SentencePair) -> tuple[list[str], list[str]]:
    """The tokens of source and target."""
    return tokenize(pair.source), tokenize(pair.target)


def class_of(token: str) -> str:
    """The class, of `CLASSES`, of a token of the grammar; "" of punctuation."""
    from ..corpus.grammar import word_class

    name = word_class(token) if is_word(token) else ""
    content = (item for item in CLASSES if name in item.split(", "))
    return next(content, CLASSES[-1]) if name else ""


@dataclass(frozen=True)
class LinkedReference:
    """A sentence pair: ``links`` are (source, target) places, 0-based, of its tokens."""

    words: int
    reference: tuple[str, ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, pair: SentencePair, links: Iterable[Link]) -> "LinkedReference":
        """A pair with these links between its tokens."""
        source, target = words_of(pair)
        return cls(len(source), tuple(target), tuple(links))


def found_shares(reference: Tokens, hypothesis: Tokens) -> Float[ndarray, "target"]:
    """Share of each reference token that the hypothesis has: min(m, k) / m, see above."""
    expected, actual = Counter(reference), Counter(hypothesis)
    return np.array([min(actual[word] / expected[word], 1.0) for word in reference], np.float64)


def survival(pairs: Sequence[LinkedReference], outputs: Sequence[Tokens]) -> Floats:
    """Share of each source token that survived, 0 to 1, of all pairs; nan where it has no link."""
    survived = []
    for pair, output in zip(pairs, outputs, strict=True):
        shares = found_shares(pair.reference, output)
        places = np.array(sorted(set(pair.links)), np.int64).reshape(-1, 2)
        links = np.bincount(places[:, 0], minlength=pair.words)
        sums = np.bincount(places[:, 0], shares[places[:, 1]], minlength=pair.words)
        survived.append(np.where(links > 0, sums / np.maximum(links, 1), np.nan))
    return np.concatenate(survived)


def chance_survival(
    pairs: Sequence[LinkedReference], outputs: Sequence[Tokens], buckets: Int[ndarray, "sentences"],
    *, seed: int,
) -> Floats:  # fmt: skip
    """Survival in the outputs of ten other sentences of the same bucket, their mean.

    Each time all sentences of a bucket take the output of the next one in a random cycle (PCG64 of
    seed, bucket + 1). It is nan for one that is alone.
    """
    others = np.full((10, len(buckets)), -1, np.int64)
    for bucket in np.unique(buckets):
        ids = np.flatnonzero(buckets == bucket)
        stream = np.random.Generator(np.random.PCG64([seed, int(bucket) + 1]))
        for row in others if len(ids) > 1 else ():
            cycle = stream.permutation(ids)
            row[cycle] = np.roll(cycle, 1)
    shuffled = [survival(pairs, [outputs[other] for other in row]) for row in others]
    alone = np.repeat((others < 0).any(axis=0), [pair.words for pair in pairs])
    return np.where(alone, np.nan, np.mean(shuffled, axis=0))


@dataclass(frozen=True)
class WordReport:
    """A source word, the reference's words for it, and which of them the output has."""

    word: str
    word_class: str
    share: float | None
    targets: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def fate(self) -> str:
        """`SURVIVED`, `PARTLY`, `LOST` or, without a link, `UNLINKED`."""
        if self.share is None:
            return UNLINKED
        return SURVIVED if self.share == 1 else PARTLY if self.share > 0 else LOST


def word_reports(
    source: Tokens, classes: Sequence[str], pair: LinkedReference, hypothesis: Tokens
) -> list[WordReport]:
    """The report of every source word, in order; a class is "" where none is known."""
    shares, survived = found_shares(pair.reference, hypothesis), survival([pair], [hypothesis])
    reports = []
    for i, (word, word_class, share) in enumerate(zip(source, classes, survived, strict=True)):
        linked = sorted({target for place, target in pair.links if place == i})
        targets = tuple(pair.reference[j] for j in linked)
        known = tuple(pair.reference[j] for j in linked if shares[j] > 0)
        kept = float(share) if linked else None
        reports.append(WordReport(word, word_class, kept, targets, known))
    return reports
