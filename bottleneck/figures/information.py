"""The figure of the study ``information`` (C5, C6): bits by length, and coarse contexts."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts, longest

BITS = {
    "probe": "Bits that a probe reads from the memory",
    "translator": "Bits that the translator need not be told",
}
"""By part; of a text whose bits nobody knows there is no probe."""
COARSE = "BLEU of coarse contexts, {} words"
SOURCE = "in the source"
LEVELS = {"full": "all"}


def plot(frame: pd.DataFrame) -> Plot:
    """Bits by length beside those that there are; BLEU of the longest sentences by bits a number.

    Totals are not below 0, as in the table.
    """
    part = next((each for each in BITS if len(chosen(frame, "recovered", part=each))), "probe")
    kept = chosen(frame, "recovered", part=part, control=("", "untrained"))
    rows = drawn(BITS[part], _source(frame)) + drawn(BITS[part], kept, floor=0)
    bleu = chosen(frame, "bleu")
    coarse = COARSE.format(longest(bleu))
    rows += drawn(coarse, chosen(bleu, "bleu", bucket=longest(bleu)), "part", names=LEVELS)
    panels = (
        Panel(BITS[part], "source words", "bits a sentence", "sentences", limits=(0, None)),
        Panel(coarse, "bits a number", "BLEU (0 to 100)", "sentences", limits=(0, None)),
    )
    title = "How much of the source reaches the decoder?"
    return Plot(title, panels, data_frame(rows), facts(frame))


def _source(frame: pd.DataFrame) -> pd.DataFrame:
    """The bits that there are: the same for every arm, and no arm's own."""
    held = chosen(frame, "source_bits")
    held = held[held["seed"].isna()].drop_duplicates("bucket")
    return held.assign(arm="", control=SOURCE)
