"""BLEU by sentence length of every arm that was run: of a sweep of any settings, all its cells."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from ..results.bundle import Bundle, other_versions, without_result
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.errors import UserError
from .caption import intervals, signed
from .comparison import NONE
from .comparison_groups import arm_names, describe, groups, listed_runs
from .controlled import measured
from .render import BarTable, CompactTable, count, new_table, with_bars
from .slides import bounds, typed_frame

TITLE = "BLEU of every arm by sentence length"
NAMES = (
    "An arm is all runs that differ in their seed alone, called by its attention and by the "
    "settings in which it is not as most arms are. n: test sentences, on a screen of most arms "
    "above the columns, of another under its name. BLEU levels are not comparable across buckets, "
    "since texts of other lengths have other n-grams: compare arms within one."
)


def arms(bundle: Bundle) -> pd.DataFrame:
    """One row per arm x bucket: BLEU (0 to 100), mean over seeds, with its 95 % interval.

    Runs scored in other buckets than the first are a ``UserError``.
    """
    rows = [row for arm in named_arms(bundle) for row in _rows(bundle, arm)]
    return typed_frame(rows, ("arm", "seeds", "parameters", "bucket", "n"))


def named_arms(bundle: Bundle) -> list[pd.DataFrame]:
    """The runs of each arm, one row per run, with its name in the column ``arm``.

    Raises ``UserError`` as `arms`.
    """
    runs = listed_runs(bundle)
    if len(edges := runs["edges"].unique()) > 1:
        raise UserError(
            f"the runs were scored in other buckets ({'; '.join(edges)}): choose with "
            f"`--where`, as by `--where run={runs['run'].iloc[0]}`"
        )
    named = runs.assign(arm=arm_names(runs))
    return sorted(groups(named, ("seed",)), key=_place)


def _place(runs: pd.DataFrame) -> tuple[int, bool, list[tuple[int, str]]]:
    """The arms that are as most are come first, of these the one without attention.

    Numbers in names are in the order of their values: a context of 64 before one of 128.
    """
    name, *unusual = runs["arm"].iloc[0].split()
    parts = re.split(r"([0-9]+)", runs["arm"].iloc[0])
    numbered = [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
    return len(unusual), name != NONE, numbered


def _rows(bundle: Bundle, runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """An arm's rows."""
    scores = measured(bundle, runs)
    for bucket, n, bleu in zip(scores.buckets, scores.n, scores.estimates, strict=True):
        yield {
            "arm": runs["arm"].iloc[0],
            "seeds": len(runs),
            "parameters": int(runs["parameters"].iloc[0]),
            "bucket": bucket,
            "n": n,
            "bleu": bleu.value,
            **bounds("bleu", bleu),
        }


def arms_table(frame: pd.DataFrame) -> BarTable:
    """Rows are arms, columns buckets; ranges on second lines."""
    return BarTable(lambda width: _table(frame, width))


def _table(frame: pd.DataFrame, width: int) -> CompactTable:
    buckets = frame["bucket"].nunique()
    counts = [tuple(frame["n"][place : place + buckets]) for place in range(0, len(frame), buckets)]
    usual = max(counts, key=counts.count)
    heads = zip(frame["bucket"][:buckets], usual, strict=True)
    table = new_table(TITLE, ["arm", *(f"{bucket}\nn={count(n)}" for bucket, n in heads)])
    table.padding = 0
    cells = with_bars(frame, "bleu", width)
    for arm, arm_counts in enumerate(counts):
        place = arm * buckets
        note = "" if arm_counts == usual else f"\nn={' '.join(map(count, arm_counts))}"
        table.add_row(f"{frame['arm'][place]}{note}", *cells[place : place + buckets])
    return table


def run_line(bundle: Bundle) -> str:
    """What was run, in one line."""
    return f"{describe(listed_runs(bundle))}; 95 % intervals over test sentences"


def caption(bundle: Bundle) -> list[str]:
    """What stands under the table."""
    runs = listed_runs(bundle)
    lines = [
        NAMES,
        intervals(bundle.settings(runs["run"].iloc[0])),
        f"{describe(runs)}.",
        without_result(bundle.environment),
        other_versions(bundle.environment),
        SHORT_SENTENCES,
        signed(bundle.runs),
    ]
    return [line for line in lines if line]
