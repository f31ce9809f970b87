"""A number of words or steps that is known only within the range that was tested.

Beyond the range it is infinite: +inf reads "at least the highest tested", -inf "under the lowest".
In the rows of a table the bound is the end of the range, and ``note`` says so ("value at least").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor, inf, isinf, isnan, nan
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import Measured
from ..scoring.bootstrap import LEVEL, Estimate, Interval
from ..tables.render import beyond

ENDS = ("value", "low", "high")


@dataclass(frozen=True, eq=False)
class Censored:
    """A value and its resamples, each within [lowest, highest] or infinite on one side of it."""

    value: float
    draws: Float[ndarray, "resamples"]
    lowest: float
    highest: float

    @property
    def interval(self) -> Interval:
        """Percentile interval whose ends are draws; undefined for a single run."""
        if not len(self.draws) or np.isnan(self.draws).any():
            return Interval(nan, nan)
        ordered, last = np.sort(self.draws), len(self.draws) - 1
        low, high = floor((1 - LEVEL) / 2 * last), ceil((1 + LEVEL) / 2 * last)
        return Interval(float(ordered[low]), float(ordered[high]))

    def row(self) -> dict[str, Any]:
        """``value``, ``low``, ``high`` and ``note`` of a table's row."""
        ends = dict(zip(ENDS, (self.value, *vars(self.interval).values()), strict=True))
        inside = {name: float(np.clip(ends[name], self.lowest, self.highest)) for name in ENDS}
        sides = {inf: "at least", -inf: "under"}
        bounds = [f"{name} {sides[end]}" for name, end in ends.items() if end in sides]
        return inside | {"note": ", ".join(bounds)}


def text(number: Measured, form: str = "{:.1f}") -> str:
    """``14.2 [13.8, at least 14.9]``; a bound that is its interval stands alone."""
    ends = [(beyond(number.note, end), getattr(number, end)) for end in ENDS]
    value, low, high = ("open" if isnan(end) else sign + form.format(end) for sign, end in ends)
    words = value if value[0] in "<>" and value == low == high else f"{value} [{low}, {high}]"
    return words.replace(">", "at least ").replace("<", "under ")


def unbounded(number: Measured) -> Measured:
    """A stored number whose ends beyond the tested range are infinite."""
    sides = {">": inf, "<": -inf}
    ends = (sides.get(beyond(number.note, end), getattr(number, end)) for end in ENDS)
    return Measured(*ends, number.n)


def censor(
    values: Float[ndarray, "*rows"], lowest: float, highest: float
) -> Float[ndarray, "*rows"]:
    """Infinite on the side on which a value leaves the range; nan stays."""
    return np.where(values > highest, inf, np.where(values < lowest, -inf, values))


def last_lengths(
    at: Float[ndarray, "points"],
    rows: Float[ndarray, "rows points"],
    words: Float[ndarray, "points"],
    shares: Iterable[float],
) -> list[Float[ndarray, "rows"]]:
    """For each share, the last length at which each row is still at it, or a bound."""
    from scipy.optimize import isotonic_regression  # here, because it takes a second to import

    fits = [isotonic_regression(row, weights=words, increasing=False) for row in rows]
    curves = np.array([fit.x for fit in fits])
    lasts = []
    for share in shares:
        reached = (curves >= share - 1e-9).sum(axis=-1)  # means may differ from it by rounding
        before = np.clip(reached - 1, 0, len(at) - 2)
        high, low = (np.take_along_axis(curves, (before + k)[:, None], 1)[:, 0] for k in (0, 1))
        fall = high - low
        part = np.clip((high - share) / np.where(fall > 1e-12, fall, 1.0), 0.0, 1.0)
        between = at[before] + part * (at[before + 1] - at[before])
        beyond = np.where(reached == 0, -inf, inf)
        lasts.append(np.where((reached > 0) & (reached < len(at)), between, beyond))
    return lasts


def change(once: Censored, twice: Censored) -> dict[str, Any]:
    """Twice minus once, paired by resample: what censored lengths allow."""
    spans = []
    for length in (twice, once):
        values = np.append(length.value, length.draws)
        least = np.select([values == inf, values == -inf], [length.highest, 0.0], values)
        spans.append((least, np.where(values == -inf, length.lowest, values)))
    least, most = spans[0][0] - spans[1][1], spans[0][1] - spans[1][0]
    bottom, top = (Censored(nan, ends[1:], -inf, inf).interval for ends in (least, most))
    ends = [float(least[0]), bottom.low, top.high]
    value, low, high = (nan if isinf(end) else end for end in ends)
    if isinf(once.value) and once.value == twice.value:
        value = nan
    note = "value at least" if most[0] > value else ""
    return {"value": value, "low": low, "high": high, "note": note}


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
