"""Which source words reach the output, how many would by chance, and rates of groups of words.

A source word survives if the output has the words of the reference that it is linked to. Three
choices make this a number:

- Copies. If the reference has a word m times and the output k times, each copy has the share
  min(m, k) / m, as in BLEU's clipping: the output does not say which copies are found, and early
  words must not survive more often because the first copies get the credit.
- One source word, several target words ("sat": "s'est assis"): the mean of their shares. If all
  were required, a word would be the harder to keep the more words its translation takes.
- Several source words, one target word: each has that word's whole share.

Words are compared as they are, so both sides must be tokenised and cased alike. Chance is
subtracted because most outputs have "le", whatever was read.

Sums are cells (group, band, column): groups are word classes or frequency bands, bands are places
in the sentence, and the columns are words found, found by chance, and words. Classes have different
places (a name is often last, a determiner first), and places differ in how well they survive. So
classes are compared at equal positions by direct standardisation, with the bands' shares of all
words as weights,

    r_g = sum_b w_b found_gb / words_gb,   w_b = sum_g words_gb / sum_gb words_gb.

Two groups can be compared in finer bands, even if either lacks some, by matching: bands weigh

    w_b = words_gb words_hb / (words_gb + words_hb),

as in Mantel and Haenszel's estimate of a difference between two rates (1959; Greenland and Robins
1985), so that a band counts as far as both have words there.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.vocabulary import is_word, tokenize
from ..scoring.bootstrap import Score, ratio_of_sums
from .ibm1 import IBM1, train

LEXICON_PAIRS = 50_000
"""Training pairs at most that teach IBM model 1, spread evenly over the text."""
FUNCTION_WORD = "function word"
CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", FUNCTION_WORD)
"""Adverbs and numerals together: either is missing in parts of some bucket's sentences."""
SURVIVED, PARTLY, LOST, UNLINKED = "survived", "in part", "lost", "not linked"
SHUFFLES = 10
"""Other sentences whose outputs show how much of a sentence is there by chance."""


@dataclass(frozen=True)
class LinkedReference:
    """What survival needs of a sentence pair.

    ``links`` are (source, target) places, 0-based, over ``words`` source tokens and the tokens of
    ``reference``: gold ones, or IBM model 1's where there are none.
    """

    words: int
    reference: tuple[str, ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, pair: SentencePair, links: Iterable[Link]) -> "LinkedReference":
        """A pair with these links between its tokens."""
        source, target = words_of(pair)
        return cls(len(source), tuple(target), tuple(links))


def words_of(pair: SentencePair) -> tuple[list[str], list[str]]:
    """The tokens of source and target."""
    return tokenize(pair.source), tokenize(pair.target)


def lexicon(pairs: Sequence[SentencePair]) -> IBM1:
    """IBM model 1 of a training text, of `LEXICON_PAIRS` at most: links where no gold is known."""
    step = -(-len(pairs) // LEXICON_PAIRS)
    return train(list(map(words_of, pairs[::step])))[0]


def class_of(token: str) -> str:
    """The class, of `CLASSES`, of a word of the grammar; "" of punctuation and other text."""
    from ..corpus.grammar import CONTENT, word_class

    with suppress(KeyError):
        if is_word(token):
            name = word_class(token)
            joined = next((item for item in CLASSES if name in item.split(", ")), name)
            return joined if name in CONTENT else FUNCTION_WORD
    return ""


def found_shares(reference: Sequence[str], hypothesis: Sequence[str]) -> Float[ndarray, "target"]:
    """Share of each reference token that the hypothesis has: min(m, k) / m, see above.

    They sum to the clipped unigram matches of BLEU (Papineni et al. 2002).
    """
    expected, actual = Counter(reference), Counter(hypothesis)
    return np.array([min(actual[word] / expected[word], 1.0) for word in reference], np.float64)


def survival(
    pairs: Sequence[LinkedReference], outputs: Sequence[Sequence[str]]
) -> Float[ndarray, "words"]:
    """Share of each source token that survived, 0 to 1, of all pairs; nan where it has no link."""
    survived = []
    for pair, output in zip(pairs, outputs, strict=True):
        shares = found_shares(pair.reference, output)
        places = np.array(sorted(set(pair.links)), np.int64).reshape(-1, 2)
        links = np.bincount(places[:, 0], minlength=pair.words)
        sums = np.bincount(places[:, 0], shares[places[:, 1]], minlength=pair.words)
        survived.append(np.where(links > 0, sums / np.maximum(links, 1), np.nan))
    return np.concatenate(survived)


def partners(
    buckets: Int[ndarray, "sentences"], shuffles: int, *, seed: int
) -> Int[ndarray, "shuffles sentences"]:
    """For every shuffle another sentence of the same length bucket; -1 for one that is alone.

    Each shuffle is one random cycle through the bucket, so that no sentence is its own partner
    and each is the partner of one. Sentences outside all buckets (-1) are one more bucket. The
    stream is PCG64 seeded by (seed, bucket + 1).
    """
    chosen = np.full((shuffles, len(buckets)), -1, np.int64)
    for bucket in np.unique(buckets):
        ids = np.flatnonzero(buckets == bucket)
        stream = np.random.Generator(np.random.PCG64([seed, int(bucket) + 1]))
        for row in chosen if len(ids) > 1 else ():
            cycle = stream.permutation(ids)
            row[cycle] = np.roll(cycle, 1)
    return chosen


def chance_survival(
    pairs: Sequence[LinkedReference],
    outputs: Sequence[Sequence[str]],
    others: Int[ndarray, "shuffles sentences"],
) -> Float[ndarray, "words"]:
    """Survival of all words in the outputs of their sentence's `partners`, mean over shuffles.

    Each output meets a shuffled source once a shuffle, so that sums over a bucket are those of
    the outputs against shuffled sources. They are counted at the source's sentence, so that their
    denominator has the same words, classes and places as survival itself. A sentence without a
    partner has nan throughout. A partner with the same text is not left out.
    """
    shuffled = [survival(pairs, [outputs[other] for other in row]) for row in others]
    alone = np.repeat((others < 0).any(axis=0), [pair.words for pair in pairs])
    return np.where(alone, np.nan, np.mean(shuffled, axis=0))


@dataclass(frozen=True)
class WordReport:
    """A source word, the reference's words for it, and which of them the output has.

    ``share`` is its survival, 0 to 1, None where it has no link. A target word is ``found`` even
    if the output has only some of its copies; the share then says how many.
    """

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
    source: Sequence[str], classes: Sequence[str], pair: LinkedReference, hypothesis: Sequence[str]
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


def survival_cells(
    sentence: Int[ndarray, "words"],
    survived: Float[ndarray, "words"],
    by_chance: Float[ndarray, "words"],
    group: Int[ndarray, "words"],
    band: Int[ndarray, "words"],
    *,
    shape: tuple[int, int, int],
) -> Float[ndarray, "sentences groups bands 3"]:
    """Count words by sentence, group and band; ``shape`` says how many there are of each.

    Words without a link (``survived`` is nan) or group (-1) are left out. The sums by chance are
    nan for a sentence without a partner.
    """
    counted = ~np.isnan(survived) & (group >= 0)
    cells = np.ravel_multi_index((sentence[counted], group[counted], band[counted]), shape)
    columns = (survived[counted], by_chance[counted], np.ones(counted.sum()))
    sums = [np.bincount(cells, column, math.prod(shape)) for column in columns]
    return np.stack(sums, axis=-1, dtype=np.float64).reshape(*shape, 3)


def rates(
    cells: Real[ndarray, "*rows 3"], weights: Real[ndarray, "..."] | None = None
) -> Float[ndarray, "... 2"]:
    """Recall and chance (0 to 1) of cells (found, by chance, words); nan without words.

    With a weight for each band they are averages over bands, of each group. A group without words
    in a band that weighs something cannot be compared at equal positions: nan. Groups that are too
    rare to have a rate in every band should be joined first.
    """
    recall, chance = (ratio_of_sums(cells[..., [column, 2]]) for column in (0, 1))
    both = np.stack([recall, chance], axis=-1)
    if weights is None:
        return both
    whole = weights.sum(axis=-1)[..., None]
    share = (weights / np.where(whole > 0, whole, 1))[..., None, :, None]
    average = (share * np.where(share > 0, both, 0.0)).sum(axis=-2)
    return np.where(whole[..., None] > 0, average, np.nan)


def all_words(cells: Real[ndarray, "*rows groups bands 3"]) -> Real[ndarray, "*rows bands"]:
    """The weights of direct standardisation: the words of each band, of all groups."""
    return cells[..., 2].sum(axis=-2)


def matching(cells: Real[ndarray, "*rows 2 bands 3"]) -> Float[ndarray, "*rows bands"]:
    """The weights of Mantel and Haenszel: 0 where either group has no word."""
    words = cells[..., 2]
    return np.asarray(words.prod(axis=-2) / np.maximum(words.sum(axis=-2), 1))


MEASURES: dict[str, Callable[[Float[ndarray, "*rows 2"]], Float[ndarray, "*rows"]]] = {
    "recall": lambda rates: rates[..., 0],
    "chance": lambda rates: rates[..., 1],
    "less_chance": lambda rates: np.asarray(rates[..., 0] - rates[..., 1]),
    "corrected": lambda rates: ratio_of_sums(
        np.stack([rates[..., 0] - rates[..., 1], 1 - rates[..., 1]], axis=-1)
    ),
}
"""From recall r and chance c to a number, by the names that tables have for them.

The last is recall beyond chance, (r - c) / (1 - c); nan where chance is 1.
"""


def rates_score(measure: str) -> Score:
    """A measure as a score of sums (found, by chance, words)."""
    return lambda sums: MEASURES[measure](rates(sums))


def group_score(
    measure: str,
    cells: Real[ndarray, "seeds sentences groups bands 3"],
    group: int,
    minus: int | None = None,
    weigh: Callable[[ndarray], ndarray] = all_words,
) -> tuple[Score, Real[ndarray, "seeds sentences columns"]]:
    """A measure of a group, less that of another, and the sums of which it is the score.

    ``weigh`` gives the weights of the bands.
    """

    def score(sums: Real[ndarray, "*rows columns"]) -> Float[ndarray, "*rows"]:
        summed = sums.reshape(*sums.shape[:-1], *cells.shape[2:])
        numbers = MEASURES[measure](rates(summed, weigh(summed)))
        other = 0.0 if minus is None else numbers[..., minus]
        return np.asarray(numbers[..., group] - other)

    return score, cells.reshape(*cells.shape[:2], math.prod(cells.shape[2:]))
