"""The figure of the study ``alignment`` (C7): attention weights against gold links."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

ERROR, WEIGHT = "Alignment error rate (0: as the gold links)", "Weight on the gold source words"
METHODS = ("", "untrained", "diagonal", "ibm1")
CONTROLS = {"ibm1": "IBM model 1", "equal": "equal weights"}
X = "words in the source (n: sentences)"


def plot(frame: pd.DataFrame) -> Plot:
    """Error rate of weights and of other aligners by length, and the weight on gold."""
    own = frame[frame["bucket"] != ""]
    rows = drawn(ERROR, _named(chosen(own, "aer", control=METHODS)), scale=100)
    held = chosen(own, "weight", control=("", "untrained", "equal"))
    rows += drawn(WEIGHT, _named(held), scale=100)
    panels = (
        Panel(ERROR, X, "AER, %", limits=(0, None)),
        Panel(WEIGHT, X, "% of a target word's weight", limits=(0, 102)),
    )
    title = "Do the attention weights align words?"
    return Plot(title, panels, data_frame(rows), facts(frame))


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(control=rows["control"].replace(CONTROLS))
