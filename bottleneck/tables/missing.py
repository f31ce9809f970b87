"""What a table lacks: runs that did not end, seeds of one arm alone, runs of other updates."""

from collections.abc import Sequence

import pandas as pd

from ..results.bundle import Bundle, other_versions
from .alike import PAIRED, like
from .comparison import Comparison

SPANNED = frozenset({"context_size", "hidden_size", "attention_size"})
"""Columns that may vary along a table over context sizes."""


def missing(
    comparisons: Sequence[Comparison], bundle: Bundle, spanned: frozenset[str] = frozenset()
) -> list[str]:
    """A line for each kind of run that would belong to the table and is not in it.

    ``spanned`` are the columns that vary along the table.
    """
    without = _unfinished(comparisons, bundle, spanned)
    lines = [
        _sentence("Without a result, and not in this table", without),
        _sentence("Left out, for the other arm lacks that seed", _unpaired(comparisons)),
        _sentence("Left out", _others(comparisons, bundle)),
        other_versions(bundle.environment),
    ]
    return [line for line in lines if line]


def _sentence(head: str, parts: Sequence[str]) -> str:
    return f"{head}: {'; '.join(parts)}." if parts else ""


def _unfinished(
    comparisons: Sequence[Comparison], bundle: Bundle, spanned: frozenset[str]
) -> list[str]:
    """``additive context 16 seed 2 (diverged: the loss was no longer finite)``."""
    runs = bundle.unfinished()
    if runs.empty:
        return []
    rows = runs[(runs["attention"] == "") | _belongs(comparisons, runs, spanned)]
    return [f"{_run_name(row)} ({_standing(row)})" for row in rows.to_dict("records")]


def _belongs(
    comparisons: Sequence[Comparison], runs: pd.DataFrame, spanned: frozenset[str]
) -> pd.Series:
    """Whether the settings of each run are the table's, but for arm, seed and what it spans."""
    first = comparisons[0]
    chosen = {text.split()[0] for one in comparisons for text in one.differences}
    free = (PAIRED - {"updates"}) | chosen | spanned
    shown = {arm.name for one in comparisons for arm in one.arms}
    return like(runs, first.settings, free) & (runs["attention"].isin(shown) | (len(shown) == 1))


def _run_name(row: dict) -> str:
    if not row["attention"]:
        return f"run {row['run']}"
    return f"{row['attention']} context {row['context_size']} seed {row['seed']}"


def _standing(row: dict) -> str:
    """How the run stands, and why where that is known; a running one may have been stopped."""
    status = "not ended" if row["status"] == "running" else row["status"]
    return f"{status}: {row['reason']}" if row["reason"] else status


def _unpaired(comparisons: Sequence[Comparison]) -> list[str]:
    several = len(comparisons) > 1
    return [
        f"context {one.settings.model.context_size} {name}" if several else name
        for one in comparisons
        for name in one.unpaired
    ]


def _others(comparisons: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """Finished runs of other updates, and sizes without the arm that the others are held to."""
    used = {run for one in comparisons for arm in one.arms for run in arm.runs}
    sizes = [one.settings.model.context_size for one in comparisons]
    runs = bundle.runs.drop_duplicates("run")
    rest = runs[~runs["run"].isin(used)]
    same = rest["updates"] == comparisons[0].settings.training.updates
    longer = int((~same).sum())
    lacking = rest.loc[same & ~rest["context_size"].isin(sizes), "context_size"]
    alone = sorted(lacking.drop_duplicates())
    reasons = [
        f"{longer} run{'s' if longer > 1 else ''} of more updates" if longer else "",
        f"context {', '.join(map(str, alone))} (no run without attention)" if alone else "",
    ]
    return [reason for reason in reasons if reason]
