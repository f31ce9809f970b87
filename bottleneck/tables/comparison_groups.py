"""Which runs of a bundle belong together: a bundle may have those of several sweeps.

A group are runs that differ in nothing but the columns that a claim or a table is about. If several
groups would do, the one closest to preset `lecture` is taken. Settings decide, not the sweep or
group that a run was made for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ..claims.registry import ATTENTION
from ..results.bundle import Bundle, setting_columns
from ..results.schema import SETTING_COLUMNS
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import counted
from ..settings.run import RunSettings, resolve
from .selection import as_condition

NONE = "none"
UNIFORM = "uniform"
SIZE = "context_size"
TEXT = "corpus_fingerprint"
MOST_POINTS = 20
"""So many seeds of an arm are listed one by one."""
PAIRED = frozenset({"attention", "seed", "updates"})
"""Columns in which the runs of one comparison may differ; of the updates it takes the fewest."""
ARM = frozenset({"seed"})
"""The column in which the runs of one arm differ."""
WIDTHS = frozenset({"hidden_size", "attention_size"})
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


def groups(runs: pd.DataFrame, free: Collection[str], same_text: bool = True) -> list[pd.DataFrame]:
    """Runs that have the same settings outside ``free`` and, with ``same_text``, the same text.

    Groups are in the order of their first runs. The column ``distance`` says in how many settings,
    except seed and updates, a run differs from the lecture's preset.
    """
    runs = runs.assign(distance=_distance(runs, _lecture(), ("seed", "updates")))
    columns = [name for name in SETTING_COLUMNS if name not in free] + [TEXT] * same_text
    codes = [pd.factorize(runs[name], use_na_sentinel=False)[0] for name in columns]
    rows: dict[bytes, list[int]] = {}
    for position, row in enumerate(np.stack(codes, axis=1)):
        rows.setdefault(row.tobytes(), []).append(position)
    return [runs.iloc[positions] for positions in rows.values()]


def _distance(runs: pd.DataFrame, settings: RunSettings, free: Collection[str]) -> pd.Series:
    """In how many settings outside ``free`` each row differs from these."""
    count = pd.Series(0, index=runs.index)
    for column, value in setting_columns(settings).items():
        if column not in free:
            same = runs[column].isna() if value is None else (runs[column] == value).fillna(False)
            count += ~same.astype(bool)
    return count


def like(runs: pd.DataFrame, settings: RunSettings, free: Collection[str]) -> pd.Series:
    """Whether each row has these settings, outside ``free``."""
    return _distance(runs, settings, free) == 0


def _order(runs: pd.DataFrame) -> tuple[int, int, int, int, str]:
    """Distance from the lecture's settings, largest context, fewest updates, most seeds, name."""
    row = first(runs)
    numbers = int(row["distance"]), -int(row[SIZE]), int(row["updates"])
    return *numbers, -runs["seed"].nunique(), row["run"]


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
    return sorted(result, key=lambda pair: _order(pair.attention))


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def alone(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The group without attention that is closest to the lecture's settings; None if none is."""
    return min(groups(runs[runs["attention"] == NONE], PAIRED), key=_order, default=None)


def closest(runs: pd.DataFrame, arms: Collection[str]) -> pd.DataFrame | None:
    """The group closest to the lecture's settings that has these arms; None if none has.

    ``arms`` are kinds (`arm_kinds`). Of its updates the fewest with which it has them are taken.
    """
    candidates = []
    for group in groups(runs, PAIRED):
        trained = (rows for _, rows in group.groupby("updates"))
        candidates += [rows for rows in trained if set(arms) <= arm_kinds(rows["attention"])][:1]
    return min(candidates, key=_order, default=None)


def arm_kinds(attentions: Iterable[str]) -> set[str]:
    """`NONE`, and `ATTENTION` if any of these selects: the arms as the claims name them."""
    names = set(attentions)
    return {NONE} & names | ({ATTENTION} if names - set(UNSELECTIVE) else set())


def context_size_series(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs without attention of one group over context sizes; None if there are none.

    The group with the most sizes; of several one in which the context size alone varies, then the
    closest to the lecture's settings.
    """
    none = runs[runs["attention"] == NONE]
    grown = none[(none[list(WIDTHS)].to_numpy() == none[[SIZE]].to_numpy()).all(axis=1)]
    candidates = [_series(none, SIZE, PAIRED), _series(grown, SIZE, PAIRED | WIDTHS)]
    return max(
        (group for group in candidates if group is not None),
        key=lambda group: group[SIZE].nunique(),
        default=None,
    )


def trained_length_series(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs of one group over the longest sentence trained on; None if that does not vary.

    The vocabulary, and so the text, differs with the length.
    """
    series = _series(runs, "train_max_words", ARM | {"attention"}, same_text=False)
    varies = series is not None and series["train_max_words"].nunique() > 1
    return series if varies else None


def _series(
    runs: pd.DataFrame, column: str, free: Collection[str], same_text: bool = True
) -> pd.DataFrame | None:
    """The group with the most values of a column, then the closest to the lecture's settings."""
    return max(
        groups(runs, {*free, column}, same_text),
        key=lambda group: (group[column].nunique(), -group["distance"].min()),
        default=None,
    )


def changed(row: Mapping[str, Any], base: Mapping[str, Any]) -> set[str]:
    """The settings' columns, except the seed, in which two runs differ."""
    return {
        name
        for name in SETTING_COLUMNS
        if name != "seed" and as_condition(row[name]) != as_condition(base[name])
    }


def first(runs: pd.DataFrame) -> dict[str, Any]:
    """The first of these runs, by column."""
    return runs.iloc[0].to_dict()


def following_widths(runs: pd.DataFrame) -> frozenset[str]:
    """Columns of widths that equal the context size in every run, and so vary with it."""
    return frozenset(name for name in WIDTHS if (runs[name] == runs[SIZE]).all())


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``, with what else distinguishes the arms."""
    runs = runs.drop_duplicates("run")
    seeds: dict[str, list[int]] = {}
    for name, seed in zip(arm_names(runs), runs["seed"], strict=True):
        seeds.setdefault(name, []).append(int(seed))
    return runs_text(len(runs), seeds)


def arm_names(runs: pd.DataFrame) -> list[str]:
    """A name per row: ``none updates=4000``, the settings that most arms do not share."""
    columns = varied(runs)
    rows = runs[["attention", *columns]].to_dict("records")
    texts = [{name: as_condition(row[name]) for name in columns} for row in rows]
    usual = {name: as_condition(value) for name, value in setting_columns(_lecture()).items()}
    unusual = unusual_settings(texts, usual)
    return [" ".join([row["attention"], *more]) for row, more in zip(rows, unusual, strict=True)]


@cache
def _lecture() -> RunSettings:
    return resolve("lecture")


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, except attention and seed, that distinguish arms."""
    ignored = {"attention", "seed", *following_widths(runs)}
    return [
        name
        for name in SETTING_COLUMNS
        if name not in ignored and runs[name].nunique(dropna=False) > 1
    ]


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


def runs_text(count: int, seeds: dict[str, list[int]]) -> str:
    """``2 runs: none, additive, seed 1``: arms with the same seeds share them; empty for none."""
    if not count:
        return ""
    shared: dict[tuple[int, ...], list[str]] = {}
    for arm, numbers in seeds.items():
        shared.setdefault(tuple(sorted(set(numbers))), []).append(arm)
    arms = "; ".join(f"{', '.join(names)}, {seeds_text(key)}" for key, names in shared.items())
    return f"{counted(count, 'run')}: {arms}"


def seeds_text(seeds: Sequence[int]) -> str:
    """``seed 1, 2``; of many, in order, ``24 seeds from 1 to 25``."""
    if len(seeds) <= MOST_POINTS:
        return f"seed {', '.join(map(str, seeds))}"
    return f"{counted(len(seeds), 'seed')} from {seeds[0]} to {seeds[-1]}"
