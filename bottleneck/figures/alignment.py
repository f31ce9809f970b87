"""The figures of the study ``alignment`` (C7): attention weights against gold links."""

import pandas as pd

from ..tables.alignment import ALL, gold_notes
from .plot import Panel, Plot, chosen, data_frame, drawn, facts, shared

ERROR, WEIGHT = "Alignment error rate (0: as gold)", "Weight on the gold source words"
METHODS = ("", "untrained", "diagonal", "ibm1")
SHARED = {"diagonal": "diagonal", "ibm1": "IBM model 1", "equal": "equal weights"}
X, COUNTED = "source words", "sentences"


def plot(frame: pd.DataFrame) -> Plot:
    """Error rate of weights and of other aligners by length, and the weight on gold."""
    own = frame[frame["bucket"] != ""]
    return _plot("Do the attention weights align words?", own, facts(frame))


def gold_plot(frame: pd.DataFrame) -> Plot:
    """The same of a gold set of the user's; where every sentence is too short for a bucket, of all.

    The notes say what the runs do not know of its words.
    """
    inside = frame[frame["bucket"] != ""]
    notes = (*facts(frame, "sentences of the gold set"), *gold_notes(frame))
    title = "Do the attention weights align the words of the user's gold set?"
    return _plot(title, frame if inside.empty else inside, notes)


def _plot(title: str, frame: pd.DataFrame, notes: tuple[str, ...]) -> Plot:
    shown = {"scale": 100, "names": {"": ALL}}
    rows = drawn(ERROR, shared(chosen(frame, "aer", control=METHODS), SHARED), **shown)
    held = chosen(frame, "weight", control=("", "untrained", "equal"))
    rows += drawn(WEIGHT, shared(held, SHARED), **shown)
    panels = (
        Panel(ERROR, X, "AER, %", COUNTED, limits=(0, None)),
        Panel(WEIGHT, X, "% of a target word's weight", COUNTED, limits=(0, 102)),
    )
    return Plot(title, panels, data_frame(rows), notes)
