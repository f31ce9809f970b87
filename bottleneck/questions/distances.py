"""Records of single words, summed per sentence and distance so that sentences can be resampled."""

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..scoring.bootstrap import Estimate, estimate, ratio_of_sums


def sums_by_distance(
    sentence: Int[ndarray, "records"],
    distance: Int[ndarray, "records"],
    columns: Real[ndarray, "records columns"],
    *,
    sentences: int,
    distances: int,
) -> Float[ndarray, "sentences distances columns"]:
    """Each column's sum over a sentence's records at each distance, 0 to ``distances`` - 1.

    Raises ValueError for a record of another sentence or distance.
    """
    for name, ids, end in (("sentence", sentence, sentences), ("distance", distance, distances)):
        if len(ids) and not (ids.min() >= 0 and ids.max() < end):
            raise ValueError(f"a record's {name} is outside 0 to {end - 1}")
    cells = sentence * distances + distance
    sums = [np.bincount(cells, column, sentences * distances) for column in columns.T]
    return np.stack(sums, axis=-1).reshape(sentences, distances, columns.shape[1])


def means_by_distance(
    sums: Float[ndarray, "seeds sentences distances 2"],
    weights: Float[ndarray, "resamples sentences"],
) -> tuple[Estimate, ...]:
    """First column over second at each distance, all on the same resamples; nan where empty."""
    places = range(sums.shape[2])
    return tuple(estimate(ratio_of_sums, sums[:, :, place], weights) for place in places)
