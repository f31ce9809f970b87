"""What the tables of all studies share: picking numbers out of ``probes/NAME.csv``."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from ..claims.verdict import MARKED_BELOW
from ..results.probes import load_probe
from .families import TEXT

KEYS = ["arm", "control", "bucket", "part"]
"""What a number is of, but for its measure."""


def load_study(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a question in a results folder; a UserError without them."""
    questions = import_module("...questions.question", __name__)
    if study in questions.FILES:
        return questions.find_question(study).load(folder)
    return load_probe(folder, study)


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are means over seeds."""
    return frame[frame["seed"].isna()]


def arms(frame: pd.DataFrame) -> list[str]:
    """The arms in the order of the file."""
    return list(dict.fromkeys(frame["arm"]))


def cell(frame: pd.DataFrame, **keys: str) -> dict | None:
    """The one row with these keys, blank where they are not named; None where there is none.

    Raises ValueError where there are several.
    """
    wanted = dict.fromkeys(("control", "bucket", "part"), "") | keys
    found = np.logical_and.reduce([frame[name].eq(value) for name, value in wanted.items()])
    places = np.flatnonzero(found).tolist()  # a table asks hundreds of times: no frame is cut
    if len(places) > 1:
        raise ValueError(f"{len(places)} rows for {wanted}")
    return frame.iloc[places[0]].to_dict() if places else None


def wide(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row an arm, control, bucket and part; value, low and high of each measure as columns."""
    held = means(frame)
    held = held[held["measure"].isin(measures)]
    rows = held.drop_duplicates(KEYS)[KEYS].reset_index(drop=True)
    for measure in measures:
        mine = held[held["measure"] == measure][[*KEYS, "value", "low", "high", "n"]]
        names = {"value": measure, "n": f"{measure}_n"}
        names |= {end: f"{measure}_{end}" for end in ("low", "high")}
        rows = rows.merge(mine.rename(columns=names), on=KEYS, how="left", validate="1:1")
    return rows


def caption(frame: pd.DataFrame) -> list[str]:
    """Of which runs: corpus, updates, sizes and seeds; then what the ranges are.

    The first line also explains the mark of `render.count`, which any study's table may have.
    """
    return [_runs(frame), f"Ranges are 95 % over test sentences (bootstrap), {resampled(frame)}"]


def resampled(frame: pd.DataFrame) -> str:
    """Which numbers share resamples: those of all arms where these are known to read one text.

    That is known where the frame has the texts' fingerprints (`pages.study_pages` puts them there).
    """
    one = TEXT in frame and frame[TEXT].nunique() == 1
    same = "for every seed and arm" if one else "for every seed, and for arms of one text"
    return f"the same resamples {same}; they say nothing of other seeds."


def _runs(frame: pd.DataFrame) -> str:
    """Corpus, updates, sizes and seeds of the runs."""
    alone = frame[~frame["seed"].isna()]
    seeds = {
        str(arm): sorted({int(seed) for seed in held["seed"]})
        for arm, held in alone.groupby("arm", sort=False)
    }
    text = ", ".join(sorted(set(frame["corpus"])))
    updates = ", ".join(f"{count:,}" for count in sorted(set(frame["updates"])))
    sizes = ", ".join(map(str, sorted(set(frame["context_size"]))))
    named = " An arm's name leaves out what most arms have." if _apart(frame["arm"]) else ""
    return (
        f"Corpus {text}; context {sizes}; {updates} updates. {_seeds(seeds)}{named} "
        f"* behind a count: under {MARKED_BELOW}, too few to lean on."
    )


def _apart(names: Iterable[str]) -> bool:
    """Whether arms differ in more than their attention."""
    return any("=" in name for name in names)


def _seeds(held: Mapping[str, Sequence[int]]) -> str:
    """Of which seeds a value is the mean, or that there is one seed alone; ``held`` is by arm."""
    told = {arm: ", ".join(map(str, own)) for arm, own in held.items()}
    if len(set(told.values())) > 1:
        each = "; ".join(f"{arm}: {own}" for arm, own in told.items())
        return f"Seeds ({each}): a value is the mean over its arm's."
    same = next(iter(told.values()), "unknown")
    if "," in same:
        return f"Seeds {same} of every arm: a value is their mean."
    return f"One seed ({same}): nothing is known of the spread over seeds."
