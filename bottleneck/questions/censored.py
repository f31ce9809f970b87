"""A number of words or steps that is known only within the range that was tested.

Beyond the range it is infinite: +inf reads "at least the highest tested", -inf "under the lowest".
In the rows of a table the bound is the end of the range, and ``note`` says so ("value at least").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isinf, isnan, nan
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import Measured
from ..scoring.bootstrap import LEVEL, Estimate
from ..tables.render import beyond

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
        """The least and the most that the value, and then each resample, can be."""
        numbers = np.append(self.value, self.draws)
        least = np.select([numbers == inf, numbers == -inf], [self.highest, 0.0], numbers)
        return least, np.where(numbers == -inf, self.lowest, numbers)


def percentiles(draws: Float[ndarray, "resamples"]) -> tuple[float, float]:
    """The draws that end the 95 % interval, infinite ones among them; nan without any."""
    if not len(draws):
        return nan, nan
    low, high = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    ends = np.quantile(draws, low, method="lower"), np.quantile(draws, high, method="higher")
    return float(ends[0]), float(ends[1])


def text(number: Measured, form: str = "{:.1f}") -> str:
    """``14.2 [13.8, at least 14.9]``; a number that is its interval stands alone."""
    words = {"": "", ">": "at least ", "<": "under "}
    value, low, high = (
        "open" if isnan(end) else words[beyond(number.note, name)] + form.format(end)
        for name, end in ((name, getattr(number, name)) for name in ENDS)
    )
    return value if value == low == high else f"{value} [{low}, {high}]"


def unbounded(number: Measured) -> Measured:
    """A stored number whose ends beyond the tested range are infinite."""
    sides = {">": inf, "<": -inf}
    ends = (sides.get(beyond(number.note, end), getattr(number, end)) for end in ENDS)
    return Measured(*ends, number.n)


def last_lengths(
    at: Float[ndarray, "points"],
    rows: Float[ndarray, "rows points"],
    words: Float[ndarray, "points"],
    shares: Iterable[float],
) -> list[Float[ndarray, "rows"]]:
    """For each share, the last length at which each row is still at it, or a bound."""
    from scipy.optimize import isotonic_regression  # here, because it takes a second to import

    def last(curve: Float[ndarray, "points"], share: float) -> float:
        reached = int((curve >= share - 1e-9).sum())  # means may differ from it by rounding
        if reached in (0, len(at)):
            return inf if reached else -inf
        high, low = curve[reached - 1 : reached + 1]
        part = max(0.0, (high - share) / (high - low))
        return at[reached - 1] + part * (at[reached] - at[reached - 1])

    curves = [isotonic_regression(row, weights=words, increasing=False).x for row in rows]
    return [np.array([last(curve, share) for curve in curves]) for share in shares]


def change(once: Censored, twice: Censored) -> dict[str, Any]:
    """Twice minus once, paired by resample: what censored lengths allow."""
    (least, most), (once_least, once_most) = twice.bounds(), once.bounds()
    least, most = least - once_most, most - once_least
    unknown = isinf(once.value) and once.value == twice.value
    ends = nan if unknown else least[0], percentiles(least[1:])[0], percentiles(most[1:])[1]
    row = {name: nan if isinf(end) else float(end) for name, end in zip(ENDS, ends, strict=True)}
    return row | {"note": "value at least" if most[0] > row["value"] else ""}


def growth(by_size: Mapping[int, Censored]) -> dict[str, Any]:
    """Exponent b of length = a size^b by least squares of the logarithms; nan under two sizes."""
    fitted = {size: length for size, length in sorted(by_size.items()) if not isinf(length.value)}
    censored = ", ".join(str(size) for size in sorted(set(by_size) - set(fitted)))
    row = {"n": len(fitted), "note": f"censored: {censored}" if censored else ""}
    if len(fitted) < 2:
        return row | {"value": nan}
    values = np.log([length.value for length in fitted.values()])
    draws = np.log([np.clip(item.draws, item.lowest, item.highest) for item in fitted.values()])
    centred = np.log(list(fitted)) - np.log(list(fitted)).mean()
    line = centred / (centred**2).sum()
    exponent = Estimate(float(line @ values), line @ draws)
    return row | {"value": exponent.value, **vars(exponent.interval)}
