"""The table of the study ``length`` (C11)."""

import pandas as pd

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
FAULTS = [name for name in MEASURES if name != "length_ratio"]


def page(frame: pd.DataFrame) -> Page:
    """A row an arm and bucket."""
    table = new_table(TITLE, ["source words", "attention", "n", *MEASURES.values()], texts=2)
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
        *_unseen(shown),
        *caption(frame),
    ]
    return Page("length", TITLE, wide(frame, list(MEASURES)), table, [], told)


def _unseen(shown: pd.DataFrame) -> list[str]:
    """What a range of 0 to 0 leaves open, where there is one."""
    rows = shown[shown["measure"].isin(FAULTS) & (shown["high"] == 0) & (shown["n"] > 0)]
    if rows.empty:
        return []
    least = int(rows["n"].min())
    return [
        "A range of 0.0 to 0.0 means that none of n was seen, of which resampling can show no "
        f"more. By the rule of three (95 %) a share of up to 3 in n ({min(300 / least, 100):.1f} % "
        f"where n is {least:,}) is still compatible with it; the rule of C11 goes by the range."
    ]


def _shown(named: tuple[str, dict | None]) -> str:
    name, row = named
    if row is None or pd.isna(row["value"]):
        return ""
    form, scale = ("{:.2f}", 1) if name == "length_ratio" else ("{:.1f}", 100)
    low, high = (number(scale * row[end], form) for end in ("low", "high"))
    return f"{number(scale * row['value'], form)}\n{low}..{high}"
