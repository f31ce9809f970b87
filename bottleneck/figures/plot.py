"""What a figure shows: its panels, and one data frame that holds every number drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

DRAWN = ("panel", "x", "arm", "control", "kind", "seed", "value", "low", "high", "n", "note")
"""Columns of the data. ``x`` is a text, of a number where the panel is numeric.

``kind`` is ``mean`` (over seeds, with its interval), ``seed`` (one run) or ``slide`` (printed).
"""
MEAN, SEED, SLIDE = "mean", "seed", "slide"


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``name`` is its title and its key in the data.

    ``x`` and ``y`` are the axes' names with their units. ``joined``: whether a line goes from
    point to point; ``numeric``: whether x is a quantity. ``limits``: of y, None where free.
    """

    name: str
    x: str
    y: str
    numeric: bool = False
    joined: bool = True
    log_x: bool = False
    log_y: bool = False
    limits: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure to be drawn; ``notes`` are the lines below it."""

    title: str
    panels: tuple[Panel, ...]
    data: pd.DataFrame
    notes: tuple[str, ...]


def drawn(
    panel: str,
    frame: pd.DataFrame,
    x: str = "bucket",
    scale: float = 1.0,
    names: Mapping[str, str] | None = None,
    floor: float = float("-inf"),
) -> list[dict[str, Any]]:
    """Rows of a study's table as rows of a panel, with their place on x from a column.

    ``scale`` multiplies the numbers, which are not below ``floor`` then; ``names`` gives x other
    words.
    """
    names = names or {}
    rows = []
    for row in frame.to_dict("records"):
        ends = {end: max(floor, scale * row[end]) for end in ("value", "low", "high")}
        kept = {name: row[name] for name in ("arm", "control", "seed", "n", "note")}
        kind = MEAN if pd.isna(row["seed"]) else SEED
        place = names.get(row[x], str(row[x]))
        rows.append({"panel": panel, "x": place, "kind": kind, **kept, **ends})
    return rows


def slide_rows(panel: str, arm: str, printed: Mapping[str, float]) -> list[dict[str, Any]]:
    """The slide's numbers of an arm, by x."""
    return [
        {"panel": panel, "x": x, "arm": arm, "kind": SLIDE, "value": float(value)}
        for x, value in printed.items()
    ]


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The drawn rows with the columns `DRAWN`; rows without a number are not drawn."""
    frame = pd.DataFrame(rows, columns=list(DRAWN))
    texts = ["panel", "x", "arm", "control", "kind", "note"]
    frame[texts] = frame[texts].astype("object").fillna("").astype(str)
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    frame = frame.astype(numbers | dict.fromkeys(("seed", "n"), "Int64"))
    return frame[frame["value"].notna()].reset_index(drop=True)


def chosen(frame: pd.DataFrame, measure: str, **keys: str | Sequence[str]) -> pd.DataFrame:
    """The rows of a measure, means and seeds, with these keys (one or any of several)."""
    frame = frame[frame["measure"] == measure]
    for name, wanted in keys.items():
        frame = frame[frame[name].isin([wanted] if isinstance(wanted, str) else list(wanted))]
    return frame


def longest(frame: pd.DataFrame) -> str:
    """The last bucket in which something was counted."""
    held = frame[(frame["n"].fillna(0) > 0) & (frame["bucket"] != "") & frame["value"].notna()]
    return "" if held.empty else held["bucket"].iloc[-1]


def facts(frame: pd.DataFrame, bars: str = "test sentences") -> tuple[str, ...]:
    """Of which runs, and what the bars and points are; empty ``bars``: there are none."""
    seeds = sorted({int(seed) for seed in frame["seed"].dropna()})
    told = [
        f"corpus {_listed(frame['corpus'])}",
        f"context {_listed(frame['context_size'].dropna())}",
        f"{_listed(frame['updates'].dropna(), '{:,}')} updates",
        f"seed{'s' if len(seeds) != 1 else ''} {', '.join(map(str, seeds)) or 'unknown'}",
    ]
    shown = f"Bars: 95 %, over {bars}. " if bars else ""
    return (f"{shown}Small points: single seeds. {'; '.join(told).capitalize()}.",)


def _listed(values: pd.Series, form: str = "{}") -> str:
    return ", ".join(form.format(value) for value in sorted(set(values)))
