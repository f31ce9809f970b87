"""The figure of the benchmark (C9): how a training step's time grows."""

import pandas as pd

from ..results.cost import VARIED, device_named
from ..tables.cost import UNITS
from .plot import MEAN, Panel, Plot, data_frame

NAMES = {"length": "Length", "context_size": "Context size", "batch_size": "Batch size",
         "vocabulary": "Vocabulary"}  # fmt: skip
MILLISECONDS = 1e3


def plot(costs: pd.DataFrame) -> Plot:
    """A panel a quantity that was varied: milliseconds a step by size, an arm a line."""
    measured = costs[costs["seconds"].notna()]
    shown = [varied for varied in VARIED if (measured["varied"] == varied).any()]
    rows = [_row(row) for row in measured.to_dict("records") if row["varied"] in shown]
    panels = tuple(_panel(varied) for varied in shown)
    devices = costs["device"].map(device_named, na_action="ignore")
    machines = ", ".join(dict.fromkeys(costs["machine"] + ", " + devices))
    note = (
        "Median of groups of steps; bars: least and greatest; output: attention after the "
        "recurrence. "
        f"Measured on {machines}."
    )
    title = "What does a training step cost?"
    return Plot(title, panels, data_frame(rows), (note,), close=True)


def _panel(varied: str) -> Panel:
    x = f"{NAMES[varied].lower()}, {UNITS[varied]}"
    y = "ms a training step"
    return Panel(NAMES[varied], x, y, "groups", numeric=True, log_x=True, log_y=True)


def _row(row: dict) -> dict:
    ends = {"value": "seconds", "low": "seconds_low", "high": "seconds_high"}
    numbers = {end: MILLISECONDS * row[name] for end, name in ends.items()}
    place = {"panel": NAMES[row["varied"]], "x": str(row[row["varied"]]), "arm": row["attention"]}
    placement = "" if row["placement"] == "input" else row["placement"]
    return place | {"control": placement} | {"kind": MEAN, "n": row["repeats"]} | numbers
