"""The end of the page: which runs, their settings, what they ran on, signature and versions."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from .. import __version__
from ..results.bundle import Bundle, other_versions, signatures, without_result
from ..results.schema import SETTING_COLUMNS
from ..settings.run import RunSettings
from ..tables.selection import as_condition
from .markup import Html, joined, prose, tag
from .tables import Grid, facts_html, listed, table_html

FACTS = ("parameters", "best_update", "epochs", "train_loss", "valid_loss", "train_seconds")
"""Columns of every run, beside the settings in which runs differ."""
LIBRARIES = ("matplotlib", "numpy", "pandas", "rich")


def runs_html(bundle: Bundle) -> Html:
    """Runs, settings, environment, signature."""
    rows = bundle.runs.drop_duplicates("run")
    apart = [name for name in SETTING_COLUMNS if rows[name].nunique(dropna=False) > 1]
    settings = [bundle.settings(run) for run in rows["run"]]
    left_out = [other_versions(bundle.environment), without_result(bundle.environment)]
    return joined(
        [
            table_html(_runs(rows, apart)),
            *(tag("p", prose(line)) for line in left_out if line),
            facts_html("Settings that all runs share", _settings(settings)),
            facts_html("What the runs ran on", _facts([bundle.facts(run) for run in rows["run"]])),
            tag("h3", "sacreBLEU signature"),
            listed(signatures(bundle.runs), "signatures"),
        ]
    )


def made_by() -> Html:
    """What made this page."""
    known = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    told = f"This page: bottleneck {__version__}, Python {platform.python_version()}, {known}."
    return tag("p", told)


def _runs(rows: pd.DataFrame, apart: Sequence[str]) -> Grid:
    """A row a run: in what they differ, size and losses."""
    names = list(dict.fromkeys(["attention", "context_size", "seed", *apart]))
    lines = [
        (
            row["run"],
            *(as_condition(row[name]) for name in names),
            *(_fact(row[name]) for name in FACTS),
        )
        for row in rows.to_dict("records")
    ]
    heads = ("run", *names, *FACTS)
    return Grid("Runs (losses in nats a target token)", heads, tuple(lines), 1)


def _fact(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _settings(settings: Sequence[RunSettings]) -> Iterator[tuple[str, str]]:
    """By section the settings that all runs share."""
    dumped = [one.model_dump() for one in settings]
    for section, fields in dumped[0].items():
        shared = {
            key: value
            for key, value in fields.items()
            if all(one[section][key] == value for one in dumped)
        }
        yield section, ", ".join(f"{key} = {_written(value)}" for key, value in shared.items())


def _written(value: Any) -> str:
    return "not set" if value is None else as_condition(value)


def _facts(facts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Facts of the environment, with every value that some run has."""
    flat = [dict(_flat(held)) for held in facts]
    for name in dict.fromkeys(name for held in flat for name in held):
        yield name, "; ".join(dict.fromkeys(held[name] for held in flat if name in held))


def _flat(held: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts by name, those inside others and lists in one text."""
    for name, value in held.items():
        if isinstance(value, Mapping):
            yield name, ", ".join(f"{key} {inner}" for key, inner in value.items())
        elif isinstance(value, list):
            yield name, "; ".join(map(str, value))
        elif value is not None:
            yield name, f"{value:.3g}" if isinstance(value, float) else str(value)
