"""The figure of the study ``dimensions`` (C4): how many of the context's dimensions are in use."""

import pandas as pd

from ..claims.dimensions import SENTENCE_WORDS, SLIDE_SIZE, SLIDE_USED, holds
from .plot import Panel, Plot, chosen, data_frame, drawn, facts, slide_rows

MEASURES = {
    "components": "Components, 95 % of variance",
    "effective_rank": "Effective rank",
    "participation_ratio": "Participation ratio",
}
X, Y = "source words", "dimensions"


def plot(frame: pd.DataFrame) -> Plot:
    """Three counts of dimensions by length, of trained and untrained encoders."""
    rows, panels = [], []
    for measure, name in MEASURES.items():
        own = chosen(frame, measure, part="", control=("", "untrained"))
        rows += drawn(name, own)
        panels.append(Panel(name, X, Y, "sentences", limits=(0, None)))
    buckets = dict.fromkeys(frame["bucket"])
    said = {bucket: SLIDE_USED for bucket in buckets if bucket and holds(bucket, SENTENCE_WORDS)}
    if SLIDE_SIZE in set(frame["context_size"]):
        rows += slide_rows(MEASURES["components"], "", said)
    title = "How many dimensions of the context are in use?"
    notes = facts(frame, "groups of sentences (jackknife)")
    return Plot(title, tuple(panels), data_frame(rows), notes)
