"""Rows of the study ``capacity``: lengths at which words survive, and how they grow and move.

Lengths are censored where the tested ones end. Then ``value``, ``low`` or ``high`` is that end, and
``note`` names it: ``value at least, high at least``. An end of a change that is blank is open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, isinf, nan
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..probes.capacity import SurvivalAt, capacity, capacity_growth
from ..probes.censored import Censored
from ..questions.arms import Arm, in_buckets, interval_of
from ..questions.question import Row
from ..questions.survival_sums import chance, normalised, rates, recall
from ..scoring.bootstrap import LEVEL, Score

Contexts = Mapping[tuple[int, int], Arm]
"""Arms that differ in updates and context size alone, by both."""
Lengths = Mapping[tuple[str, str], Censored]
"""By measure of `CRITERIA` and part of `SHARES`."""

SHARES = {"90 %": 0.9, "50 %": 0.5}
"""Shares of the words whose lengths are told."""
WORDS = ("kept", "kept_by_chance", "words")
PLACES = ("in_place", "in_place_by_chance", "tokens")


@dataclass(frozen=True)
class Criterion:
    """Which words count: columns (kept, by chance, of how many), and the share of them."""

    columns: tuple[str, str, str]
    score: Score


CRITERIA = {
    "length": Criterion(WORDS, lambda sums: normalised(rates(sums))),
    "length_uncorrected": Criterion(WORDS, lambda sums: recall(rates(sums))),
    "length_in_place": Criterion(PLACES, lambda sums: normalised(rates(sums))),
}
"""The measures that are lengths; the last where words are copied alone."""
GROWING = {"length": "", "length_in_place": "_in_place"}
"""The lengths whose growth and change are told, and how those rows' measures end."""
CURVE = {
    "survival": CRITERIA["length"],
    "chance": Criterion(WORDS, lambda sums: chance(rates(sums))),
}
"""What is told of each length bucket."""


def family_rows(family: Contexts) -> Iterator[Row]:
    """All numbers of the arms of one corpus and attention."""
    held = {place: lengths(arm) for place, arm in family.items()}
    for place, arm in family.items():
        updates, size = place
        yield from _length_rows(arm, held[place])
        if (updates % 2 == 0) and (earlier := held.get((updates // 2, size))):
            yield from _change_rows(arm, earlier, held[place])
        yield from _bit_rows(arm, held[place])
        yield from _curve_rows(arm)
    for updates in dict.fromkeys(updates for updates, _ in family):
        yield from _growth_rows(
            next(arm for place, arm in family.items() if place[0] == updates),
            {size: held[own, size] for own, size in family if own == updates},
        )


def lengths(arm: Arm) -> Lengths:
    """Every length of an arm, the mean over its seeds."""
    curves = {name: curve(arm, criterion) for name, criterion in _criteria(arm).items()}
    return {
        (name, part): capacity(points, share)
        for name, points in curves.items()
        for part, share in SHARES.items()
    }


def _criteria(arm: Arm) -> dict[str, Criterion]:
    copied = arm.settings.corpus.name == "copy"
    return {name: one for name, one in CRITERIA.items() if copied or one.columns == WORDS}


def curve(arm: Arm, criterion: Criterion) -> list[SurvivalAt]:
    """The share of words that survives at each point of the test set's lengths."""
    found, statistics = arm.runs[0].found, _statistics(arm, criterion)
    points = []
    for place in np.unique(found["point"]):
        inside = found["point"] == place
        share = arm.estimate(criterion.score, statistics[:, inside], int(place))
        words = int(found[criterion.columns[-1]][inside].sum())
        points.append(SurvivalAt(float(found["source_words"][inside].mean()), words, share))
    return points


def _statistics(arm: Arm, criterion: Criterion) -> Float[ndarray, "seeds sentences 3"]:
    runs = [[run.found[name] for name in criterion.columns] for run in arm.runs]
    return np.moveaxis(np.array(runs, np.float64), 1, 2)


def _length_rows(arm: Arm, held: Lengths) -> Iterator[Row]:
    """The mean over seeds with its interval, then a row a seed."""
    n = len(arm.runs[0].found["point"])
    alone = [lengths(Arm(arm.name, (run,))) for run in arm.runs]
    for (measure, part), one in held.items():
        yield arm.row(measure, **bounded(one), part=part, n=n)
        for run, own in zip(arm.runs, alone, strict=True):
            mine = own[measure, part]
            note = _note(value=mine.value)
            yield arm.seed_row(run, measure, mine.shown, part=part, n=n, note=note)


def bounded(found: Censored) -> dict[str, Any]:
    """``value``, ``low``, ``high`` and ``note`` of a row; what is censored is the tested end."""
    ends = {"value": found.value, "low": found.interval.low, "high": found.interval.high}
    shown = {name: float(np.clip(end, found.lowest, found.highest)) for name, end in ends.items()}
    return shown | {"note": _note(**ends)}


def _note(**ends: float) -> str:
    """Which of the numbers are bounds, and on which side."""
    sides = {name: "at least" if end > 0 else "under" for name, end in ends.items() if isinf(end)}
    return ", ".join(f"{name} {side}" for name, side in sides.items())


def _change_rows(arm: Arm, once: Lengths, twice: Lengths) -> Iterator[Row]:
    """What twice the updates add to the length, in words; the row is of those trained twice."""
    n = len(arm.runs[0].found["point"])
    for (measure, part), one in once.items():
        if (suffix := GROWING.get(measure)) is not None:
            added = change(one, twice[measure, part])
            yield arm.row(f"added{suffix}", **added, part=part, n=n)


def change(once: Censored, twice: Censored) -> dict[str, Any]:
    """Twice minus once, paired by resample; with a censored one all that can be said of it.

    A length is between two numbers, equal ones where it is not censored, and so is the difference.
    Its value is the least that it can be, and ``note`` says so; its interval is from the lower
    numbers' lower end to the higher ones' higher.
    """
    (low, high), (earlier_low, earlier_high) = _between(twice), _between(once)
    least, most = low - earlier_high, high - earlier_low
    unknown = isinf(least[0]) or (once.side == twice.side != "")
    last = len(least) - 2
    bottom = np.sort(least[1:])[floor((1 - LEVEL) / 2 * last)]
    top = np.sort(most[1:])[ceil((1 + LEVEL) / 2 * last)]
    return {
        "value": nan if unknown else float(least[0]),
        "low": nan if isinf(bottom) else float(bottom),
        "high": nan if isinf(top) else float(top),
        "note": "value at least" if not unknown and most[0] > least[0] else "",
    }


def _between(one: Censored) -> tuple[Float[ndarray, "numbers"], Float[ndarray, "numbers"]]:
    """The least and the most that the value, then each resample, can be."""
    values = np.append(one.value, one.draws)
    least = np.where(values == np.inf, one.highest, np.where(values == -np.inf, 0.0, values))
    return least, np.where(values == -np.inf, one.lowest, values)


def _growth_rows(arm: Arm, held: Mapping[int, Lengths]) -> Iterator[Row]:
    """Exponents of length in context size; ``n`` sizes have a point, ``note`` names the others."""
    if len(held) < 2:
        return
    settings = arm.settings
    name = f"{settings.corpus.name} {settings.model.attention} updates={settings.training.updates}"
    for measure, part in held[settings.model.context_size]:
        if (suffix := GROWING.get(measure)) is None:
            continue
        capacities = {size: own[measure, part] for size, own in held.items()}
        row = arm.row(f"growth{suffix}", **_growth(capacities), part=part)
        yield row | {"arm": name, "context_size": None}


def _growth(capacities: dict[int, Censored]) -> dict[str, Any]:
    """Value, interval, ``n`` and ``note`` of a fit; without one the value is nan."""
    fit = capacity_growth(capacities)
    censored = [str(size) for size, one in sorted(capacities.items()) if one.side]
    told = {"n": len(capacities) - len(censored)}
    told |= {"note": f"censored: {', '.join(censored)}" if censored else ""}
    if fit is None:
        return told | {"value": nan}
    return told | {"value": fit.exponent.value} | interval_of(fit.exponent)


def _bit_rows(arm: Arm, held: Lengths) -> Iterator[Row]:
    """Bits of a further word, and those of the words that survive, for each of the numbers."""
    found, size = arm.runs[0].found, arm.settings.model.context_size
    if np.isnan(found["bits"]).any():
        return
    a_word = float(np.polyfit(found["source_words"], found["bits"], 1)[0])
    yield arm.row("bits_a_word", a_word, n=len(found["bits"]))
    measure = "length_in_place" if ("length_in_place", "50 %") in held else "length"
    for part, share in SHARES.items():
        words = bounded(held[measure, part])
        bits = {end: share * a_word * words[end] for end in ("value", "low", "high")}
        others = {"part": part, "n": len(found["bits"]), "note": words["note"]}
        yield arm.row("bits", **bits, **others)
        yield arm.row("bits_a_number", **{end: bits[end] / size for end in bits}, **others)


def _curve_rows(arm: Arm) -> Iterator[Row]:
    """The share that survives, and that by chance, in each length bucket."""
    for place, bucket, inside in in_buckets(arm.runs[0], arm.runs[0].found["source_words"]):
        for measure, one in CURVE.items():
            statistics = _statistics(arm, one)[:, inside]
            yield from arm.rows(measure, one.score, statistics, place=place, bucket=bucket)
