"""What the tables of all studies share: numbers of ``probes/NAME.csv``, and of which runs."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.verdict import MARKED_BELOW
from .comparison_groups import TEXT

KEYS = ["arm", "control", "bucket", "part"]
"""What a number is of, but for its measure."""


def load_study(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a question in a results folder; a UserError without them."""
    return import_module("...questions.question", __name__).find_question(study).load(folder)


def with_texts(frame: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The table with the fingerprint of each row's text, blank where its runs are not there."""
    texts = dict(zip(runs["run"], runs[TEXT], strict=True))
    listed = frame[frame["run"] != ""].drop_duplicates("arm")
    known = dict(zip(listed["arm"], listed["run"].map(texts).fillna(""), strict=True))
    return frame.assign(**{TEXT: [known.get(arm, "") for arm in frame["arm"]]})


def wide(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row per arm, control, bucket and part; value, low and high of each measure as columns.

    They are means over seeds. A measure that the frame lacks has no columns.
    """
    subset = frame[frame["seed"].isna() & frame["measure"].isin(measures)]
    rows = subset.drop_duplicates(KEYS)[KEYS].reset_index(drop=True)
    for measure in filter(set(subset["measure"]).__contains__, measures):
        rows_of = subset[subset["measure"] == measure][[*KEYS, "value", "low", "high", "n"]]
        names = {"value": measure, "n": f"{measure}_n"}
        names |= {end: f"{measure}_{end}" for end in ("low", "high")}
        rows = rows.merge(rows_of.rename(columns=names), on=KEYS, how="left", validate="1:1")
    return rows


def run_line(frame: pd.DataFrame) -> str:
    """What was run, in one line."""
    corpora = ", ".join(sorted(set(frame["corpus"])))
    updates, contexts, seeds = (
        _listed(frame[name]) for name in ("updates", "context_size", "seed")
    )
    small = f"; * under {MARKED_BELOW}" if (frame["n"] < MARKED_BELOW).any() else ""
    return f"{corpora}, context {contexts}, {updates} updates, seed {seeds}; 95 % intervals{small}"


def caption(frame: pd.DataFrame) -> list[str]:
    """Of which runs: corpus, updates, sizes and seeds; then what the ranges are.

    The first line also explains the mark of `render.count`, which any study's table may have.
    """
    arms = frame[frame["seed"].notna()].groupby("arm", sort=False)["seed"]
    seeds = pd.Series({arm: _listed(numbers, "{}") for arm, numbers in arms}, dtype="object")
    in_settings = any("=" in name for name in frame["arm"])
    named = " An arm's name leaves out what most arms have." if in_settings else ""
    # Numbers of one text share resamples: `pages.study_pages` puts its fingerprint there.
    same_text = TEXT in frame and frame[TEXT].nunique() == 1
    same = "for every seed and arm" if same_text else "for every seed, and for arms of one text"
    return [
        f"Corpus {', '.join(sorted(set(frame['corpus'])))}; context "
        f"{_listed(frame['context_size'], '{}')}; {_listed(frame['updates'])} updates. "
        f"{_seeds(seeds)}{named} * behind a count: under {MARKED_BELOW}, too few to lean on.",
        "Ranges are 95 % over test sentences (bootstrap), the same resamples "
        f"{same}; they say nothing of other seeds.",
    ]


def _listed(numbers: pd.Series, form: str = "{:,}") -> str:
    """The distinct whole numbers in order."""
    return ", ".join(form.format(value) for value in sorted(set(numbers.dropna().astype(int))))


def _seeds(listed: pd.Series) -> str:
    """Of which seeds a value is the mean, or that there is one seed alone; ``listed`` is by arm."""
    if listed.nunique() > 1:
        arms = "; ".join(f"{arm}: {numbers}" for arm, numbers in listed.items())
        return f"Seeds ({arms}): a value is the mean over its arm's."
    same = listed.iloc[0] if len(listed) else "unknown"
    if "," in same:
        return f"Seeds {same} of every arm: a value is their mean."
    return f"One seed ({same}): nothing is known of the spread over seeds."
