"""Which source words reach the output (claim C3), and how many would by chance.

A source word survives where the reference's words that it is linked to stand in the hypothesis.
Three choices make this a number:

- Copies. Where the reference has a word m times and the hypothesis k times, min(m, k) of its
  tokens are found: a hypothesis token vouches for one reference token, as in BLEU's clipping.
  Which of the m they are the hypothesis does not say, so each has the share min(m, k) / m, its
  expectation were they drawn at random. Giving the first copies the credit would make early
  words survive more often, and position is what is to be measured. The cost: a difference
  between the places of one sentence's equal words is not seen (these are mostly function words).
- One source word, several target words ("sat": "s'est assis"): the mean of their shares. That
  all must be found would make a word the harder to keep the more words its translation takes.
- Several source words, one target word: each has that word's whole share, as each is in it.

Source words without a link are nan and count nowhere. Words are compared as they are, so both
sides must be tokenised and cased alike. Chance is what the subtraction is for: "le" stands in
most outputs, whatever was read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.pair import Link


@dataclass(frozen=True)
class LinkedReference:
    """What survival needs of a sentence pair.

    ``links`` are (source, target) places, 0-based, over ``words`` source tokens and the tokens of
    ``reference``: gold ones, or IBM model 1's where there are none.
    """

    words: int
    reference: tuple[str, ...]
    links: tuple[Link, ...]


def found_shares(reference: Sequence[str], hypothesis: Sequence[str]) -> Float[ndarray, "target"]:
    """Share of each reference token that the hypothesis vouches for: min(m, k) / m, see above.

    They sum to the clipped unigram matches of BLEU (Papineni et al. 2002).
    """
    gold, ours = Counter(reference), Counter(hypothesis)
    shares = {word: min(ours[word], copies) / copies for word, copies in gold.items()}
    return np.array([shares[word] for word in reference], np.float64)


def survival(pair: LinkedReference, hypothesis: Sequence[str]) -> Float[ndarray, "source"]:
    """Share of each source token that survived, 0 to 1; nan where it has no link."""
    return _of_source(pair, found_shares(pair.reference, hypothesis))


def _of_source(pair: LinkedReference, shares: Float[ndarray, "target"]) -> Float[ndarray, "source"]:
    """Mean share of the target words of each source word; nan where it has none."""
    places = np.array(sorted(set(pair.links)), np.int64).reshape(-1, 2)
    links = np.bincount(places[:, 0], minlength=pair.words)
    found = np.bincount(places[:, 0], shares[places[:, 1]], minlength=pair.words)
    return np.where(links > 0, found / np.maximum(links, 1), np.nan)


def survivals(
    pairs: Iterable[LinkedReference], hypotheses: Iterable[Sequence[str]]
) -> list[Float[ndarray, "_"]]:
    """``survival`` of every sentence."""
    return [survival(pair, ours) for pair, ours in zip(pairs, hypotheses, strict=True)]


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
    pairs: Sequence[LinkedReference],
    hypotheses: Sequence[Sequence[str]],
    others: Int[ndarray, "shuffles sentences"],
) -> list[Float[ndarray, "_"]]:
    """Survival of every sentence's words in the outputs of its ``partners``, mean over shuffles.

    Each output meets a shuffled source once a shuffle, so that sums over a bucket are those of
    the outputs against shuffled sources; put down to the source's sentence, they have the same
    words, classes and places in the denominator as survival itself. A sentence without a
    partner has nan throughout. A partner that happens to be the same sentence is not left out.
    """
    return [
        _of_source(pair, _mean_shares(pair, [hypotheses[other] for other in column]))
        if (column >= 0).all()
        else np.full(pair.words, np.nan)
        for pair, column in zip(pairs, others.T, strict=True)
    ]


def _mean_shares(
    pair: LinkedReference, hypotheses: Sequence[Sequence[str]]
) -> Float[ndarray, "target"]:
    """Mean over outputs of the share of each reference token that is found."""
    return np.mean([found_shares(pair.reference, ours) for ours in hypotheses], axis=0)
