"""The table of the study ``length`` (C11)."""

import pandas as pd

from .page import Page
from .render import count, new_table
from .studied import arms, caption, cell, means, wide

TITLE = "Output length (C11): is a long output as long as it should be?"
MEASURES = {
    "length_ratio": "ratio",
    "empty": "empty",
    "unfinished": "un-\nfinished",
    "repeating": "repeat-\ning",
    "repeating_references": "of\nrefs",
}
FAULTS = [name for name in MEASURES if name != "length_ratio"]


def page(frame: pd.DataFrame) -> Page:
    """A row an arm and bucket."""
    table = new_table(TITLE, ["source\nwords", "arm", "n", *MEASURES.values()], texts=2)
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
    if name == "length_ratio":
        return f"{row['value']:.2f}\n{row['low']:.2f}..{row['high']:.2f}"
    low, high = (_end(100 * row[end]) for end in ("low", "high"))
    return f"{100 * row['value']:.1f}\n{low}..{high}"


def _end(percent: float) -> str:
    """The end of a range: beside an arm's name there is no room for more digits."""
    return f"{percent:.0f}" if percent >= 10 else f"{percent:.1f}"
