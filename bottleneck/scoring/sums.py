"""Sums over sentences: of a bucket, of a resample, and the ratio of two of them."""

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray


def ratio_of_sums(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """First sum over second, as for a loss per token (nats, tokens); nan where the second is 0."""
    filled = sums[..., 1] != 0
    return np.where(filled, sums[..., 0] / np.where(filled, sums[..., 1], 1), np.nan)
