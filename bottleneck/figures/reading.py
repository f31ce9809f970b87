"""The figure of the study ``reading`` (C14): the words that can be read from a state."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts, shared

WORDS, ACCURACY = "Words so far that are read", "Right answers after {} words"
SHARED = {"last_word": "from the last word alone", "most_frequent": "most frequent word"}


def plot(frame: pd.DataFrame) -> Plot:
    """Words read by words so far, and accuracy by distance in the first bucket that has all."""
    rows = drawn(WORDS, shared(chosen(frame, "words_read"), SHARED))
    accuracy = chosen(frame, "accuracy")
    bucket = farthest(accuracy)
    name, held = ACCURACY.format(bucket), chosen(accuracy, "accuracy", bucket=bucket)
    rows += drawn(name, shared(held, SHARED), "part", 100)
    panels = (
        Panel(WORDS, "source words so far", "words, beyond the most frequent", "states",
              limits=(0, None)),
        Panel(name, "words back, 0: just read", "% of answers", "states", numeric=True,
              limits=(0, 102)),
    )  # fmt: skip
    title = "Is the state the understanding so far?"
    return Plot(title, panels, data_frame(rows), facts(frame))


def farthest(rows: pd.DataFrame) -> str:
    """The first bucket of those with most distances."""
    counts = rows.groupby("bucket", sort=False)["part"].nunique()
    return "" if counts.empty else str(counts.idxmax())
