"""The figure of the study ``length`` (C11): whether outputs are as long as they should be."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts, roof

RATIO, FAULTS = "Length of outputs", "Outputs that repeat a stretch of words"
X, COUNTED = "source words", "sentences"
FEWEST = 5.0
"""Per cent that the axis of faults shows at least: as many as the claim's rule allows."""


def plot(frame: pd.DataFrame) -> Plot:
    """Tokens of outputs over those of references, and outputs that repeat themselves."""
    rows = drawn(RATIO, chosen(frame, "length_ratio"))
    rows += drawn(FAULTS, chosen(frame, "repeating"), scale=100)
    faults = [row for row in rows if row["panel"] == FAULTS]
    panels = (
        Panel(RATIO, X, "output tokens / reference tokens", COUNTED, limits=(0, None)),
        Panel(FAULTS, X, "% of outputs", COUNTED, limits=(0, max(FEWEST, roof(faults)))),
    )
    title = "Is a long output as long as it should be?"
    return Plot(title, panels, data_frame(rows), facts(frame))
