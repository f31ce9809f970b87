"""What the tables of all studies share: numbers of ``probes/NAME.csv``, and of which runs."""

from collections.abc import Sequence

import pandas as pd

from ..claims.verdict import MARKED_BELOW

KEYS = ["arm", "control", "bucket", "part"]
"""What a number is of, but for its measure."""


def wide(frame: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """A row per arm, control, bucket and part; value, low and high of each measure as columns.

    They are means over seeds. A measure that the frame lacks has no columns.
    """
    subset = frame[frame["seed"].isna() & frame["measure"].isin(measures)]
    rows = subset.drop_duplicates(KEYS)[KEYS].reset_index(drop=True)
    for measure in filter(set(subset["measure"]).__contains__, measures):
        names = {"value": measure, "low": f"{measure}_low", "high": f"{measure}_high",
                 "n": f"{measure}_n"}  # fmt: skip
        columns = subset[subset["measure"] == measure][[*KEYS, *names]].rename(columns=names)
        rows = rows.merge(columns, on=KEYS, how="left", validate="1:1")
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
    by_arm = frame[frame["seed"].notna()].groupby("arm", sort=False)["seed"]
    seeds = {arm: _listed(numbers, "{}") for arm, numbers in by_arm}
    text = "; ".join(f"{arm}: {numbers}" for arm, numbers in seeds.items())
    if len(set(seeds.values())) == 1:
        text = next(iter(seeds.values()))
    means = f"Seeds {text}: a value is the mean over its arm's."
    if "," not in text:
        means = f"One seed of each arm ({text}): nothing is known of the spread over seeds."
    in_settings = any("=" in name for name in frame["arm"])
    named = " An arm's name leaves out what most arms have." if in_settings else ""
    return [
        f"Corpus {', '.join(sorted(set(frame['corpus'])))}; context "
        f"{_listed(frame['context_size'], '{}')}; {_listed(frame['updates'])} updates. "
        f"{means}{named} * behind a count: under {MARKED_BELOW}, too few to lean on.",
        "Ranges are 95 % over test sentences (bootstrap), the same resamples for every seed, and "
        "for arms of one text; they say nothing of other seeds.",
    ]


def _listed(numbers: pd.Series, form: str = "{:,}") -> str:
    """The distinct whole numbers in order."""
    return ", ".join(form.format(value) for value in sorted(set(numbers.dropna().astype(int))))
