"""A number of words or steps that is known only within the range that was tested.

Beyond the range it is infinite: +inf means "at least the highest tested", -inf "under the lowest".
A table's row has the end of the range instead, and its ``note`` says so ("value at least").
"""

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import Measured
from ..scoring.bootstrap import LEVEL
from ..tables.page import in_line
from ..tables.render import beyond, cell

ENDS = ("value", "low", "high")


@dataclass(frozen=True, eq=False)
class Censored:
    """A value and its resamples, each within [lowest, highest] or infinite on one side of it."""

    value: float
    draws: Float[ndarray, "resamples"]
    lowest: float
    highest: float

    def row(self) -> dict[str, Any]:
        """``value``, ``low``, ``high`` and ``note`` of a table's row."""
        ends = dict(zip(ENDS, (self.value, *percentiles(self.draws)), strict=True))
        inside = {
            name: float(np.clip(end, self.lowest, self.highest)) for name, end in ends.items()
        }
        sides = {inf: "at least", -inf: "under"}
        bounds = [f"{name} {sides[end]}" for name, end in ends.items() if end in sides]
        return inside | {"note": ", ".join(bounds)}

    def bounds(self) -> tuple[Float[ndarray, "numbers"], Float[ndarray, "numbers"]]:
        """Lower bounds and upper bounds: of the value, then of each resample."""
        numbers = np.append(self.value, self.draws)
        least = np.select([numbers == inf, numbers == -inf], [self.highest, 0.0], numbers)
        return least, np.where(numbers == -inf, self.lowest, numbers)


def percentiles(draws: Float[ndarray, "resamples"]) -> tuple[float, float]:
    """The ends of the 95 % interval, which may be infinite; nan without draws."""
    if not len(draws):
        return nan, nan
    low, high = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    ends = np.quantile(draws, low, method="lower"), np.quantile(draws, high, method="higher")
    return float(ends[0]), float(ends[1])


def text(number: Measured, form: str = "{:.1f}") -> str:
    """``14.2 [13.8, at least 14.9]``; a number beyond the tested range has no interval."""
    written = in_line(cell(number.value, number.low, number.high, form, form, number.note))
    return written.replace(">", "at least ").replace("<", "under ")


def unbounded(number: Measured) -> Measured:
    """A stored number whose ends beyond the tested range are infinite."""
    sides = {">": inf, "<": -inf}
    ends = (sides.get(beyond(number.note, end), getattr(number, end)) for end in ENDS)
    return Measured(*ends, number.n)
