"""The figure of the study ``embeddings`` (C13): whether neighbours are alike."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

SIDES = {"source": "encoder", "target": "decoder"}
LABELS = {"class": "word class", "gender": "gender of nouns"}
CONTROLS = {"": "trained", "untrained": "untrained", "frequency": "next in frequency",
            "chance": "chance"}  # fmt: skip


def plot(frame: pd.DataFrame) -> Plot:
    """Of the nearest five the share that is alike, by side, label and control."""
    rows, panels = [], []
    for label, told in LABELS.items():
        for side, network in SIDES.items():
            own = chosen(frame, f"same_{label}", part=side)
            if own.empty:
                continue
            name = f"{told.capitalize()}, {network}"
            for row in drawn(name, own, "control", 100, CONTROLS):
                rows.append(row | {"control": ""})
            y = "% of nearest five"
            panels.append(Panel(name, "", y, "words", joined=False, limits=(0, 102)))
    title = "Are neighbours among the embeddings alike?"
    return Plot(title, tuple(panels), data_frame(rows), facts(frame, "words"))
