"""The table of the study ``fit`` (C12): training sentences beside test sentences."""

import pandas as pd

from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Training sentences beside test sentences (C12)"
MEASURES = {"accuracy": (100, "{:.0f}"), "bleu": (1, "{:.1f}"), "loss": (1, "{:.2f}")}
SPLITS = {"train": "trained on", "test": "test"}
HEADS = ["accuracy\n%", "BLEU", "loss\nnats"]
TOLD = (
    "Accuracy: share of the target's tokens that the model finds likeliest, given the true words "
    "before them; loss: -log P a token, so too. BLEU: of its own translations. Both splits in "
    "the same buckets, n sentences of each. What is missing on sentences that were trained on was "
    "not learned, or does not fit into the context: more text of the kind would not bring it. "
    "Whether it is training or capacity, `bottleneck reproduce --check-schedule` tries (C12)."
)


def page(frame: pd.DataFrame) -> Page:
    """A row a bucket, arm and split."""
    table = new_table(TITLE, ["source words", "attention", "sentences", "n", *HEADS], texts=3)
    shown = means(frame)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            for split, name in SPLITS.items():
                keys = {"arm": arm, "bucket": bucket, "part": split}
                rows = {measure: cell(shown, measure=measure, **keys) for measure in MEASURES}
                n = count(int(rows["bleu"]["n"])) if rows["bleu"] else ""
                table.add_row(bucket, arm, name, n, *map(_shown, rows.items()))
    return Page("fit", TITLE, wide(frame, list(MEASURES)), table, [], [TOLD, *caption(frame)])


def _shown(named: tuple[str, dict | None]) -> str:
    """The number with its interval below."""
    measure, row = named
    if row is None or pd.isna(row["value"]):
        return ""
    scale, form = MEASURES[measure]
    low, high = (number(scale * row[end], form) for end in ("low", "high"))
    return f"{number(scale * row['value'], form)}\n{low}..{high}"
