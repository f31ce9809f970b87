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


@dataclass(frozen=True, eq=False)
class Censored:
    """A value and its resamples, each within [lowest, highest] or infinite on one side of it."""

    value: float
    draws: Float[ndarray, "resamples"]
    lowest: float
    highest: float

    def row(self) -> dict[str, Any]:
        """``value``, ``low``, ``high`` and ``note`` of a table's row."""
        ends = {"value": self.value, "low": nan, "high": nan}
        if len(self.draws):
            ends["low"] = np.quantile(self.draws, (1 - LEVEL) / 2, method="lower")
            ends["high"] = np.quantile(self.draws, (1 + LEVEL) / 2, method="higher")
        row = {name: float(np.clip(end, self.lowest, self.highest)) for name, end in ends.items()}
        sides = {inf: "at least", -inf: "under"}
        bounds = [f"{name} {sides[end]}" for name, end in ends.items() if end in sides]
        return row | {"note": ", ".join(bounds)}


def text(number: Measured, form: str = "{:.1f}") -> str:
    """``14.2 [13.8, at least 14.9]``; a number beyond the tested range has no interval."""
    written = in_line(cell(number.value, number.low, number.high, form, form, number.note))
    return written.replace(">", "at least ").replace("<", "under ")


def unbounded(number: Measured) -> Measured:
    """A stored number whose ends beyond the tested range are infinite."""
    sides = {">": inf, "<": -inf}
    ends = {end: sides.get(beyond(number.note, end), known) for end, known in number.row().items()}
    return Measured(**ends, n=number.n)
