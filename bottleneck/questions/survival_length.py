"""The length up to which so many words survive: of an arm, and how it grows and changes.

The share of surviving words is measured at every length, made to fall with it, for a noisy rise is
no capacity (isotonic regression, weighted by words: Barlow et al. 1972), and joined by straight
lines. The length of a share is the last at which the line reaches it. A length outside the tested
ones is a bound: ``value``, ``low`` or ``high`` is then the end of the tested lengths and ``note``
says so ("value at least, high at least").
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Estimate
from ..settings.errors import UserError
from .arms import Arm
from .censored import Censored
from .survival_sums import rates_score

FEWEST = 20
"""Sentences of a point of the curve: neighbouring lengths with fewer are taken together."""
SHARES = {"90 %": 0.9, "50 %": 0.5}
WORDS = ("kept", "kept_by_chance", "words")
PLACES = ("in_place", "in_place_by_chance", "tokens")
"""Columns of the probe: words that survive, those by chance, and how many were counted."""
CRITERIA = {
    "": (WORDS, "corrected"),
    "_uncorrected": (WORDS, "recall"),
    "_in_place": (PLACES, "corrected"),
}
"""How the measures of a length end, and which share of which words it is the length of."""
ENDS = ("value", "low", "high")

Lengths = dict[tuple[str, str], tuple[Censored, list[Censored]]]
"""By criterion and share, the length of the mean over seeds, and that of each seed."""


def points_of(words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
    """The point of the curve of each sentence: neighbouring lengths of `FEWEST` or more sentences.

    Lengths are taken together from the shortest up; what is left at the end goes to the last point.
    """
    lengths, counts = np.unique(words, return_counts=True)
    point, inside, left, points = 0, 0, len(words), []
    for count in counts.tolist():
        points.append(point)
        inside, left = inside + count, left - count
        if inside >= FEWEST and left >= FEWEST:
            point, inside = point + 1, 0
    return np.array(points, np.int64)[np.searchsorted(lengths, words)]


def lengths(arm: Arm) -> Lengths:
    """The lengths of an arm; a UserError if a test set is too small for two points of a curve."""
    probed, measured = arm.runs[0].found, {}
    for suffix, (columns, measure) in CRITERIA.items():
        if columns == PLACES and arm.settings.corpus.name != "copy":
            continue
        statistics, score = arm.statistics(columns), rates_score(measure)
        at, rows, words = [], [], []
        for point in np.unique(probed["point"]):
            inside = probed["point"] == point
            sums = statistics[:, inside]
            mean = arm.estimate(score, sums, int(point))
            if mean.filled:
                at.append(float(probed["source_words"][inside].mean()))
                rows.append(np.concatenate([[mean.value], score(sums.sum(axis=1)), mean.draws]))
                words.append(probed[columns[-1]][inside].sum())
        if len(at) < 2:
            raise UserError(
                f"the {len(probed['point']):,} test sentences of the {arm.settings.corpus.name} "
                f"runs do not make two points of a curve, of {FEWEST} sentences each: train with "
                "more corpus.test_pairs"
            )
        lasts = last_lengths(np.array(at), np.array(rows).T, np.array(words), SHARES.values())
        for part, last in zip(SHARES, lasts, strict=True):
            value, seeds, draws = np.split(last, [1, 1 + len(arm.runs)])
            alone = [Censored(seed, draws[:0], at[0], at[-1]) for seed in seeds.tolist()]
            measured[suffix, part] = Censored(float(value[0]), draws, at[0], at[-1]), alone
    return measured


def last_lengths(
    at: Float[ndarray, "points"],
    rows: Float[ndarray, "rows points"],
    words: Float[ndarray, "points"],
    shares: Iterable[float],
) -> list[Float[ndarray, "rows"]]:
    """For each share, the last length at which each row is still at it; infinite if beyond ``at``.

    A row becomes the nearest falling curve, by least squares weighted by words.
    """
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
        beyond = np.where(reached == 0, -np.inf, np.inf)
        lasts.append(np.where((reached > 0) & (reached < len(at)), between, beyond))
    return lasts


def bounded(length: Censored) -> dict[str, Any]:
    """``value``, ``low``, ``high`` and ``note`` of a row; a bound is the end of what was tested."""
    ends = dict(zip(ENDS, (length.value, length.interval.low, length.interval.high), strict=True))
    bounds = [f"{end} {'at least' if number > 0 else 'under'}" for end, number in ends.items()
              if math.isinf(number)]  # fmt: skip
    inside = {end: float(np.clip(ends[end], length.lowest, length.highest)) for end in ENDS}
    return inside | {"note": ", ".join(bounds)}


def change(once: Censored, twice: Censored) -> dict[str, Any]:
    """Twice minus once, paired by resample; of censored lengths, all that can be said of it.

    A length is between two numbers (equal if it is not censored), and so is the difference. Its
    value is the least that it can be, and ``note`` says so; its interval is from the lower end of
    the least to the upper end of the most. An end that is not known is nan.
    """
    least, most = [], []
    for length in (twice, once):
        values = np.append(length.value, length.draws)
        least.append(
            np.select([values == np.inf, values == -np.inf], [length.highest, 0.0], values)
        )
        most.append(np.where(values == -np.inf, length.lowest, values))
    least, most = least[0] - most[1], most[0] - least[1]
    bottom, top = (Censored(math.nan, part[1:], -math.inf, math.inf).interval
                   for part in (least, most))  # fmt: skip
    unknown = math.isinf(least[0]) or (once.side == twice.side != "")
    return {
        "value": math.nan if unknown else float(least[0]),
        "low": math.nan if math.isinf(bottom.low) else bottom.low,
        "high": math.nan if math.isinf(top.high) else top.high,
        "note": "value at least" if not unknown and most[0] > least[0] else "",
    }


def growth(by_size: Mapping[int, Censored]) -> dict[str, Any]:
    """Exponent b of length = a size^b by least squares of the logarithms; nan under two sizes.

    ``n`` sizes are fitted; ``note`` names those left out, whose length is censored. A censored draw
    of a fitted size counts as the end of the tested lengths, so that the interval is too narrow if
    many are.
    """
    fitted = {size: length for size, length in sorted(by_size.items()) if not length.side}
    censored = ", ".join(str(size) for size in sorted(set(by_size) - set(fitted)))
    row = {"n": len(fitted), "note": f"censored: {censored}" if censored else ""}
    if len(fitted) < 2:
        return row | {"value": math.nan}
    values = np.log([length.value for length in fitted.values()])
    draws = np.log([np.clip(item.draws, item.lowest, item.highest) for item in fitted.values()])
    centred = np.log(list(fitted)) - np.log(list(fitted)).mean()
    line = centred / (centred**2).sum()
    exponent = Estimate(float(line @ values), line @ draws)
    return row | {"value": exponent.value, **vars(exponent.interval)}
