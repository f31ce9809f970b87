"""The figure of the study ``alignment`` (C7): attention weights against gold links."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts, shared

ERROR, WEIGHT = "Alignment error rate (0: as gold)", "Weight on the gold source words"
METHODS = ("", "untrained", "diagonal", "ibm1")
SHARED = {"diagonal": "diagonal", "ibm1": "IBM model 1", "equal": "equal weights"}
X, COUNTED = "source words", "sentences"


def plot(frame: pd.DataFrame) -> Plot:
    """Error rate of weights and of other aligners by length, and the weight on gold."""
    own = frame[frame["bucket"] != ""]
    rows = drawn(ERROR, shared(chosen(own, "aer", control=METHODS), SHARED), scale=100)
    held = chosen(own, "weight", control=("", "untrained", "equal"))
    rows += drawn(WEIGHT, shared(held, SHARED), scale=100)
    panels = (
        Panel(ERROR, X, "AER, %", COUNTED, limits=(0, None)),
        Panel(WEIGHT, X, "% of a target word's weight", COUNTED, limits=(0, 102)),
    )
    title = "Do the attention weights align words?"
    return Plot(title, panels, data_frame(rows), facts(frame))
