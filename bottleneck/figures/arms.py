"""The figure of all arms (C10, C12): BLEU of each, in the shortest and in the longest bucket.

From the runs of a bundle, of a sweep of any settings.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..results.bundle import Bundle
from ..settings.errors import UserError
from ..tables.arms import named_arms
from ..tables.comparison_groups import first, varied
from ..tables.controlled import ByBucket, measured
from ..tables.selection import as_condition
from .plot import MEAN, SEED, Panel, Plot, data_frame, drawn_buckets, facts, left_out, roof

Rows = Mapping[str, Sequence[pd.DataFrame]]
"""The runs of each arm that stands in a row, by the row's name."""

BASELINE = "baseline"
"""The row of the arms that are as most are, where more than one setting was changed."""
MOST_ROWS = 30
"""More cannot be read on a slide."""
TITLE = "BLEU of every arm"
LOOSE = "Compare arms within a panel: texts of other lengths have other n-grams."
CHANGED = "Baseline: what most arms have; a row below names what it has instead."


def plot(bundle: Bundle) -> Plot:
    """A panel for the shortest and one for the longest filled bucket.

    Arms that differ in attention alone stand in one row, named by what was changed.
    Runs scored in other buckets than the first, and more rows than a slide has room for, are a
    ``UserError``.
    """
    arms = named_arms(bundle)
    rows = _rows(arms)
    if len(rows) > MOST_ROWS:
        raise UserError(
            f"{len(rows)} rows of arms, and a figure has room for {MOST_ROWS}: choose with "
            "`--where`, or read `bottleneck table arms`"
        )
    groups = _groups(rows)
    held = [(row, groups[row], first(runs)["attention"], measured(bundle, runs))
            for row, each in rows.items() for runs in each]  # fmt: skip
    buckets, counts = held[0][-1].buckets, _counts([found for *_, found in held])
    ends = _ends(buckets, counts)
    drawn = [one for end in ends for arm in held for one in _drawn(end, *arm)]
    shape = {"joined": False, "limits": (0, roof(drawn))}
    panels = tuple(Panel(_title(end), "BLEU, 0 to 100", "", "sentences", **shape) for end in ends)
    title = f"{TITLE}, of short and of long sentences" if len(ends) > 1 else TITLE
    note = " ".join([CHANGED, LOOSE] if BASELINE in rows else [LOOSE])
    notes = [*facts(pd.concat(arms)), left_out(buckets, counts)]
    notes = (note, " ".join(filter(None, notes)))
    return Plot(title, panels, data_frame(drawn), notes, in_rows=True)


def _rows(arms: Sequence[pd.DataFrame]) -> Rows:
    """Arms by what was changed; by their attention where nothing else was.

    The values of a single setting are in their order, else the baseline is the first.
    """
    names = varied(pd.concat(arms))
    if len(names) == 1:
        values = pd.Series([first(runs)[names[0]] for runs in arms]).sort_values(kind="stable")
        arms = [arms[place] for place in values.index]
    rows: dict[str, list[pd.DataFrame]] = {}
    for runs in arms:
        rows.setdefault(_row(first(runs), names), []).append(runs)
    return rows


def _row(run: Mapping[str, Any], names: Sequence[str]) -> str:
    if not names:
        return run["attention"]
    if len(names) == 1:
        return f"{names[0]}={as_condition(run[names[0]])}"
    return run["arm"].partition(" ")[2] or BASELINE


def _groups(rows: Rows) -> dict[str, str]:
    """By row the sweep's own name of it: that of its group, where it is that row's alone."""
    held = {row: set(pd.concat(arms)["group"]) for row, arms in rows.items()}
    taken = [group for groups in held.values() for group in groups]
    return {
        row: next((group for group in groups if taken.count(group) == len(groups) == 1), "")
        for row, groups in held.items()
    }


def _counts(held: Sequence[ByBucket]) -> list[int]:
    """The most sentences that any arm was tested on, by bucket."""
    return [max(each) for each in zip(*(found.n for found in held), strict=True)]


def _ends(buckets: Sequence[str], counts: Sequence[int]) -> list[str]:
    """The shortest and the longest bucket that is drawn; one where it is the same."""
    drawn = drawn_buckets(buckets, counts)
    return list(dict.fromkeys([drawn[0], drawn[-1]]))


def _title(bucket: str) -> str:
    return f"{bucket} source words"


def _drawn(
    bucket: str, row: str, group: str, attention: str, found: ByBucket
) -> Iterator[dict[str, Any]]:
    """The mean over an arm's seeds with its interval, then each seed; nothing of no sentences."""
    place = found.buckets.index(bucket)
    bleu, n = found.estimates[place], found.n[place]
    if not n:
        return
    told = {"panel": _title(bucket), "x": row, "arm": attention, "n": n, "note": group}
    ends = {"low": bleu.interval.low, "high": bleu.interval.high}
    yield told | {"kind": MEAN, "value": bleu.value} | ends
    for seed, value in zip(found.arm.seeds, found.arm.by_seed[:, place].tolist(), strict=True):
        yield told | {"kind": SEED, "seed": seed, "value": value}
