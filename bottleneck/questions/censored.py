"""A number of words or steps that is known only within the range that was tested.

Beyond the range it is infinite: +inf reads "at least the highest tested", -inf "under the lowest".
No arithmetic is done on such ends, so that a bound never passes for a number.
"""

from dataclasses import dataclass
from math import ceil, floor, inf, isinf
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import LEVEL, Interval

Side = Literal["under", "", "at least"]


@dataclass(frozen=True, eq=False)
class Censored:
    """A value and its resamples, each within [lowest, highest] or infinite on one side of it."""

    value: float
    draws: Float[ndarray, "resamples"]
    lowest: float
    highest: float

    @property
    def side(self) -> Side:
        """What stands before `shown`: nothing where the value was reached."""
        if not isinf(self.value):
            return ""
        return "at least" if self.value > 0 else "under"

    @property
    def shown(self) -> float:
        """The value, or the end of the tested range that it lies beyond."""
        return float(np.clip(self.value, self.lowest, self.highest))

    @property
    def interval(self) -> Interval:
        """Percentile interval whose ends are draws, the outer ones; an infinite end is censored."""
        if np.isnan(self.draws).any():
            return Interval(np.nan, np.nan)
        ordered, last = np.sort(self.draws), len(self.draws) - 1
        low, high = floor((1 - LEVEL) / 2 * last), ceil((1 + LEVEL) / 2 * last)
        return Interval(float(ordered[low]), float(ordered[high]))


def censor(
    values: Float[ndarray, "*rows"], lowest: float, highest: float
) -> Float[ndarray, "*rows"]:
    """Infinite on the side on which a value leaves the range; nan stays."""
    return np.where(values > highest, inf, np.where(values < lowest, -inf, values))
