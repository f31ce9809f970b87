"""Which runs a table stands on, as the user chooses them with ``--where``."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..results.bundle import Bundle
from ..results.schema import RUN_COLUMNS, SETTING_COLUMNS
from ..settings.errors import UsageError, UserError, did_you_mean

CONDITIONS = ("run", "group", "corpus_fingerprint", *SETTING_COLUMNS)
"""Columns that say which run a row belongs to, so that a choice by them keeps runs whole."""

BLANK = "none"
"""How the blank of a setting that is not set is written in a condition."""


def where(bundle: Bundle, conditions: Sequence[str]) -> Bundle:
    """The bundle's runs that meet every ``column=value`` or ``column=value,value``.

    A column is one of `CONDITIONS` or a setting's own name (``model.context_size``); several
    conditions on one column are alternatives. Nothing left is a ``UserError`` with what there is, a
    condition that cannot be read a ``UsageError``.
    """
    if not conditions:
        return bundle
    runs, unfinished = bundle.runs, bundle.unfinished()
    wanted = _values(conditions, (runs, unfinished))
    for column, values in wanted.items():
        known = [table[column] for table in (runs, unfinished) if column in table]
        for value in values:
            if not any(_meets(existing, column, [value]).any() for existing in known):
                raise UserError(f"no run with {column}={value}; there are {list_values(known[0])}")
    for column, values in wanted.items():
        kept = runs[_meets(runs[column], column, values)]
        if kept.empty:
            raise UserError(
                f"no run with {column}={','.join(values)}; there are {list_values(runs[column])}"
            )
        runs = kept
        if column in unfinished:
            unknown = unfinished["attention"] == ""
            unfinished = unfinished[unknown | _meets(unfinished[column], column, values)]
    environment = dict(bundle.environment)
    for key, table in {"runs": runs, "unfinished": unfinished}.items():
        environment[key] = {run: environment[key][run] for run in table["run"]}
    several = {name for name, values in wanted.items() if name in SETTING_COLUMNS and values[1:]}
    return replace(
        bundle,
        runs=runs,
        sentences={run: bundle.sentences[run] for run in runs["run"] if run in bundle.sentences},
        environment=environment,
        chosen=bundle.chosen | several,
    )


def meeting(runs: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """The rows of any table with the columns of `CONDITIONS` that `where` would choose."""
    for column, values in _values(conditions, [runs]).items():
        runs = runs[_meets(runs[column], column, values)]
    return runs


def _values(conditions: Iterable[str], tables: Sequence[pd.DataFrame]) -> dict[str, list[str]]:
    """Wanted values by column; a text that some run has is one, whatever commas are in it."""
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        name, _, text = (part.strip() for part in condition.partition("="))
        parts = [part.strip() for part in text.split(",")]
        if not (name and all(parts)):
            raise UsageError(f"--where {condition!r}: write column=value, as attention=none")
        column = _column(name)
        whole = any((table[column] == text).any() for table in tables if column in table)
        wanted.setdefault(column, []).extend([text] if whole else parts)
    return wanted


def _column(name: str) -> str:
    """The column of a name: its own, or that of the setting it repeats, resolved or not."""
    places = {column: place for column, (place, _) in SETTING_COLUMNS.items()}
    settings = {f"{place.partition('.')[0]}.{column}": column for column, place in places.items()}
    settings |= {place: column for column, place in places.items()}
    column = settings.get(name, name)
    if column not in CONDITIONS:
        raise UsageError(f"--where: unknown column {name!r}{did_you_mean(name, CONDITIONS)}")
    return column


def _meets(values: pd.Series, column: str, parts: Sequence[str]) -> pd.Series:
    """Whether each row has one of the values, as they are written."""
    if RUN_COLUMNS[column] == "str":
        return values.isin([*parts, *([""] if BLANK in parts else [])])
    read = _truth if RUN_COLUMNS[column] == "bool" else float
    blank = values.isna() & (BLANK in parts)
    try:
        wanted = [read(part) for part in parts if part != BLANK]
    except (ValueError, KeyError):
        kind = "true or false" if read is _truth else "a number"
        example = "true" if read is _truth else as_condition(values.dropna().max()) or "1"
        raise UsageError(
            f"--where {column}={','.join(parts)}: {column} is {kind}; write {column}={example}"
        ) from None
    return blank | values.astype("object").isin(wanted)


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def list_values(values: pd.Series) -> str:
    """The distinct values in order, as they are written in a condition; in quotes with commas."""
    distinct = values.drop_duplicates()
    texts = map(as_condition, [*sorted(distinct.dropna()), *distinct[distinct.isna()]])
    return ", ".join(repr(text) if "," in text else text for text in texts)


def as_condition(value: Any) -> str:
    """A value as it is written in a condition."""
    if pd.isna(value) or value == "":
        return BLANK
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value).lower() if pd.api.types.is_bool(value) else str(value)
