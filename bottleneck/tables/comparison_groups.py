"""Which runs of a bundle belong together, and how arms are called.

A group are runs that have the same settings and text, but for the columns that a table or a claim
is about. Of several groups the one nearest to preset `lecture` comes first.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from ..claims.registry import ATTENTION
from ..results.bundle import Bundle, setting_columns
from ..results.schema import SETTING_COLUMNS
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import counted
from ..settings.run import RunSettings, resolve
from .selection import as_condition

NONE, UNIFORM = "none", "uniform"
SIZE, TEXT = "context_size", "corpus_fingerprint"
MOST_POINTS = 20
"""So many seeds of an arm are listed one by one."""
PAIRED = frozenset({"attention", "seed", "updates"})
"""Columns in which the runs of one comparison may differ; of the updates it takes the fewest."""
WIDTHS = ("hidden_size", "attention_size")
"""Columns of the sizes that follow the context if they are not set."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two arms that differ in attention alone: one row per run, of the seeds that both have.

    ``group`` are all runs of both arms, of any updates.
    """

    none: pd.DataFrame
    attention: pd.DataFrame
    group: pd.DataFrame

    @property
    def runs(self) -> pd.DataFrame:
        """The rows of both arms."""
        return pd.concat([self.none, self.attention])


def listed_runs(bundle: Bundle) -> pd.DataFrame:
    """One row per run."""
    return bundle.runs.drop_duplicates("run")


def groups(runs: pd.DataFrame, free: Collection[str]) -> list[pd.DataFrame]:
    """Runs that have the same settings outside ``free`` and the same text, in the order of `rank`.

    With the seed alone as ``free`` these are the arms.
    """
    distance = pd.Series(0, index=runs.index)
    for name, value in setting_columns(_lecture()).items():
        if name not in ("seed", "updates"):
            distance += runs[name].map(as_condition) != as_condition(value)
    runs = runs.assign(distance=distance)
    columns = [name for name in (*SETTING_COLUMNS, TEXT) if name not in free]
    codes = [pd.factorize(runs[name], use_na_sentinel=False)[0] for name in columns]
    places: dict[tuple, list[int]] = {}
    for place, key in enumerate(zip(*codes, strict=True)):
        places.setdefault(key, []).append(place)
    return sorted((runs.iloc[rows] for rows in places.values()), key=rank)


def rank(group: pd.DataFrame) -> tuple[int, int, int, int]:
    """What puts groups in order, the least first.

    That is in how many settings other than seed and updates its first run differs from the
    lecture's preset, the largest context, the fewest updates, the most seeds.
    """
    row = first(group)
    distance, size, updates = (int(row[name]) for name in ("distance", SIZE, "updates"))
    return distance, -size, updates, -group["seed"].nunique()


@cache
def _lecture() -> RunSettings:
    return resolve("lecture")


def pairs(runs: pd.DataFrame) -> list[Pair]:
    """None with each attention, closest to the lecture's settings first."""
    result = []
    for group in groups(runs, PAIRED):
        for name in sorted(set(group["attention"]) - {NONE, UNIFORM}):
            both = group[group["attention"].isin([NONE, name])]
            for _, subset in both.groupby("updates"):
                without = subset["attention"] == NONE
                arms = common_seeds(subset[without], subset[~without])
                result += [Pair(*arms, both)] if len(arms[0]) else []
    return sorted(result, key=lambda pair: rank(pair.attention))


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def closest(runs: pd.DataFrame, arms: Collection[str]) -> pd.DataFrame | None:
    """The first group that has these kinds of arms (`arm_kinds`), with the fewest updates."""
    candidates = []
    for group in groups(runs, PAIRED):
        trained = (rows for _, rows in group.groupby("updates"))
        candidates += [rows for rows in trained if set(arms) <= arm_kinds(rows["attention"])][:1]
    return min(candidates, key=rank, default=None)


def arm_kinds(attentions: Iterable[str]) -> set[str]:
    """`NONE`, and `ATTENTION` if any of these selects: the arms as the claims name them."""
    names = set(attentions)
    return {NONE} & names | ({ATTENTION} if names - set(UNSELECTIVE) else set())


def context_size_series(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs without attention of the group with the most context sizes; None without any.

    The context size alone varies in it, or all widths with it where they do so in every run.
    """
    none = runs[runs["attention"] == NONE]
    widths = WIDTHS if following_widths(none) == {*WIDTHS} else ()
    series = groups(none, {*PAIRED, SIZE, *widths})
    return max(series, key=lambda group: group[SIZE].nunique(), default=None)


def following_widths(runs: pd.DataFrame) -> frozenset[str]:
    """Columns of widths that equal the context size in every run, and so vary with it."""
    return frozenset(name for name in WIDTHS if (runs[name] == runs[SIZE]).all())


def changed(row: Mapping[str, Any], base: Mapping[str, Any]) -> list[str]:
    """The columns of settings, except the seed, in which two runs differ."""
    return [
        name
        for name in SETTING_COLUMNS
        if name != "seed" and as_condition(row[name]) != as_condition(base[name])
    ]


def first(runs: pd.DataFrame) -> dict[str, Any]:
    """The first of these runs, by column."""
    return runs.iloc[0].to_dict()


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, except attention and seed, that distinguish arms."""
    ignored = {"attention", "seed", *following_widths(runs)}
    return [
        name
        for name in SETTING_COLUMNS
        if name not in ignored and runs[name].nunique(dropna=False) > 1
    ]


def arm_names(runs: pd.DataFrame) -> list[str]:
    """A name per row: ``none updates=4000``, the settings that most arms do not share."""
    rows = runs[["attention", *varied(runs)]].map(as_condition).to_dict("records")
    usual = {name: as_condition(value) for name, value in setting_columns(_lecture()).items()}
    names = [row.pop("attention") for row in rows]
    unusual = unusual_settings(rows, usual)
    return [" ".join([name, *more]) for name, more in zip(names, unusual, strict=True)]


def unusual_settings(rows: Sequence[Mapping[str, str]], base: Mapping[str, str]) -> list[list[str]]:
    """For each row of settings those that most rows do not share: ``["updates=80"]``.

    Of values equally common, that of ``base`` is the usual one, else the smallest. Rows that differ
    have different lists. If context sizes alone differ, every row has its own.
    """
    names = [name for name in (rows[0] if rows else {}) if len({row[name] for row in rows}) > 1]
    if names == [SIZE]:
        return [[f"{SIZE}={row[SIZE]}"] for row in rows]
    usual = {}
    for name in names:
        counts = Counter(row[name] for row in rows)
        # A shorter text is a smaller number.
        order = [(-counts[text], text != base[name], len(text), text) for text in counts]
        usual[name] = min(order)[-1]
    return [[f"{name}={row[name]}" for name in names if row[name] != usual[name]] for row in rows]


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``, with what else distinguishes the arms."""
    runs = runs.drop_duplicates("run")
    return runs_text(zip(arm_names(runs), runs["seed"], strict=True))


def runs_text(runs: Iterable[tuple[str, int]]) -> str:
    """The same of runs by arm and seed; arms with the same seeds share them. Empty for none."""
    count, seeds = 0, dict[str, list[int]]()
    for count, (arm, seed) in enumerate(runs, 1):  # noqa: B007
        seeds.setdefault(arm, []).append(int(seed))
    shared: dict[tuple[int, ...], list[str]] = {}
    for arm, numbers in seeds.items():
        shared.setdefault(tuple(sorted(set(numbers))), []).append(arm)
    arms = "; ".join(f"{', '.join(names)}, {seeds_text(key)}" for key, names in shared.items())
    return f"{counted(count, 'run')}: {arms}" if count else ""


def seeds_text(seeds: Sequence[int]) -> str:
    """``seed 1, 2``; of many, in order, ``24 seeds from 1 to 25``."""
    if len(seeds) <= MOST_POINTS:
        return f"seed {', '.join(map(str, seeds))}"
    return f"{counted(len(seeds), 'seed')} from {seeds[0]} to {seeds[-1]}"
