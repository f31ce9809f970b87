"""From the pieces that a model reads to words: whose pieces they are, and weights word by word.

Gold links, IBM model 1 and word classes speak of words; attention weights and gradients are of a
model's own tokens. Where these are finer, the weights of the pieces of a source word are added, and
those of the pieces of a target word averaged: so the weights of each target word still add up to 1.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from .pair import Link
from .tokens import WORDS, Tokenizer

Shares = Float[ndarray, "_ _"]
"""How much of each piece lies in each word, pieces x words: rows add up to 1. The end token is the
last of both."""


def shares_of(pieces: Sequence[str], words: Sequence[str], tokenizer: Tokenizer) -> Shares:
    """The shares of pieces in word tokens (or words between spaces) of the same text, by bytes.

    A piece that reaches over a border of word tokens, ``).``, belongs to both. Raises ValueError
    where the two are not the same text.
    """
    return overlaps([tokenizer.size(piece) for piece in pieces], [*map(WORDS.size, words)])


def overlaps(pieces: Sequence[int], words: Sequence[int]) -> Shares:
    """The shares of pieces of these sizes in words of these sizes, end tokens put behind.

    A piece of no size belongs to the word that follows. Raises ValueError where sizes do not add up
    to the same.
    """
    if sum(pieces) != sum(words):
        raise ValueError(f"pieces of {sum(pieces)} bytes for words of {sum(words)}")
    # The end token is a piece of size 1 behind the text, and so is the end word.
    sizes, widths = (np.array([*side, 1], np.int64) for side in (pieces, words))
    starts, ends = np.cumsum(sizes) - sizes, np.cumsum(widths)
    last_starts = np.maximum.outer(starts, ends - widths)
    common = np.minimum.outer(starts + np.maximum(sizes, 1), ends) - last_starts
    shared = np.maximum(common, 0).astype(np.float64)
    return shared / shared.sum(axis=1, keepdims=True)


def backwards(shares: Shares) -> Shares:
    """The shares of a text that is read from its end; the end token stays the last."""
    rows, columns = ([*reversed(range(size - 1)), size - 1] for size in shares.shape)
    return shares[np.ix_(rows, columns)]


def by_word(
    weights: Float[ndarray, "target_pieces source_pieces"],
    source: Float[ndarray, "source_pieces source_words"],
    target: Float[ndarray, "target_pieces target_words"],
) -> Float[ndarray, "target_words source_words"]:
    """Weights of the pieces of a source word added, of those of a target word averaged.

    A source piece of two words gives each its share; a target piece of two words counts in both.
    Where pieces are words, nothing changes.
    """
    touching = (target > 0).astype(np.float64)
    return (touching / touching.sum(axis=0)).T @ weights @ source


def links_from_weights(
    weights: Float[ndarray, "rows columns"], source_words: int, target_words: int
) -> frozenset[Link]:
    """Link each target word to the source word with the largest weight, the first of equals.

    Rows are target tokens, columns source tokens; those past the words (end tokens, padding)
    are left out before looking.
    """
    best = weights[:target_words, :source_words].argmax(axis=1) if source_words else ()
    return frozenset((int(i), j) for j, i in enumerate(best))
