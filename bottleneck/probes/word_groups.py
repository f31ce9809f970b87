"""What words are grouped by: place in the sentence, training frequency, class; -1 is no group."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..settings.buckets import Buckets

FREQUENCIES = Buckets((0, 1, 10, 100, 1000))
"""Bands of a word's count in the training text."""

FREQUENCY_NAMES = ("unseen", *FREQUENCIES.names[1:])

DOUBLINGS = Buckets((0, *(2**power for power in range(4, 16))))
"""Finer bands of the same: doublings, below which and above which all words are one band."""


def relative_bands(words: int, bands: int) -> Int[ndarray, "words"]:
    """Band of each place of a sentence in ``bands`` equal parts: 0 is its first fifth of five.

    A word stands at its middle, (i + 1/2) / words, so that first and last are treated alike. A
    sentence of fewer words than bands leaves bands empty.
    """
    places = np.arange(words)
    return (2 * places + 1) * bands // (2 * max(words, 1))


def frequency_bands(
    tokens: Sequence[str], counts: Mapping[str, int], bands: Buckets = FREQUENCIES
) -> Int[ndarray, "words"]:
    """Band of each token's count in the training text; unseen is 0."""
    return bands.assign(np.array([counts.get(token, 0) for token in tokens], np.int64))


def class_places(classes: Sequence[str], names: Sequence[str]) -> Int[ndarray, "words"]:
    """Place of each word's class in ``names``; a class that is not there is no group."""
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(name, -1) for name in classes], np.int64)
