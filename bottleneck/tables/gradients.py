"""The table of the study ``gradients`` (C8)."""

from math import isinf

import pandas as pd
from rich.table import Table
from rich.text import Text

from ..claims.gradients import read_half
from ..claims.verdict import two_digits
from .page import Page
from .render import count, new_table
from .studied import KEYS, arms, caption, cell, means, wide

TITLE = "Gradients (C8): at the aligned source word, relative to the last position"
NETWORKS = {"untrained": "start of\ntraining", "": "end of\ntraining"}
HALVES = {
    "half_distance": "half-distance",
    "half_distance_chain": "through s_0",
}
ALL = "all"
TOLD = [
    "Each target word's own loss: the norm of its gradient at the embedding of its aligned source "
    "word over the norm at the last source position, the end token, whose state is h_Tx. Geometric "
    "means; n are links (target words with several source words count for each).",
    "Steps: what lies between the two without attention, from the source word through the encoder "
    "to h_Tx and one on into the decoder, which reads h_Tx at every step; the same count for every "
    "arm. Through s_0: by way of every decoder step as well. Half-distance: steps over which the "
    "ratio halves, by the exponential that fits all words best; over N (> N): it does not halve "
    "within the N steps that were tested (alone: nor does its whole range).",
]


def page(frame: pd.DataFrame) -> Page:
    """The ratio by band of steps, then half-distances by bucket, for every arm."""
    shown = means(frame)
    heads = ["steps", "arm", "n", *NETWORKS.values()]
    table = new_table(TITLE, heads, texts=2)
    ratios = shown[shown["measure"] == "ratio"]
    for band in sorted(set(ratios["part"]), key=_first):
        for arm in arms(shown):
            _add(table, band, arm, shown, measure="ratio", part=band)
    for measure, title in HALVES.items():
        table.add_row(Text(title, "bold"))
        for bucket in dict.fromkeys(shown["bucket"]):
            for arm in arms(shown):
                label = f"{bucket} words" if bucket else ALL
                _add(table, label, arm, shown, measure=measure, bucket=bucket)
    told = [*TOLD, *_lost(shown), *caption(frame)]
    return Page("gradients", TITLE, _wide(frame), table, [], told)


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Ratios and half-distances; beside these which of their numbers lie beyond what was tested."""
    table = wide(frame, ["ratio", *HALVES])
    rows = means(frame)
    for measure in HALVES:
        mine = rows[rows["measure"] == measure]
        told = mine[KEYS].assign(**{f"{measure}_bounds": [*map(_bounds, mine.to_dict("records"))]})
        table = table.merge(told, on=KEYS, how="left", validate="1:1")
    return table


def _bounds(row: dict) -> str:
    """Which of a half-distance's numbers are open above: ``value at least, high at least``."""
    half = read_half(row)
    ends = {"value": half.value, "low": half.low, "high": half.high}
    return ", ".join(f"{name} at least" for name, end in ends.items() if isinf(end))


def _first(band: str) -> int:
    return int(band.rstrip("+").partition("-")[0])


def _add(table: Table, label: str, arm: str, shown: pd.DataFrame, **keys: str) -> None:
    """A row of both networks; nothing where neither was measured."""
    rows = [cell(shown, arm=arm, control=control, **keys) for control in NETWORKS]
    held = [row for row in rows if row is not None]
    if held:
        table.add_row(label, arm, count(int(held[0]["n"])), *map(_shown, rows))


def _shown(row: dict | None) -> str:
    """A ratio or a half-distance with its interval below."""
    if row is None:
        return "-"
    if row["measure"] != "ratio":
        half = read_half(row)
        if isinf(half.low):
            return f"over {half.tested:.0f}"
        ends = (f"over {half.tested:.0f}" if isinf(end) else f"{end:.1f}"
                for end in (half.value, half.low, half.high))  # fmt: skip
        return "{}\n{}..{}".format(*ends)
    value, *ends = (two_digits(row[name]) for name in ("value", "low", "high"))
    return f"{value}\n{'..'.join(ends)}"


def _lost(shown: pd.DataFrame) -> list[str]:
    """What cannot be seen in a curve: words whose gradient is as good as none."""
    rows = shown[shown["measure"].isin(["vanished", "left_out"]) & (shown["value"] > 0)]
    told = [
        f"{row['arm']}{', ' + row['control'] if row['control'] else ''}: "
        + (f"{100 * row['value']:.1f} % of the ratios are under 1e-12 and count as that"
           if row["measure"] == "vanished" else
           f"{row['value']:.0f} links without any gradient at the last position are left out")
        for row in rows.to_dict("records")
    ]  # fmt: skip
    return ["; ".join(told) + "."] if told else []
