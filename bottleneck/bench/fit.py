"""Exponents: least squares of log quantity on log size, with the 95 % interval of the slope.

A power law with something constant (or linear) beside it bends on a log-log plot: its local
exponent goes from the lesser power's to the greater's. So every quantity is fitted twice, over all
sizes and over the upper part of their range, and the interval, which takes what is off the line
for chance, says how far from a line the points are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..results.cost import QUANTITIES, VARIED

Row = Mapping[str, Any]
"""A row of ``cost.csv`` by column; a number that is not known is None."""


class Exponent(NamedTuple):
    """The slope and its 95 % interval (nan where two points leave none), and over which sizes."""

    value: float
    low: float
    high: float
    points: int
    first: int
    last: int


def fit(sizes: Float[np.ndarray, "points"], values: Float[np.ndarray, "points"]) -> Exponent | None:
    """The exponent of values that grow as a power of their sizes; None with under two points.

    Values that are not above 0 (a difference lost in noise) have no logarithm and are left out.
    """
    from scipy.special import stdtrit  # here, because it takes half a second to import

    kept = np.isfinite(values) & (values > 0)
    x, y = np.log(sizes[kept]), np.log(values[kept])
    if len(np.unique(x)) < 2:
        return None
    slope, half, degrees = float(np.polyfit(x, y, 1)[0]), math.nan, len(x) - 2
    if degrees > 0:
        _, covariance = np.polyfit(x, y, 1, cov=True)
        half = float(stdtrit(degrees, 0.975) * np.sqrt(covariance[0, 0]))
    ends = int(sizes[kept].min()), int(sizes[kept].max())
    return Exponent(slope, slope - half, slope + half, len(x), *ends)


def upper(sizes: Float[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """1 for the sizes from the geometric middle of their range up, else nan."""
    middle = math.sqrt(sizes.min() * sizes.max())
    return np.where(sizes >= middle * (1 - 1e-9), 1.0, np.nan)


def exponents(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of ``cost_exponents.csv`` from rows of ``cost.csv``: what can be fitted, in order."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["varied"], row["arm"]), []).append(row)
    ordered = sorted(groups.items(), key=lambda held: VARIED.index(held[0][0]))
    return [line for (varied, arm), held in ordered for line in _of_group(varied, arm, held)]


def _of_group(varied: str, arm: str, rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
    """Each quantity of one arm over one variation, over all sizes and over the upper ones."""
    sizes = np.array([row[varied] for row in rows], dtype=np.float64)
    for quantity in QUANTITIES:
        values = np.array([_number(row.get(quantity)) for row in rows], dtype=np.float64)
        for part, kept in (("all", 1.0), ("upper", upper(sizes))):
            found = fit(sizes, values * kept)
            if found is not None:
                names = ("exponent", "low", "high", "points", "from", "to")
                head = {"arm": arm, "varied": varied, "quantity": quantity, "part": part}
                yield head | dict(zip(names, found, strict=True))


def _number(value: float | None) -> float:
    return math.nan if value is None else value
