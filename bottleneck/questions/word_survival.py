"""Which source words reach the output, and how many would by chance.

A source word survives if the output has the words of the reference that it is linked to. Three
choices make this a number:

- Copies. If the reference has a word m times and the output k times, min(m, k) copies are found, as
  in BLEU's clipping. The output does not say which, so each has the share min(m, k) / m, its
  expectation were they drawn at random: early words must not survive more often because the first
  copies get the credit.
- One source word, several target words ("sat": "s'est assis"): the mean of their shares. If all
  were required, a word would be the harder to keep the more words its translation takes.
- Several source words, one target word: each has that word's whole share.

Source words without a link are nan and count nowhere. Words are compared as they are, so both
sides must be tokenised and cased alike. Chance is subtracted because most outputs have "le",
whatever was read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.tokens import is_word, tokenize
from .ibm1 import IBM1, train

LEXICON_PAIRS = 50_000
"""Training pairs at most that teach IBM model 1, spread evenly over the text."""
FUNCTION_WORD = "function word"
CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", FUNCTION_WORD)
"""Adverbs and numerals together: either is missing in parts of some bucket's sentences."""
JOINED = {"adverb": "adverb, numeral", "numeral": "adverb, numeral"}
SURVIVED, PARTLY, LOST, UNLINKED = "survived", "in part", "lost", "not linked"


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

    try:
        name = word_class(token) if is_word(token) else ""
    except KeyError:
        name = ""
    return JOINED.get(name, name) if not name or name in CONTENT else FUNCTION_WORD


def found_shares(reference: Sequence[str], hypothesis: Sequence[str]) -> Float[ndarray, "target"]:
    """Share of each reference token that the hypothesis has: min(m, k) / m, see above.

    They sum to the clipped unigram matches of BLEU (Papineni et al. 2002).
    """
    expected, actual = Counter(reference), Counter(hypothesis)
    return np.array([min(actual[word] / expected[word], 1.0) for word in reference], np.float64)


def survival(pair: LinkedReference, hypothesis: Sequence[str]) -> Float[ndarray, "source"]:
    """Share of each source token that survived, 0 to 1; nan where it has no link."""
    return _of_source(pair, found_shares(pair.reference, hypothesis))


def _of_source(pair: LinkedReference, shares: Float[ndarray, "target"]) -> Float[ndarray, "source"]:
    """Mean share of the target words of each source word; nan where it has none."""
    places = np.array(sorted(set(pair.links)), np.int64).reshape(-1, 2)
    links = np.bincount(places[:, 0], minlength=pair.words)
    sums = np.bincount(places[:, 0], shares[places[:, 1]], minlength=pair.words)
    return np.where(links > 0, sums / np.maximum(links, 1), np.nan)


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


def chance_survivals(
    pairs: Iterable[LinkedReference],
    outputs: Sequence[Sequence[str]],
    others: Int[ndarray, "shuffles sentences"],
) -> list[Float[ndarray, "_"]]:
    """Survival of every sentence's words in the outputs of its `partners`, mean over shuffles.

    Each output meets a shuffled source once a shuffle, so that sums over a bucket are those of
    the outputs against shuffled sources. They are counted at the source's sentence, so that their
    denominator has the same words, classes and places as survival itself. A sentence without a
    partner has nan throughout. A partner with the same text is not left out.
    """
    chance = []
    for pair, column in zip(pairs, others.T, strict=True):
        shares = [found_shares(pair.reference, outputs[other]) for other in column]
        by_chance = _of_source(pair, np.mean(shares, axis=0))
        chance.append(np.where((column < 0).any(), np.nan, by_chance))
    return chance


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
    shares, survived = found_shares(pair.reference, hypothesis), survival(pair, hypothesis)
    reports = []
    for i, (word, word_class, share) in enumerate(zip(source, classes, survived, strict=True)):
        linked = sorted({target for place, target in pair.links if place == i})
        targets = tuple(pair.reference[j] for j in linked)
        known = tuple(pair.reference[j] for j in linked if shares[j] > 0)
        reports.append(
            WordReport(word, word_class, float(share) if linked else None, targets, known)
        )
    return reports
