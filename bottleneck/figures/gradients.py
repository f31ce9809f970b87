"""The figure of the study ``gradients`` (C8): how a gradient fades with distance."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

RATIO = "Gradient norm by distance"
X = "steps from the source word to the target word, without attention"
Y = "gradient norm at the source word\nover that at the last position"


def plot(frame: pd.DataFrame) -> Plot:
    """The ratio by steps between source and target word, trained and untrained."""
    own = chosen(frame, "ratio")
    order = sorted(set(own["part"]), key=lambda band: int(band.rstrip("+").partition("-")[0]))
    own = own.sort_values("part", key=lambda part: part.map(order.index), kind="stable")
    panel = Panel(RATIO, X, Y, "links", log_y=True)
    rows = sorted(drawn(RATIO, own, "part"), key=lambda row: row["control"] != "")
    title = "How far does a gradient reach?"
    return Plot(title, (panel,), data_frame(rows), facts(frame))
