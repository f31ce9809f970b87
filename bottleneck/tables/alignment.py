"""The table of the study ``alignment`` (C7)."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..results.probes import has_probe, load_probe, measured_by
from ..results.study_files import GOLD
from ..settings.errors import UserError
from .names import GOLD_STUDY
from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Alignment (C7): attention weights against gold links"
METHODS = {
    "": "weights",
    "untrained": "un-\ntrained",
    "diagonal": "diag-\nonal",
    "ibm1": "IBM 1",
}
ALL = "all"
TOLD = [
    "AER: alignment error rate in %, 0 is best. Weights: each target word is linked to the source "
    "word with its largest weight, on the references, end tokens left out. Untrained: the same "
    "network before training. Diagonal: target word j to the source word at the same share of the "
    "sentence. IBM 1: IBM model 1, 5 iterations on the run's own training pairs; a target "
    "word that these do not have is linked by its place.",
    "P, R: precision and recall of the weights' links. Gold: % of a target word's weight that lies "
    "on its gold source words; equal: what equal weights have there.",
]
UNIFORM = (
    "uniform: equal weights have no largest, so that an alignment read off them would mean "
    "nothing; their weight on gold is their equal share."
)
OWN_TOKENS = "Source words are the gold set's own tokens, signs among them."
RATES = ["aer", "precision", "recall", "aer_gap", "weight", "weight_after"]


def page(frame: pd.DataFrame) -> Page:
    """A row an arm and bucket, all lengths last."""
    return _page(frame, "alignment", TITLE)


def gold_page(frame: pd.DataFrame) -> Page:
    """The same of a gold set of the user's."""
    made = _page(frame, GOLD, TITLE.replace("gold", "the user's gold"))
    return replace(made, caption=[*_outside(means(frame)), OWN_TOKENS, *made.caption])


def load_gold(folder: Path) -> pd.DataFrame:
    """The numbers of a gold set of the user's; without them a ``UserError``."""
    if not has_probe(folder, GOLD):
        raise UserError(f"no gold set of your own in {measured_by(folder, GOLD_STUDY)}")
    return load_probe(folder, GOLD)


def _outside(shown: pd.DataFrame) -> list[str]:
    """How many sentences are in the row of all lengths alone, where there are rows of others."""
    counts = shown.drop_duplicates("bucket").set_index("bucket")["n"]
    by_length = counts.drop("", errors="ignore")
    if by_length.empty or "" not in counts:
        return []
    outside = int(counts[""] - by_length.sum())
    told = f"Sentences shorter than any bucket: {outside:,}, in the row {ALL} alone."
    return [told] if outside else []


def _page(frame: pd.DataFrame, name: str, title: str) -> Page:
    heads = ["source\nwords", "arm", "n", *METHODS.values(), "P", "R", "gold\n(equal)"]
    table = new_table(f"{title}: AER in %", heads, texts=2)
    shown = means(frame)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            cells = _cells(shown[(shown["arm"] == arm) & (shown["bucket"] == bucket)])
            if cells:
                table.add_row(bucket or ALL, arm, *cells)
    told = [*TOLD, *([UNIFORM] if "uniform" in set(frame["attention"]) else [])]
    told += [*_beside(shown), *gold_notes(shown), *caption(frame)]
    return Page(name, title, wide(frame, RATES), table, [], told)


def _cells(rows: pd.DataFrame) -> list[str]:
    """n, error rates, precision, recall and weights of an arm in a bucket; none without rows."""
    if rows.empty:
        return []
    keys = {"arm": rows["arm"].iloc[0], "bucket": rows["bucket"].iloc[0]}
    wanted = [("aer", control) for control in METHODS]
    wanted += [("precision", ""), ("recall", ""), ("weight", ""), ("weight", "equal")]
    held = [cell(rows, measure=measure, control=control, **keys) for measure, control in wanted]
    *shown, weight, equal = map(_percent, held)
    return [count(int(rows["n"].iloc[0])), *shown, f"{weight}\n({equal})"]


def _percent(row: dict | None) -> str:
    """Per cent; with the interval below where the claim is judged by it."""
    if row is None:
        return "-"
    if row["measure"] != "aer":
        return number(100 * row["value"], "{:.0f}")
    value = number(100 * row["value"], "{:.1f}")
    if row["control"] == "untrained":
        return value
    low, high = (number(100 * row[end], "{:.0f}") for end in ("low", "high"))
    return f"{value}\n{low}..{high}"


def _beside(shown: pd.DataFrame) -> list[str]:
    """The least error that was possible, and the weight on the very next word; all lengths.

    The former is the gold links' own, and is told without arms unless these have several of them.
    """
    rows = shown[shown["bucket"] == ""]
    best = rows[(rows["measure"] == "aer") & (rows["control"] == "best")]
    after = rows[rows["measure"] == "weight_after"]
    told = [
        ("AER of the best choice of one source word for each target word (gold has more, or none)",
         _common(best, "{:.1f} %")),
        ("Weight on the place right after the gold source words", _listed(after, "{:.0f} %")),
    ]  # fmt: skip
    return [f"{what}: {values}." for what, values in told if values]


def _common(rows: pd.DataFrame, form: str) -> str:
    """The one value that all arms have, else each arm's."""
    values = {form.format(100 * value) for value in rows["value"]}
    return values.pop() if len(values) == 1 else _listed(rows, form)


def _listed(rows: pd.DataFrame, form: str) -> str:
    return ", ".join(
        f"{row['arm']} {form.format(100 * row['value'])}" for row in rows.to_dict("records")
    )


def gold_notes(shown: pd.DataFrame) -> list[str]:
    """What the runs do not know of a gold set's words, a sentence an arm."""
    return list(dict.fromkeys(f"{note}." for note in shown["note"] if note))
