"""What a figure shows: its panels, and one data frame that holds every number drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..tables.comparison import what_was_run


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``name`` is its title and its key in the data, ``unit`` is what n counts.

    ``joined``: a line joins the points; ``log_x``: x is a quantity, on a logarithmic axis.
    """

    name: str
    y: str
    x: str = "source words"
    unit: str = "sentences"
    joined: bool = True
    log_x: bool = False
    log_y: bool = False
    limits: tuple[float | int | None, float | int | None] = (None, None)


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure to be drawn; ``steps`` are controls that are values of a quantity, least first.

    ``kind`` in the data is ``mean`` (over seeds, with its interval), ``seed`` or ``slide``.
    """

    title: str
    panels: tuple[Panel, ...]
    data: pd.DataFrame
    notes: tuple[str, ...]
    steps: tuple[str, ...] = ()


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows that have a number, of seeds only if there are several; ``x`` is text."""
    columns = "panel x arm control kind seed value low high n note"
    frame = pd.DataFrame(rows, columns=columns.split())
    texts = ["panel", "x", "arm", "control", "kind", "note"]
    frame[texts] = frame[texts].astype("object").fillna("").astype(str)
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    frame = frame.astype(numbers | dict.fromkeys(("seed", "n"), "Int64"))
    if frame["seed"].nunique() < 2:
        frame = frame[frame["kind"] != "seed"]
    return frame[frame["value"].notna()].reset_index(drop=True)


def shared(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Put controls that all arms share last: once each, renamed, without an arm."""
    common = rows["control"].isin(list(names))
    once = rows[common & rows["seed"].isna()].drop_duplicates(["control", "bucket", "part"])
    return pd.concat([rows[~common], once.assign(arm="", control=once["control"].replace(names))])


def facts(rows: pd.DataFrame, over: str = "test sentences") -> str:
    """A note on what bars and points are, and on what was run (see `what_was_run`)."""
    points = " Small points: single seeds." if rows["seed"].nunique() > 1 else ""
    return f"Bars: 95 %, over {over}.{points} Corpus {what_was_run(rows)}."
