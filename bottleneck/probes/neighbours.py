"""C13: whether a word's nearest neighbours among the embeddings are of its class, or its gender.

For gender, hand in the nouns alone: neighbours are sought among the words given.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray


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
