"""What a figure shows: its panels, and one data frame that holds every number drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..claims.verdict import READ_FROM
from ..tables.comparison import NONE, what_was_run

DRAWN = ("panel", "x", "arm", "control", "kind", "seed", "value", "low", "high", "n", "note")
"""Columns of the data. ``x`` is a text, of a number where the panel is numeric.

``kind`` is ``mean`` (over seeds, with its interval), ``seed`` (one run) or ``slide`` (printed).
"""
Number = float | int
MEAN, SEED, SLIDE = "mean", "seed", "slide"


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``name`` is its title and its key in the data.

    ``x`` and ``y`` are the axes' names with their units, ``counted`` what n counts. ``joined``:
    whether a line goes from point to point; ``numeric``: whether x is a quantity. ``limits``: of y,
    None where free. ``arm``: whose the panel is, where it is one arm's own.
    """

    name: str
    x: str
    y: str
    counted: str
    numeric: bool = False
    joined: bool = True
    log_x: bool = False
    log_y: bool = False
    limits: tuple[Number | None, Number | None] = (None, None)
    arm: str = ""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure to be drawn; ``notes`` are the lines below it.

    ``steps`` are controls that are steps of a quantity, the least first: each has a shade of its
    arm's colour and a marker, not a style of line; the legend names the steps, a panel its arm.
    ``close``: lines lie on each other, so that each has a style of its own.
    """

    title: str
    panels: tuple[Panel, ...]
    data: pd.DataFrame
    notes: tuple[str, ...]
    steps: tuple[str, ...] = ()
    close: bool = False


def drawn(
    panel: str,
    frame: pd.DataFrame,
    x: str = "bucket",
    scale: Number = 1,
    names: Mapping[str, str] | None = None,
    floor: Number = float("-inf"),
) -> list[dict[str, Any]]:
    """Rows of a study's table as rows of a panel, with their place on x from a column.

    ``scale`` multiplies the numbers, which are not below ``floor`` then; ``names`` gives x other
    words.
    """
    names = names or {}
    rows = []
    for row in frame.to_dict("records"):
        # A missing end stays missing: Python's own max would make it the floor.
        ends = {end: float(np.maximum(floor, scale * row[end])) for end in ("value", "low", "high")}
        kept = {name: row[name] for name in ("arm", "control", "seed", "n", "note")}
        kind = MEAN if pd.isna(row["seed"]) else SEED
        place = names.get(row[x], str(row[x]))
        rows.append({"panel": panel, "x": place, "kind": kind, **kept, **ends})
    return rows


def with_seeds(
    keys: Mapping[str, Any], mean: Mapping[str, Any], seeds: Iterable[int], values: Iterable[Number]
) -> list[dict[str, Any]]:
    """A mean and its ends, then the numbers of its seeds, all with these keys."""
    alone = [
        {"kind": SEED, "seed": int(seed), "value": float(value)}
        for seed, value in zip(seeds, values, strict=True)
    ]
    return [{**keys, **row} for row in ({"kind": MEAN, **mean}, *alone)]


def slide_rows(panel: str, arm: str, printed: Mapping[str, Number]) -> list[dict[str, Any]]:
    """The slide's numbers of an arm, by x."""
    return [
        {"panel": panel, "x": x, "arm": arm, "kind": SLIDE, "value": float(value)}
        for x, value in printed.items()
    ]


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The drawn rows with the columns `DRAWN`.

    Rows without a number are not drawn, nor are seeds where there is one alone: it is the mean.
    """
    frame = pd.DataFrame(rows, columns=list(DRAWN))
    texts = ["panel", "x", "arm", "control", "kind", "note"]
    frame[texts] = frame[texts].astype("object").fillna("").astype(str)
    numbers = dict.fromkeys(("value", "low", "high"), "float64")
    frame = frame.astype(numbers | dict.fromkeys(("seed", "n"), "Int64"))
    if frame["seed"].nunique() < 2:
        frame = frame[frame["kind"] != SEED]
    return frame[frame["value"].notna()].reset_index(drop=True)


def roof(rows: Sequence[Mapping[str, Any]]) -> float:
    """A little above the highest mark of all rows: the upper end of axes that are compared."""
    ends = [row.get(end) for row in rows for end in ("value", "high")]
    return 1.04 * max((end for end in ends if end is not None and not np.isnan(end)), default=1.0)


def shared(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Controls that are the same for every arm stand once, last, under these names, as no arm's.

    Other rows stay as they are.
    """
    common = rows["control"].isin(list(names))
    once = rows[common & rows["seed"].isna()].drop_duplicates(["control", "bucket", "part"])
    once = once.assign(arm="", control=once["control"].replace(names))
    return pd.concat([rows[~common], once])


def chosen(frame: pd.DataFrame, measure: str, **keys: str | Sequence[str]) -> pd.DataFrame:
    """The rows of a measure, means and seeds, with these keys (one or any of several)."""
    frame = frame[frame["measure"] == measure]
    for name, wanted in keys.items():
        frame = frame[frame[name].isin([wanted] if isinstance(wanted, str) else list(wanted))]
    return frame


def counts_in(rows: pd.DataFrame) -> str:
    """How many were averaged over, as one number or the least and the most."""
    counts = rows["n"].dropna()
    if counts.empty:
        return ""
    least, most = int(counts.min()), int(counts.max())
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def longest(frame: pd.DataFrame) -> str:
    """The last bucket in which something was counted."""
    filled = frame[(frame["n"].fillna(0) > 0) & (frame["bucket"] != "") & frame["value"].notna()]
    return "" if filled.empty else filled["bucket"].iloc[-1]


def facts(rows: pd.DataFrame, over: str = "test sentences") -> tuple[str, ...]:
    """What bars and points are, and of which runs these rows are (see `what_was_run`)."""
    points = " Small points: single seeds." if rows["seed"].nunique() > 1 else ""
    return (f"Bars: 95 %, over {over}.{points} Corpus {what_was_run(rows)}.",)


def arm_title(arm: str) -> str:
    """An arm as the title of a panel."""
    return "Without attention" if arm == NONE else f"With {arm} attention"


def drawn_buckets(buckets: Sequence[str], counts: Sequence[int]) -> tuple[list[str], str]:
    """Buckets of so many sentences that verdicts read them, or if under two are, the filled ones.

    Also a sentence on the filled buckets that are left out; empty where none is.
    """
    filled = {bucket: n for bucket, n in zip(buckets, counts, strict=True) if n}
    read = [bucket for bucket, n in filled.items() if n >= READ_FROM]
    drawn = read if len(read) > 1 else list(filled)
    few = [f"{bucket} (n = {n})" for bucket, n in filled.items() if bucket not in drawn]
    return drawn, f"Left out: {', '.join(few)}." if few else ""
