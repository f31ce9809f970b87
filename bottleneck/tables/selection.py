"""Which runs a table stands on: chosen by the user, and checked to differ in nothing else."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pandas as pd

from ..results.bundle import Bundle
from ..results.schema import RUN_COLUMNS, SETTING_COLUMNS
from ..settings.errors import UsageError, UserError, did_you_mean

CONDITIONS = ("run", "group", *SETTING_COLUMNS)
"""Columns that say which run a row belongs to, so that a choice by them keeps runs whole."""


def where(bundle: Bundle, conditions: Sequence[str]) -> Bundle:
    """The bundle's runs that meet every ``column=value`` or ``column=value,value``.

    A column is one of `CONDITIONS` or a setting's own name (``model.context_size``); several
    conditions on one column are alternatives. Nothing left is a ``UserError`` with what there is.
    """
    runs = bundle.runs
    for column, texts in _parsed(conditions).items():
        kept = runs[_meets(runs[column], column, texts)]
        if kept.empty:
            raise UserError(
                f"no run with {column}={','.join(texts)}; there are {_listed(runs[column])}"
            )
        runs = kept
    names = set(runs["run"])
    return Bundle(
        bundle.folder,
        runs,
        bundle.sentences[bundle.sentences["run"].isin(names)],
        bundle.environment
        | {"runs": {name: bundle.environment["runs"][name] for name in runs["run"]}},
    )


def _parsed(conditions: Iterable[str]) -> dict[str, list[str]]:
    """Wanted values by column."""
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        name, equals, text = (part.strip() for part in condition.partition("="))
        if not (name and equals and text):
            raise UsageError(f"--where {condition!r}: write column=value")
        wanted.setdefault(_column(name), []).append(text)
    return wanted


def _column(name: str) -> str:
    """The column of a name: its own, or that of the setting it repeats."""
    settings = {setting: column for column, (setting, _) in SETTING_COLUMNS.items()}
    column = settings.get(name, name)
    if column not in CONDITIONS:
        raise UsageError(f"--where: unknown column {name!r}{did_you_mean(name, CONDITIONS)}")
    return column


def _meets(values: pd.Series, column: str, texts: Sequence[str]) -> pd.Series:
    """Whether each row has one of the values; a text may itself hold commas."""
    parts = [part.strip() for text in texts for part in text.split(",")]
    if RUN_COLUMNS[column] == "str":
        return values.isin([*texts, *parts])
    read = _truth if RUN_COLUMNS[column] == "bool" else float
    try:
        wanted = [read(part) for part in parts]
    except (ValueError, KeyError):
        kind = "true or false" if read is _truth else "a number"
        raise UsageError(f"--where {column}={','.join(texts)}: {column} is {kind}") from None
    return values.astype("object").isin(wanted)


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def require_one(runs: pd.DataFrame, free: Collection[str]) -> None:
    """Refuse runs that differ in a setting outside ``free``: a table shows one of each."""
    for column in SETTING_COLUMNS:
        values = runs[column].drop_duplicates()
        if column not in free and len(values) > 1:
            raise UserError(
                f"the results hold several values of {column} ({_listed(values)}), this table "
                f"takes one: choose with `--where {column}={_text(sorted(values)[0])}`"
            )


def require_distinct_seeds(bundle: Bundle, runs: pd.DataFrame) -> None:
    """Refuse two runs of one seed in one arm: they differ in a setting that has no column."""
    for _, alike in runs.groupby("seed"):
        if len(alike) > 1:
            first, second = alike["run"].iloc[:2]
            groups = list(alike["group"].iloc[:2])
            column, choice = ("group", groups[0]) if len(set(groups)) > 1 else ("run", first)
            raise UserError(
                f"runs {first} and {second} are one arm and seed of this table but differ"
                f"{_difference(bundle, first, second)}: choose with `--where '{column}={choice}'`"
            )


def _difference(bundle: Bundle, first: str, second: str) -> str:
    """The settings in which two runs differ, as ``" in training.learning_rate"``."""
    one, other = (_flat(bundle.settings(run).model_dump()) for run in (first, second))
    names = [name for name in one if one[name] != other[name]]
    return f" in {', '.join(names)}" if names else " in their corpus"


def _flat(settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Values by the settings' full names."""
    return {
        f"{concern}.{field}": value
        for concern, fields in settings.items()
        for field, value in fields.items()
    }


def _listed(values: pd.Series) -> str:
    """The distinct values in order, as they are written in a condition."""
    return ", ".join(_text(value) for value in sorted(values.drop_duplicates()))


def _text(value: Any) -> str:
    """A value as it is written in a condition."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if pd.api.types.is_bool(value) else str(value)
