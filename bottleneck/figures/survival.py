"""The figure of the study ``survival`` (C3): which source words reach the output."""

import numpy as np
import pandas as pd

from ..claims.survival import DETAILS
from .plot import Panel, Plot, chosen, data_frame, drawn, facts, longest

POSITION, CLASS, FREQUENCY = "By place in the source", "By word class", "By times seen in training"
FIFTH, SEEN = "fifth ", "frequency "
Y = "% of source words that survive\n(0: chance)"
SHORT = {"adverb, numeral": "adverb,\nnumeral", "function word": "function\nword",
         "adjective": "adjec-\ntive"}  # fmt: skip


def plot(frame: pd.DataFrame) -> Plot:
    """The longest sentences: by fifth of the sentence, and by class (of files, by frequency)."""
    bucket = longest(frame)
    own = chosen(frame, "corrected", bucket=bucket)
    parts = list(dict.fromkeys(own.loc[own["value"].notna(), "part"]))
    fifths = [part for part in parts if part.startswith(FIFTH)]
    seen = [part for part in parts if part.startswith(SEEN)]
    others = (FIFTH, SEEN, "gist", *DETAILS)
    classes = [part for part in parts if part and not part.startswith(others)]
    names = {part: part.removeprefix(FIFTH).removeprefix(SEEN) for part in fifths + seen}
    second, groups = (CLASS, classes) if classes else (FREQUENCY, seen)
    rows = drawn(POSITION, chosen(own, "corrected", part=fifths), "part", 100, names)
    rows += drawn(second, chosen(own, "corrected", part=groups), "part", 100, names | SHORT)
    # Less than chance is drawn as well: an axis from 0 would cut it off.
    least = float(np.nanmin([0.0, *(row[end] for row in rows for end in ("value", "low"))]))
    panels = (
        Panel(POSITION, "fifth of the source", Y, "words", limits=(least, 102)),
        Panel(second, "", Y, "words", joined=False, limits=(least, 102)),
    )
    title = f"Which words survive in sentences of {bucket} words?"
    return Plot(title, panels, data_frame(rows), facts(frame))
