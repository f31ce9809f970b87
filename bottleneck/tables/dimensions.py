"""The tables of the study ``dimensions`` (C4): one a measure, under each other."""

import pandas as pd
from rich.table import Table

from ..claims.dimensions import SENTENCE_WORDS, SLIDE_SIZE, SLIDE_USED, holds
from ..probes.dimensions import WANTED
from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Dimensions of the context in use (C4)"
TITLES = {
    "components": "Principal components for 95 % of the contexts' variance (C4)",
    "participation_ratio": "Participation ratio of the contexts (C4)",
    "effective_rank": "Effective rank of the contexts (C4)",
}
HEADS = ["source\nwords", "arm", "n", "trained", "un-\ntrained", "training\nadds",
         "half n,\ntrained", "half n,\nuntr."]  # fmt: skip
TOLD = [
    "Contexts h_Tx of new sentences of the run's own language (of files: of test and validation "
    "sentences), the same for all runs: without attention all that the decoder gets, with "
    "attention what its first state is made of. Untrained: the weights that the run began with.",
    "Of the contexts' covariance: components that hold 95 % of the variance, the last by the part "
    "of it that is needed; participation ratio (sum of the variances squared over the sum of their "
    "squares), which sees the few strong directions; effective rank (exp of the spectrum's "
    "entropy), between the two. All grow with n, the more the further they are from settled: "
    "compare with half of n. None says how much information is in the dimensions. Differences "
    "are taken before rounding.",
    f"Slide: {SLIDE_USED} of {SLIDE_SIZE}, said of one sentence of {SENTENCE_WORDS} words.",
]
INTERVALS = (
    "Ranges are 95 % by the jackknife over 20 groups of sentences, of the mean over seeds, and "
    "speak of other sentences of the same number; they say nothing of other seeds."
)


def page(frame: pd.DataFrame) -> Page:
    """A row a bucket and arm in each of the tables."""
    grid = Table.grid()
    shown = means(frame)
    for measure in TITLES:
        grid.add_row(_table(shown, measure))
    columns = [name for measure in TITLES for name in (measure, f"{measure}_added")]
    told = [*TOLD, *_fewer(shown), caption(frame)[0], INTERVALS]
    return Page("dimensions", TITLE, wide(frame, columns), grid, [], told)


def _fewer(shown: pd.DataFrame) -> list[str]:
    """The buckets that have fewer sentences than are wanted, as text of the user's may."""
    small = shown[shown["measure"].isin(TITLES) & (shown["part"] == "") & (shown["n"] < WANTED)]
    if small.empty:
        return []
    least = small.groupby("bucket", sort=False)["n"].min()
    named = ", ".join(f"{bucket} (n = {int(n):,})" for bucket, n in least.items())
    return [
        f"Fewer than the {WANTED:,} sentences that these measures should have: {named}. Such a row "
        "is too low, and may be held against rows of as many sentences alone."
    ]


def _table(shown: pd.DataFrame, measure: str) -> Table:
    counted = measure == "components"
    table = new_table(TITLES[measure], [*HEADS, "slide"] if counted else HEADS, texts=2)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            keys = {"arm": arm, "bucket": bucket, "measure": measure}
            trained = cell(shown, **keys)
            if trained is None:
                continue
            cells = [
                _ranged(trained, counted),
                _ranged(cell(shown, control="untrained", **keys), counted),
                _ranged(cell(shown, **keys | {"measure": f"{measure}_added"}), counted, "+"),
                _value(cell(shown, part="half", **keys), counted),
                _value(cell(shown, part="half", control="untrained", **keys), counted),
            ]
            slide = [_slide(trained)] if counted else []
            table.add_row(bucket, arm, count(int(trained["n"])), *cells, *slide)
    return table


def _slide(row: dict) -> str:
    """The slide's number beside the bucket that its sentence is in."""
    said = row["attention"] == "none" and holds(row["bucket"], SENTENCE_WORDS)
    return f"{SLIDE_USED} of\n{SLIDE_SIZE}" if said else ""


def _value(row: dict | None, counted: bool) -> str:
    return "" if row is None else number(row["value"], _form(row["value"], counted))


def _ranged(row: dict | None, counted: bool, sign: str = "") -> str:
    """A value with its interval below it."""
    if row is None or pd.isna(row["value"]):
        return ""
    form = _form(row["value"], counted, 10 if sign else 100)
    low, high = (number(row[end], form) for end in ("low", "high"))
    return f"{number(row['value'], form.replace(':', f':{sign}'))}\n{low}..{high}"


def _form(value: float, counted: bool, large: int = 100) -> str:
    """A decimal unless the number is large: more would not fit, nor mean anything."""
    return "{:z.0f}" if counted or abs(value) >= large else "{:z.1f}"
