"""Spread over seeds: another thing than the interval over test sentences, and shown apart.

Clark et al. 2011: resampling one output's sentences says nothing of training noise.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

T_975 = (12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814)
"""Student's t at .975 for 1 to 10 degrees of freedom."""
NORMAL_975 = 1.959964


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
    seeds = len(values)
    mean = float(values.mean()) if seeds else np.nan
    sd = float(values.std(ddof=1)) if seeds > 1 else np.nan
    half = _t_975(seeds - 1) * sd / np.sqrt(seeds) if seeds > 1 else np.nan
    return Spread(seeds, mean, sd, float(mean - half), float(mean + half))


def _t_975(freedom: int) -> float:
    """Student's t at .975: table, then Abramowitz and Stegun 26.7.5 (four terms)."""
    if freedom <= len(T_975):
        return T_975[freedom - 1]
    z, n = NORMAL_975, freedom
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    return z + (z**3 + z) / (4 * n) + second + third + fourth
