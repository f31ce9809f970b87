"""C13: whether a word's nearest neighbours among the embeddings are of its class, or its gender.

For gender, hand in the nouns alone: neighbours are sought among the words given.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Estimate, difference, estimate
from ..scoring.sums import ratio_of_sums


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Mean share of same-label neighbours, what chance gives, and the first minus the second.

    Resamples draw words, not other embeddings: neighbours stay as they are.
    """

    words: int
    share: Estimate
    chance: Estimate
    beyond: Estimate


def neighbours(
    embeddings: Float[ndarray, "seeds words size"],
    labels: Int[ndarray, "words"],
    weights: Float[ndarray, "resamples words"],
    *,
    k: int,
) -> Neighbours:
    """Of the words given, the mean over words and seeds; two encoders are paired by the weights."""
    ours = np.stack([same_label(seed, labels, k=k) for seed in embeddings])
    share, expected = _mean(ours, weights), _mean(chance(labels)[None], weights)
    return Neighbours(len(labels), share, expected, difference(share, expected))


def same_label(
    embeddings: Float[ndarray, "words size"], labels: Int[ndarray, "words"], *, k: int
) -> Float[ndarray, "words"]:
    """Share of each word's k nearest by cosine, itself left out, that have its label.

    Of neighbours equally near the earlier words count. Raises ValueError unless 1 <= k < words.
    """
    if not 1 <= k < len(labels):
        raise ValueError(f"{k} neighbours cannot be chosen for each of {len(labels)} words")
    cosines = _cosines(embeddings)
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return (labels[nearest] == labels[:, None]).mean(axis=1)


def chance(labels: Int[ndarray, "words"]) -> Float[ndarray, "words"]:
    """Share of the other words that have each word's label: what random neighbours give."""
    _, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return (counts[place] - 1) / (len(labels) - 1)


def _cosines(embeddings: Float[ndarray, "words size"]) -> Float[ndarray, "words words"]:
    """Cosine of each pair; 0 with a vector of zeros, which has no direction."""
    vectors = embeddings.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(norms > 0, norms, 1.0)
    return directions @ directions.T


def _mean(
    shares: Float[ndarray, "seeds words"], weights: Float[ndarray, "resamples words"]
) -> Estimate:
    return estimate(ratio_of_sums, np.stack([shares, np.ones_like(shares)], axis=-1), weights)
