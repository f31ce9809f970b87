"""``--where``: the user chooses the runs of a table."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd

from ..results.bundle import Results
from ..results.schema import RUN_COLUMNS, SETTING_COLUMNS
from ..settings.errors import UsageError, UserError, did_you_mean

CONDITIONS = ("run", "experiment", "arm", "corpus_fingerprint", *SETTING_COLUMNS)
"""Columns that a condition may name."""
SETTINGS = {
    name: column
    for column, (place, _) in SETTING_COLUMNS.items()
    for name in (f"{place.partition('.')[0]}.{column}", place)
}
"""The column of a setting's full name."""


def where(bundle: Results, conditions: Sequence[str]) -> Results:
    """The bundle's runs that meet every ``column=value``; values of one column are alternatives.

    A column is one of `CONDITIONS` or a setting's full name (``model.context_size``). If no run is
    left, a ``UserError`` lists the values. A condition that cannot be read is a ``UsageError``.
    """
    runs, chosen = bundle.runs, {}
    for condition in conditions:
        name, _, text = (part.strip() for part in condition.partition("="))
        values = [part.strip() for part in text.split(",")]
        if not (name and all(values)):
            raise UsageError(f"--where {condition!r}: write column=value, such as attention=none")
        column = SETTINGS.get(name, name)
        if column not in CONDITIONS:
            raise UsageError(f"--where: unknown column {name!r}{did_you_mean(name, CONDITIONS)}")
        if text in set(runs[column].map(as_condition)):  # commas and all
            values = [text]
        elif RUN_COLUMNS[column] != "str":
            # Numbers and booleans as `as_condition` writes them.
            for place, value in enumerate(values):
                values[place] = value.lower()
                with suppress(ValueError):
                    values[place] = as_condition(float(value))
        chosen.setdefault(column, []).extend(values)
    for column, values in chosen.items():
        written = runs[column].map(as_condition)
        if lacking := [value for value in values if value not in set(written)]:
            names = list_values(runs[column])
            raise UserError(f"no run with {column}={','.join(lacking)}; there are {names}")
        runs = runs[written.isin(values)]
    return replace(bundle, runs=runs)


def list_values(values: pd.Series) -> str:
    """The distinct values in order, as conditions write them; in quotes if they have commas."""
    distinct = values.drop_duplicates()
    texts = map(as_condition, [*sorted(distinct.dropna()), *distinct[distinct.isna()]])
    return ", ".join(repr(text) if "," in text else text for text in texts)


def as_condition(value: Any) -> str:
    """A value as a condition writes it; ``none`` for a setting that is not set."""
    if pd.isna(value) or value == "":
        return "none"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).lower() if pd.api.types.is_bool(value) else str(value)
