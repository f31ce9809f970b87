"""The figure of the study ``fit`` (C12): training sentences beside test sentences."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

ACCURACY, BLEU = "Next word right", "Translation"
CONTROLS = {"train": "trained on", "test": ""}
X, COUNTED = "source words", "sentences"


def plot(frame: pd.DataFrame) -> Plot:
    """Teacher-forced accuracy and BLEU by length; the training sentences as a second line."""
    frame = frame.assign(control=frame["part"].map(CONTROLS))
    rows = drawn(ACCURACY, chosen(frame, "accuracy"), scale=100)
    rows += drawn(BLEU, chosen(frame, "bleu"))
    panels = (
        Panel(ACCURACY, X, "% of target tokens, true words before", COUNTED, limits=(0, 102)),
        Panel(BLEU, X, "BLEU (0 to 100)", COUNTED, limits=(0, 102)),
    )
    title = "Does it translate what it was trained on?"
    return Plot(title, panels, data_frame(rows), facts(frame, "sentences"))
