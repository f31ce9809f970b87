"""A share as the studies' verdicts judge and tell it."""

from dataclasses import dataclass
from math import hypot

import pandas as pd

from .verdict import POINTS, directed, ranged


@dataclass(frozen=True)
class Share:
    """A share, or a difference of two, 0 to 1, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def percent(self) -> tuple[float, float, float]:
        """The same in per cent or, of a difference, in points."""
        return 100 * self.value, 100 * self.low, 100 * self.high

    def __str__(self) -> str:
        return ranged(*self.percent, "{:z.0f}", " %")

    def points(self, than: str = "") -> str:
        """A difference in words: ``14 points [11, 16] less``, and ``than`` what."""
        told = [" ".join(filter(None, ["{}", word, than])) for word in ("more", "less")]
        return directed(*self.percent, "{:z.0f}", *told, POINTS)

    @property
    def rest(self) -> "Share":
        """1 less the share."""
        return Share(1 - self.value, 1 - self.high, 1 - self.low)

    def minus(self, other: "Share") -> "Share":
        """The difference of two independent ones: the errors' squares add up."""
        value = self.value - other.value
        half = hypot(self.high - self.low, other.high - other.low) / 2
        return Share(value, value - half, value + half)


def read_share(row: pd.Series | dict) -> Share:
    """The share of a row of a study's table (columns `PROBE_COLUMNS`)."""
    return Share(float(row["value"]), float(row["low"]), float(row["high"]))
