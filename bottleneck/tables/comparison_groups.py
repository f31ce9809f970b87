"""Which runs of a bundle belong together: a bundle may have those of several sweeps.

A group are runs that differ in nothing but the columns that a claim or a table is about. If several
groups would do, the one closest to preset `lecture` is taken. Settings decide, not the sweep or
group that a run was made for.
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
from ..results.bundle import Bundle, setting_columns
from ..results.schema import SETTING_COLUMNS
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings, resolve
from .selection import as_condition, list_values

NONE = "none"
UNIFORM = "uniform"
SIZE = "context_size"
TEXT = "corpus_fingerprint"
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


def pairs(runs: pd.DataFrame) -> list[Pair]:
    """None with each attention, closest to the lecture's settings first.

    Of a group's updates the fewest with which both arms were trained are taken.
    """
    candidates = [
        _pair(group[group["attention"].isin([NONE, name])])
        for group in groups(runs, PAIRED)
        for name in sorted(set(group["attention"]) - {NONE, UNIFORM})
    ]
    return sorted(filter(None, candidates), key=lambda pair: _order(pair.attention))


def _pair(group: pd.DataFrame) -> Pair | None:
    for updates in sorted(set(group["updates"])):
        subset = group[group["updates"] == updates]
        none = subset["attention"] == NONE
        seeds = set(subset.loc[none, "seed"]) & set(subset.loc[~none, "seed"])
        if seeds:
            shared = subset["seed"].isin(seeds)
            return Pair(subset[shared & none], subset[shared & ~none], group)
    return None


def alone(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The group without attention that is closest to the lecture's settings; None if none is."""
    return min(groups(runs[runs["attention"] == NONE], PAIRED), key=_order, default=None)


def closest(runs: pd.DataFrame, arms: Collection[str]) -> pd.DataFrame | None:
    """The group closest to the lecture's settings that has these arms; None if none has.

    ``arms`` are kinds (`arm_kinds`). Of its updates the fewest with which it has them are taken.
    """
    candidates = []
    for group in groups(runs, PAIRED):
        trained = (group[group["updates"] == count] for count in sorted(set(group["updates"])))
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
    free = PAIRED | {SIZE}
    same = (none[list(WIDTHS)].to_numpy() == none[[SIZE]].to_numpy()).all(axis=1)
    candidates = groups(none, free) + groups(none[same], free | set(WIDTHS))

    def rank(group: pd.DataFrame) -> tuple[int, bool, int]:
        fixed = all(group[name].nunique() == 1 for name in WIDTHS)
        kinds = _equal_rows(group, [name for name in SETTING_COLUMNS if name != "seed"])
        nearest = min(distance(group.iloc[rows[0]].to_dict()) for rows in kinds)
        return group[SIZE].nunique(), fixed, -nearest

    return max(candidates, key=rank, default=None)


def trained_length_series(runs: pd.DataFrame) -> pd.DataFrame | None:
    """The runs of one group over the longest sentence trained on; None if that does not vary.

    The group with the most lengths, then the closest to the lecture's settings. The vocabulary, and
    so the text, differs with the length.
    """
    candidates = [
        group
        for group in groups(runs, {"attention", "seed", "train_max_words"}, same_text=False)
        if group["train_max_words"].nunique() > 1
    ]

    def rank(group: pd.DataFrame) -> tuple[int, int]:
        return group["train_max_words"].nunique(), -distance(first(group))

    return max(candidates, key=rank, default=None)


def groups(runs: pd.DataFrame, free: Collection[str], same_text: bool = True) -> list[pd.DataFrame]:
    """Runs that have the same settings outside ``free`` and, with ``same_text``, the same text."""
    columns = [name for name in SETTING_COLUMNS if name not in free] + [TEXT] * same_text
    return [runs.iloc[rows] for rows in _equal_rows(runs, columns)]


def label_runs(runs: pd.DataFrame, label: Callable[[Mapping[str, Any]], str]) -> pd.Series:
    """A label per run, by its row; computed once for runs that differ in their seed alone."""
    columns = [*(column for column in SETTING_COLUMNS if column != "seed"), TEXT, "parameters"]
    labels = pd.Series("", index=runs.index, dtype="str")
    for rows in _equal_rows(runs, columns):
        labels.iloc[rows] = label(runs.iloc[rows[0]].to_dict())
    return labels


def _equal_rows(runs: pd.DataFrame, columns: Sequence[str]) -> list[list[int]]:
    """The positions of the rows that are equal in these columns, in the order of the first."""
    codes = [pd.factorize(runs[name], use_na_sentinel=False)[0] for name in columns]
    rows: dict[bytes, list[int]] = {}
    for position, row in enumerate(np.stack(codes, axis=1)):
        rows.setdefault(row.tobytes(), []).append(position)
    return list(rows.values())


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


def distance(row: Mapping[str, Any]) -> int:
    """In how many settings, except seed and updates, a run differs from the lecture's preset."""
    return sum(
        as_condition(row[name]) != value
        for name, value in _lecture().items()
        if name not in ("seed", "updates")
    )


def _order(runs: pd.DataFrame) -> tuple[int, int, int, str]:
    """Distance from the lecture's settings, then the largest context, most seeds, name."""
    row = first(runs)
    return distance(row), -int(row[SIZE]), -runs["seed"].nunique(), row["run"]


@cache
def _lecture() -> dict[str, str]:
    columns = setting_columns(resolve("lecture"))
    return {name: as_condition(value) for name, value in columns.items()}


def require_alike(bundle: Bundle, runs: pd.DataFrame, free: Collection[str] = PAIRED) -> None:
    """Refuse runs that differ in a setting outside ``free``, or in their text, as a ``UserError``.

    A setting of which the user chose several values may differ between the arms, not within one.
    """
    for column in SETTING_COLUMNS:
        if column not in free and runs[column].nunique(dropna=False) > 1:
            _refuse_several(runs, column, column in bundle.chosen)
    texts = runs.drop_duplicates(TEXT)
    if len(texts) > 1:
        example, other = texts["run"].iloc[:2]
        raise UserError(
            f"runs {example} and {other} differ in their text (corpus_fingerprint "
            f"{list_values(texts[TEXT])}), though not in their settings: choose with "
            f"`--where corpus_fingerprint={texts[TEXT].iloc[0]}`"
        )


def _refuse_several(runs: pd.DataFrame, column: str, chosen: bool) -> None:
    """Refuse several values of a column unless the user ``chosen`` one for each arm."""
    arms = _value_by_arm(runs, column)
    if arms is None:
        values = runs[column]
        ordered = [*values.dropna().sort_values(), *values[values.isna()]]
        common = as_condition(Counter(ordered).most_common(1)[0][0])
        raise UserError(
            f"the results hold several values of {column} ({list_values(values)}), this table "
            f"takes one: choose with `--where {column}={common}`"
        )
    if not chosen:
        values = ", ".join(f"{arm} {value}" for arm, value in arms.items())
        raise UserError(
            f"the arms differ in more than attention: in {column} ({values}); train them alike, or "
            f"have them compared all the same with `--where {column}={','.join(arms.values())}`"
        )


def _value_by_arm(runs: pd.DataFrame, column: str) -> dict[str, str] | None:
    """The one value that each of several arms has; None if some arm has more."""
    arms = {arm: rows.drop_duplicates() for arm, rows in runs.groupby("attention")[column]}
    if len(arms) < 2 or any(len(values) > 1 for values in arms.values()):
        return None
    return {str(arm): as_condition(values.iloc[0]) for arm, values in arms.items()}


def require_distinct_seeds(runs: pd.DataFrame) -> None:
    """Refuse two runs of one arm and seed, of the same settings and text, as a ``UserError``."""
    alike = runs[runs["seed"].duplicated(keep=False)].sort_values("seed", kind="stable")
    if len(alike):
        example, other = alike["run"].iloc[:2]
        raise UserError(
            f"runs {example} and {other} are one arm and seed of this table: choose with "
            f"`--where run={example}`"
        )


def differences(runs: pd.DataFrame, free: Collection[str] = PAIRED) -> tuple[str, ...]:
    """In what the arms differ though it is not free: ``hidden_size none 257, additive 256``."""
    by_column = {
        column: _value_by_arm(runs, column)
        for column in SETTING_COLUMNS
        if column not in free and runs[column].nunique(dropna=False) > 1
    }
    return tuple(
        f"{column} {', '.join(f'{arm} {value}' for arm, value in arms.items())}"
        for column, arms in by_column.items()
        if arms
    )


def following(runs: pd.DataFrame) -> frozenset[str]:
    """Columns of widths that equal the context size in every run, and so vary with it."""
    return frozenset(name for name in WIDTHS if (runs[name] == runs[SIZE]).all())


def like(runs: pd.DataFrame, settings: RunSettings, free: Collection[str]) -> pd.Series:
    """Whether each row has these settings, outside ``free``."""
    same = pd.Series(True, index=runs.index)
    for column, value in setting_columns(settings).items():
        if column not in free:
            values = runs[column]
            equal = values.isna() if value is None else (values == value).fillna(False)
            same &= equal.astype(bool)
    return same


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``, with what else distinguishes the arms."""
    runs = runs.drop_duplicates("run")
    seeds: dict[str, list[int]] = {}
    for name, seed in zip(arm_names(runs), runs["seed"], strict=True):
        seeds.setdefault(name, []).append(int(seed))
    return runs_text(len(runs), seeds)


def arm_names(runs: pd.DataFrame) -> list[str]:
    """A name per row: ``none updates=4000``, the settings that most arms do not share."""
    if not (columns := varied(runs)):
        return runs["attention"].tolist()
    rows = runs[["attention", *columns]].to_dict("records")
    texts = [{name: as_condition(row[name]) for name in columns} for row in rows]
    unusual = unusual_settings(texts, _lecture())
    return [" ".join([row["attention"], *more]) for row, more in zip(rows, unusual, strict=True)]


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, except attention and seed, that distinguish arms."""
    ignored = {"attention", "seed", *following(runs)}
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
    """``seed 1, 2``; of many, in order, ``24 seeds: 1-2, 4-25``, unless that is long as well."""
    if len(seeds) <= MOST_POINTS:
        return f"seed {', '.join(map(str, seeds))}"
    starts = [
        position
        for position, seed in enumerate(seeds)
        if not position or seeds[position - 1] != seed - 1
    ]
    if len(starts) > MOST_POINTS:
        return f"{counted(len(seeds), 'seed')} from {seeds[0]} to {seeds[-1]}"
    spans = (seeds[start:stop] for start, stop in pairwise([*starts, len(seeds)]))
    texts = (f"{span[0]}-{span[-1]}" if len(span) > 1 else str(span[0]) for span in spans)
    return f"{counted(len(seeds), 'seed')}: {', '.join(texts)}"
