"""Which runs of a bundle decide a claim: a bundle may hold those of several sweeps.

A family are runs that differ in nothing but the columns named: what a claim is about. Where several
would do, the one nearest the lecture's own settings is taken. Which sweep or group a run was made
for does not count: what it is stands in its settings.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..claims.registry import ATTENTION
from ..results.bundle import Bundle
from ..results.columns import setting_columns
from ..results.schema import SETTING_COLUMNS
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import counted
from ..settings.run import resolve
from .alike import PAIRED, WIDTHS, following
from .comparison import MOST_POINTS, NONE
from .selection import written

UNIFORM = "uniform"
SIZE = "context_size"
"""If arms differ in this alone, each name has it: no value of a scale is the usual one."""
TEXT = "corpus_fingerprint"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two arms that differ in attention alone: one row a run, of the seeds that both have.

    ``family`` are all runs of both arms, of any updates.
    """

    none: pd.DataFrame
    attention: pd.DataFrame
    family: pd.DataFrame

    @property
    def runs(self) -> pd.DataFrame:
        """The rows of both arms."""
        return pd.concat([self.none, self.attention])


def listed_runs(bundle: Bundle) -> pd.DataFrame:
    """A row a run."""
    return bundle.runs.drop_duplicates("run")


def pairs(runs: pd.DataFrame) -> list[Pair]:
    """None with one attention each, nearest the lecture's settings first.

    Of a family's updates the fewest at which both arms were trained are taken.
    """
    found = [
        pair
        for family in families(runs, PAIRED)
        for name in sorted(set(family["attention"]) - {NONE, UNIFORM})
        if (pair := _pair(family[family["attention"].isin([NONE, name])]))
    ]
    return sorted(found, key=lambda pair: _nearness(pair.attention))


def _pair(family: pd.DataFrame) -> Pair | None:
    for updates in sorted(set(family["updates"])):
        held = family[family["updates"] == updates]
        arms = held["attention"] == NONE
        seeds = set(held.loc[arms, "seed"]) & set(held.loc[~arms, "seed"])
        if seeds:
            held = held[held["seed"].isin(seeds)]
            arms = held["attention"] == NONE
            return Pair(held[arms], held[~arms], family)
    return None


def alone(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs without attention of one family, nearest the lecture's settings; None without."""
    found = families(runs[runs["attention"] == NONE], PAIRED)
    return min(found, key=_nearness, default=None)


def nearest(runs: pd.DataFrame, arms: Collection[str]) -> pd.DataFrame | None:
    """The runs of the family nearest the lecture's settings that has these arms; None without.

    ``arms`` are kinds (`kinds`). Of a family's updates the fewest at which it has them are taken.
    """
    found = [_having(family, set(arms)) for family in families(runs, PAIRED)]
    return min((held for held in found if held is not None), key=_nearness, default=None)


def _having(family: pd.DataFrame, arms: set[str]) -> pd.DataFrame | None:
    """A family's runs of the fewest updates at which it has these arms."""
    each = (family[family["updates"] == count] for count in sorted(set(family["updates"])))
    return next((held for held in each if arms <= kinds(held["attention"])), None)


def kinds(attentions: Iterable[str]) -> set[str]:
    """`NONE`, and `ATTENTION` where any of these selects: the arms as the claims name them."""
    held = set(attentions)
    return {NONE} & held | ({ATTENTION} if held - set(UNSELECTIVE) else set())


def _nearness(runs: pd.DataFrame) -> tuple[int, int, int, str]:
    """Distance from the lecture's settings, then the largest context, most seeds, name."""
    row = first(runs)
    return distance(row), -int(row["context_size"]), -runs["seed"].nunique(), row["run"]


def over_sizes(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs without attention of one family over context sizes; None where there are none.

    Most sizes first; of as many those in which the context's size alone varies, then the nearest to
    the lecture's settings.
    """
    none = runs[runs["attention"] == NONE]
    free = PAIRED | {"context_size"}
    found = families(none, free)
    same = (none[list(WIDTHS)].to_numpy() == none[["context_size"]].to_numpy()).all(axis=1)
    found += families(none[same], free | set(WIDTHS))
    return max(found, key=_spread, default=None)


def over_trained_lengths(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs of one family over the longest sentence trained on; None where that does not vary.

    Most lengths first, then the nearest to the lecture's settings. The vocabulary, and so the text,
    differs with the length.
    """
    found = families(runs, {"attention", "seed", "train_max_words"}, text=False)
    found = [family for family in found if _lengths(family)[0] > 1]
    return max(found, key=_lengths, default=None)


def _lengths(family: pd.DataFrame) -> tuple[int, int]:
    """How many lengths were trained on, and how near the lecture's settings."""
    return family["train_max_words"].nunique(), -distance(first(family))


def _spread(family: pd.DataFrame) -> tuple[int, bool, int]:
    """How many context sizes, whether the widths stay, and how near the lecture's settings."""
    widths = all(family[name].nunique() == 1 for name in WIDTHS)
    kinds = _alike(family, [name for name in SETTING_COLUMNS if name != "seed"])
    nearest = min(distance(family.iloc[places[0]].to_dict()) for places in kinds)
    return family["context_size"].nunique(), widths, -nearest


def families(runs: pd.DataFrame, free: Collection[str], text: bool = True) -> list[pd.DataFrame]:
    """Runs that are the same outside ``free``, and read the same text unless it is not asked."""
    columns = [name for name in SETTING_COLUMNS if name not in free] + [TEXT] * text
    return [runs.iloc[places] for places in _alike(runs, columns)]


def named(runs: pd.DataFrame, name: Callable[[Mapping[str, Any]], str]) -> pd.Series:
    """What a run is called, by its row; asked once of runs that differ in nothing but the seed."""
    columns = [*(column for column in SETTING_COLUMNS if column != "seed"), TEXT, "parameters"]
    names = pd.Series("", index=runs.index, dtype="str")
    for places in _alike(runs, columns):
        names.iloc[places] = name(runs.iloc[places[0]].to_dict())
    return names


def _alike(runs: pd.DataFrame, columns: Sequence[str]) -> list[list[int]]:
    """The places of the rows that are the same in these columns, in the order of the first."""
    codes = [pd.factorize(runs[name], use_na_sentinel=False)[0] for name in columns]
    held: dict[bytes, list[int]] = {}
    for place, row in enumerate(np.stack(codes, axis=1)):
        held.setdefault(row.tobytes(), []).append(place)
    return list(held.values())


def changed(row: Mapping[str, Any], base: Mapping[str, Any]) -> set[str]:
    """The settings' columns, but for the seed, in which two runs differ."""
    return {
        name
        for name in SETTING_COLUMNS
        if name != "seed" and written(row[name]) != written(base[name])
    }


def first(runs: pd.DataFrame) -> dict[str, Any]:
    """The first of these runs, by column."""
    return runs.iloc[0].to_dict()


def distance(row: Mapping[str, Any]) -> int:
    """In how many settings, but for seed and updates, a run is not as the lecture's preset."""
    wanted = _lecture()
    return sum(
        written(row[name]) != value
        for name, value in wanted.items()
        if name not in ("seed", "updates")
    )


@cache
def _lecture() -> dict[str, str]:
    return {name: written(value) for name, value in setting_columns(resolve("lecture")).items()}


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``, with what else tells the arms apart."""
    runs = runs.drop_duplicates("run")
    seeds: dict[str, list[int]] = {}
    for name, seed in zip(arm_names(runs), runs["seed"], strict=True):
        seeds.setdefault(name, []).append(int(seed))
    return runs_told(len(runs), seeds)


def arm_names(runs: pd.DataFrame) -> list[str]:
    """Of a row a run what its arm is called: ``none updates=4000``, in what most are not alike."""
    if not (told := varied(runs)):
        return runs["attention"].tolist()
    held = runs[["attention", *told]].to_dict("records")
    rows = [{name: written(row[name]) for name in told} for row in held]
    names = telling(rows, _lecture())
    return [" ".join([row["attention"], *more]) for row, more in zip(held, names, strict=True)]


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, but for attention and seed, in which arms are told apart."""
    apart = {"attention", "seed", *following(runs)}
    return [
        name
        for name in SETTING_COLUMNS
        if name not in apart and runs[name].nunique(dropna=False) > 1
    ]


def runs_told(count: int, seeds: dict[str, list[int]]) -> str:
    """``2 runs: none, additive, seed 1``: arms of the same seeds share them; empty for none."""
    if not count:
        return ""
    shared: dict[tuple[int, ...], list[str]] = {}
    for arm, held in seeds.items():
        shared.setdefault(tuple(sorted(set(held))), []).append(arm)
    arms = "; ".join(f"{', '.join(names)}, {seeds_told(own)}" for own, names in shared.items())
    return f"{counted(count, 'run')}: {arms}"


def seeds_told(seeds: Sequence[int]) -> str:
    """``seed 1, 2``; of many, in order, ``24 seeds: 1-2, 4-25``, as long as anybody reads that."""
    if len(seeds) <= MOST_POINTS:
        return f"seed {', '.join(map(str, seeds))}"
    starts = [
        place for place, seed in enumerate(seeds) if not place or seeds[place - 1] != seed - 1
    ]
    if len(starts) > MOST_POINTS:
        return f"{counted(len(seeds), 'seed')} from {seeds[0]} to {seeds[-1]}"
    rows = (seeds[first:stop] for first, stop in pairwise([*starts, len(seeds)]))
    told = (f"{row[0]}-{row[-1]}" if len(row) > 1 else str(row[0]) for row in rows)
    return f"{counted(len(seeds), 'seed')}: {', '.join(told)}"


def telling(rows: Sequence[Mapping[str, str]], base: Mapping[str, str]) -> list[list[str]]:
    """For each row of settings those that most rows do not share: ``["updates=80"]``.

    Of values equally common, that of ``base`` is the usual one, else the smallest. Rows that differ
    have different lists.
    """
    names = [name for name in (rows[0] if rows else {}) if len({row[name] for row in rows}) > 1]
    if names == [SIZE]:
        return [[f"{SIZE}={row[SIZE]}"] for row in rows]
    usual = {}
    for name in names:
        counts = Counter(row[name] for row in rows)
        # A shorter text is a smaller number.
        usual[name] = min(
            counts, key=lambda text: (-counts[text], text != base[name], len(text), text)
        )
    return [[f"{name}={row[name]}" for name in names if row[name] != usual[name]] for row in rows]
