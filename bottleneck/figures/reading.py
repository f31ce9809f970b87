"""The figure of the study ``reading`` (C14): the words that can be read from a state."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

WORDS, ACCURACY = "Words so far that are read", "Right answers after {} words"
SHARED = {"last_word": "from the last word alone", "most_frequent": "most frequent word",
          "asked": "words asked for"}  # fmt: skip


def plot(frame: pd.DataFrame) -> Plot:
    """Words read by words so far, and accuracy by distance in the first bucket that has all."""
    rows = drawn(WORDS, _series(chosen(frame, "words_read")))
    accuracy = chosen(frame, "accuracy")
    bucket = farthest(accuracy)
    name = ACCURACY.format(bucket)
    rows += drawn(name, _series(chosen(accuracy, "accuracy", bucket=bucket)), "part", 100)
    panels = (
        Panel(WORDS, "source words so far (n: states)", "words, beyond the most frequent",
              limits=(0, None)),
        Panel(name, "words back (0: the word just read)", "% of answers", numeric=True,
              limits=(0, 102)),
    )  # fmt: skip
    title = "Is the state the understanding so far?"
    return Plot(title, panels, data_frame(rows), facts(frame))


def farthest(rows: pd.DataFrame) -> str:
    """The first bucket of those with most distances."""
    counts = rows.groupby("bucket", sort=False)["part"].nunique()
    return "" if counts.empty else str(counts.idxmax())


def _series(rows: pd.DataFrame) -> pd.DataFrame:
    """What needs no state is the same for every arm, stands once, and is no arm's own."""
    shared = rows["control"].isin(list(SHARED))
    once = rows[shared & rows["seed"].isna()].drop_duplicates(["control", "bucket", "part"])
    once = once.assign(arm="", control=once["control"].replace(SHARED))
    return pd.concat([rows[~shared], once])
