"""Spread over seeds: another thing than the interval over test sentences, and shown apart.

Clark et al. 2011: resampling one output's sentences says nothing of training noise.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation and 95 % t-interval over seeds; nan where too few."""

    seeds: int
    mean: float
    sd: float
    low: float
    high: float


def spread(values: Float[ndarray, "seeds"]) -> Spread:
    """Spread of one number a seed, as if seeds were drawn from a normal distribution."""
    from scipy.special import stdtrit  # here, because it takes half a second to import

    seeds = len(values)
    mean = float(values.mean()) if seeds else np.nan
    sd = float(values.std(ddof=1)) if seeds > 1 else np.nan
    half = stdtrit(seeds - 1, 0.975) * sd / np.sqrt(seeds) if seeds > 1 else np.nan
    return Spread(seeds, mean, sd, float(mean - half), float(mean + half))
