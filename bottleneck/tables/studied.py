"""What the tables of all studies share: picking numbers out of ``probes/NAME.csv``."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from ..claims.verdict import MARKED_BELOW
from .comparison_groups import TEXT

KEYS = ["arm", "control", "bucket", "part"]
"""What a number is of, but for its measure."""


def load_study(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a question in a results folder; a UserError without them."""
    return import_module("...questions.question", __name__).find_question(study).load(folder)


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
    matches = np.logical_and.reduce([frame[name].eq(value) for name, value in wanted.items()])
    places = np.flatnonzero(matches).tolist()  # a table asks hundreds of times: no frame is cut
    if len(places) > 1:
        raise ValueError(f"{len(places)} rows for {wanted}")
    return frame.iloc[places[0]].to_dict() if places else None


def wide(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row per arm, control, bucket and part; value, low and high of each measure as columns.

    A measure that the frame lacks has no columns.
    """
    subset = means(frame)
    subset = subset[subset["measure"].isin(measures)]
    rows = subset.drop_duplicates(KEYS)[KEYS].reset_index(drop=True)
    for measure in filter(set(subset["measure"]).__contains__, measures):
        rows_of = subset[subset["measure"] == measure][[*KEYS, "value", "low", "high", "n"]]
        names = {"value": measure, "n": f"{measure}_n"}
        names |= {end: f"{measure}_{end}" for end in ("low", "high")}
        rows = rows.merge(rows_of.rename(columns=names), on=KEYS, how="left", validate="1:1")
    return rows


def caption(frame: pd.DataFrame) -> list[str]:
    """Of which runs: corpus, updates, sizes and seeds; then what the ranges are.

    The first line also explains the mark of `render.count`, which any study's table may have.
    """
    return [_runs(frame), f"Ranges are 95 % over test sentences (bootstrap), {resampled(frame)}"]


def run_line(frame: pd.DataFrame) -> str:
    """What was run, in one line."""
    corpora, updates, contexts, seeds = (
        ", ".join(f"{value:,}" if isinstance(value, int) else value for value in sorted(values))
        for values in (
            set(frame["corpus"]),
            set(frame["updates"].dropna().astype(int)),
            set(frame["context_size"].dropna().astype(int)),
            set(frame["seed"].dropna().astype(int)),
        )
    )
    small = f"; * under {MARKED_BELOW}" if (frame["n"] < MARKED_BELOW).any() else ""
    return f"{corpora}, context {contexts}, {updates} updates, seed {seeds}; 95 % intervals{small}"


def resampled(frame: pd.DataFrame) -> str:
    """Which numbers share resamples: those of all arms where these are known to read one text.

    That is known where the frame has the texts' fingerprints (`pages.study_pages` puts them there).
    """
    same_text = TEXT in frame and frame[TEXT].nunique() == 1
    same = "for every seed and arm" if same_text else "for every seed, and for arms of one text"
    return f"the same resamples {same}; they say nothing of other seeds."


def _runs(frame: pd.DataFrame) -> str:
    """Corpus, updates, sizes and seeds of the runs."""
    alone = frame[~frame["seed"].isna()]
    seeds = {
        str(arm): sorted({int(seed) for seed in subset["seed"]})
        for arm, subset in alone.groupby("arm", sort=False)
    }
    text = ", ".join(sorted(set(frame["corpus"])))
    updates = ", ".join(f"{count:,}" for count in sorted(set(frame["updates"])))
    sizes = ", ".join(map(str, sorted(set(frame["context_size"]))))
    in_settings = any("=" in name for name in frame["arm"])
    named = " An arm's name leaves out what most arms have." if in_settings else ""
    return (
        f"Corpus {text}; context {sizes}; {updates} updates. {_seeds(seeds)}{named} "
        f"* behind a count: under {MARKED_BELOW}, too few to lean on."
    )


def _seeds(subset: Mapping[str, Sequence[int]]) -> str:
    """Of which seeds a value is the mean, or that there is one seed alone; ``held`` is by arm."""
    texts = {arm: ", ".join(map(str, numbers)) for arm, numbers in subset.items()}
    if len(set(texts.values())) > 1:
        listed = "; ".join(f"{arm}: {numbers}" for arm, numbers in texts.items())
        return f"Seeds ({listed}): a value is the mean over its arm's."
    same = next(iter(texts.values()), "unknown")
    if "," in same:
        return f"Seeds {same} of every arm: a value is their mean."
    return f"One seed ({same}): nothing is known of the spread over seeds."
