"""Runs that may stand in one table: they differ in what it is about and in nothing else."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import pandas as pd

from ..results.bundle import Bundle
from ..results.columns import setting_columns
from ..results.schema import SETTING_COLUMNS
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .selection import listed, written

PAIRED = frozenset({"attention", "seed", "updates"})
"""Columns in which the runs of one comparison may differ; of the updates it takes the fewest."""

WIDTHS = ("hidden_size", "attention_size")
"""Columns of the sizes that follow the context where they are not set."""


def require_alike(bundle: Bundle, runs: pd.DataFrame, free: Collection[str] = PAIRED) -> None:
    """Refuse runs that differ in a setting outside ``free``, or in their text, as a ``UserError``.

    Every setting has a column. One of which the user chose several values may differ between the
    arms, not within one.
    """
    for column in SETTING_COLUMNS:
        if column not in free:
            _require_one(runs, column, column in bundle.chosen)
    texts = runs.drop_duplicates("corpus_fingerprint")
    if len(texts) > 1:
        first, second = texts["run"].iloc[:2]
        raise UserError(
            f"runs {first} and {second} differ in their text (corpus_fingerprint "
            f"{listed(texts['corpus_fingerprint'])}), though not in their settings: choose with "
            f"`--where corpus_fingerprint={texts['corpus_fingerprint'].iloc[0]}`"
        )


def _require_one(runs: pd.DataFrame, column: str, chosen: bool) -> None:
    """Refuse several values of a column."""
    if runs[column].nunique(dropna=False) < 2:
        return
    arms = _by_arm(runs, column)
    if arms is None:
        common = written(_commonest(runs[column]))
        raise UserError(
            f"the results hold several values of {column} ({listed(runs[column])}), this table "
            f"takes one: choose with `--where {column}={common}`"
        )
    if not chosen:
        values = ", ".join(f"{arm} {value}" for arm, value in arms.items())
        raise UserError(
            f"the arms differ in more than attention: in {column} ({values}); train them alike, or "
            f"have them compared all the same with `--where {column}={','.join(arms.values())}`"
        )


def _commonest(values: pd.Series) -> Any:
    """The most frequent value, the smallest of several; pandas 2.2's own fails at whole numbers."""
    ordered = [*values.dropna().sort_values(), *values[values.isna()]]
    return Counter(ordered).most_common(1)[0][0]


def _by_arm(runs: pd.DataFrame, column: str) -> dict[str, str] | None:
    """The one value that each of several arms has; None where some arm has more."""
    arms = {arm: held.drop_duplicates() for arm, held in runs.groupby("attention")[column]}
    if len(arms) < 2 or any(len(values) > 1 for values in arms.values()):
        return None
    return {str(arm): written(values.iloc[0]) for arm, values in arms.items()}


def differences(runs: pd.DataFrame, free: Collection[str] = PAIRED) -> tuple[str, ...]:
    """In what the arms differ though it is not free: ``hidden_size none 257, additive 256``."""
    found = {
        column: _by_arm(runs, column)
        for column in SETTING_COLUMNS
        if column not in free and runs[column].nunique(dropna=False) > 1
    }
    return tuple(
        f"{column} {', '.join(f'{arm} {value}' for arm, value in arms.items())}"
        for column, arms in found.items()
        if arms
    )


def following(runs: pd.DataFrame) -> frozenset[str]:
    """Columns of widths that are the context's own throughout, and so vary with it."""
    return frozenset(name for name in WIDTHS if (runs[name] == runs["context_size"]).all())


def like(runs: pd.DataFrame, settings: RunSettings, free: Collection[str]) -> pd.Series:
    """Whether each row has these settings, outside ``free``."""
    wanted = {
        column: value for column, value in setting_columns(settings).items() if column not in free
    }
    same = pd.Series(True, index=runs.index)
    for column, value in wanted.items():
        held = runs[column]
        same &= held.isna() if value is None else (held == value).fillna(False).astype(bool)
    return same


def require_distinct_seeds(runs: pd.DataFrame) -> None:
    """Refuse two runs of one arm and seed, of the same settings and text, as a ``UserError``."""
    alike = runs[runs["seed"].duplicated(keep=False)].sort_values("seed", kind="stable")
    if len(alike):
        first, second = alike["run"].iloc[:2]
        raise UserError(
            f"runs {first} and {second} are one arm and seed of this table: choose with "
            f"`--where run={first}`"
        )
