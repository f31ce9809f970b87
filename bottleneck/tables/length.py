"""The table of the study ``length`` (C11)."""

import pandas as pd

from ..claims.length import verdict
from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Output length (C11): is a long output as long as it should be?"
MEASURES = {
    "length_ratio": "ratio",
    "empty": "empty",
    "unfinished": "unfinished",
    "repeating": "repeating",
    "repeating_references": "of refs",
}


def page(frame: pd.DataFrame) -> Page:
    """A row an arm and bucket."""
    table = new_table(TITLE, ["source words", "attention", "n", *MEASURES.values()])
    shown = means(frame)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            rows = {name: cell(shown, arm=arm, bucket=bucket, measure=name) for name in MEASURES}
            if rows["length_ratio"] is None:
                continue
            table.add_row(
                bucket, arm, count(int(rows["length_ratio"]["n"])), *map(_shown, rows.items())
            )
    told = [
        "Ratio: tokens of the outputs over those of the references. Empty, unfinished, repeating: "
        "% of the outputs; unfinished ones ran into the cap, repeating ones hold some stretch of "
        "words three times in a row or more; of refs: the share of references that do.",
        *caption(frame),
    ]
    return Page("length", TITLE, wide(frame, list(MEASURES)), table, [verdict(frame)], told)


def _shown(named: tuple[str, dict | None]) -> str:
    name, row = named
    if row is None or pd.isna(row["value"]):
        return ""
    form, scale = ("{:.2f}", 1) if name == "length_ratio" else ("{:.0f}", 100)
    low, high = (number(scale * row[end], form) for end in ("low", "high"))
    return f"{number(scale * row['value'], form)}\n{low}..{high}"
