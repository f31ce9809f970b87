"""What the rules of C10 and C12 take: controls and longer training, beside the two arms."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..claims.controls import PLAIN, Control, Controlled, Trained, Variation
from ..claims.controls import UNIFORM as UNIFORM_WEIGHTS
from ..results.bundle import Bundle
from ..scoring.bootstrap import difference
from .comparison import arm_of
from .comparison_groups import (
    NONE,
    SIZE,
    TEXT,
    UNIFORM,
    WIDTHS,
    Pair,
    changed,
    common_seeds,
    first,
    groups,
    listed_runs,
)
from .selection import as_condition

PARAMETERS, LARGER, LONGER = "as many parameters", "a larger context", "twice the training"
SINGLE = {
    "reverse_source=true": "source reversed",
    "bidirectional=true": "encoder bidirectional",
    "initial_state=zero": "decoder started from zero",
}
"""Settings that are a control without attention, and a variation of both arms."""
EXPECTED = (UNIFORM_WEIGHTS, PARAMETERS, LARGER, *SINGLE.values(), LONGER)


def changes(runs: pd.DataFrame, pair: Pair) -> dict[str, pd.DataFrame]:
    """The runs of the pair's arms and of uniform weights with one thing changed, by its name."""
    bases = {row["attention"]: row for row in map(first, (pair.none, pair.attention))}
    bases[UNIFORM] = bases[NONE]
    parts: dict[str, list[pd.DataFrame]] = {}
    for arm in groups(runs[runs["attention"].isin(list(bases))], {"seed"}):
        row = first(arm)
        name = _change(row, bases[row["attention"]], first(pair.attention)["parameters"])
        parts.setdefault(name, []).append(arm)
    return {name: pd.concat(arms) for name, arms in parts.items() if name}


def _change(row: Mapping[str, Any], base: Mapping[str, Any], parameters: int) -> str:
    """What a run has that the base has not; empty where it is not one thing with a name."""
    differing = changed(row, base)
    if not differing:
        return PLAIN
    if differing == ["attention"]:
        return UNIFORM_WEIGHTS
    if SIZE in differing and {*differing} <= {SIZE, *WIDTHS}:
        return f"{LARGER} ({row[SIZE]})" if row[SIZE] > base[SIZE] else ""
    if len(differing) > 1:
        return ""
    (column,) = differing
    names = {
        "joined": f"{row['joined']} sentences joined",
        "updates": LONGER if row["updates"] == 2 * base["updates"] else "",
        "hidden_size": PARAMETERS if row["parameters"] >= parameters else "",
    }
    return names.get(column) or SINGLE.get(f"{column}={as_condition(row[column])}", "")


def controlled(bundle: Bundle, pair: Pair) -> tuple[Controlled, pd.DataFrame]:
    """Both arms beside the controls that there are, in the longest filled bucket, and the runs.

    BLEU is 0 to 100; every control is compared with attention on the seeds that both have. A
    variation is of both arms, in the longest bucket of its own test sentences.
    """
    attention = arm_of(bundle, pair.attention)
    place, text = attention.longest, pair.none[TEXT].iloc[0]
    controls, variations, used = [], [], [pair.runs]
    for name, rows in changes(listed_runs(bundle), pair).items():
        plain = rows["attention"].isin([NONE, UNIFORM])
        control, base = common_seeds(rows[plain & (rows[TEXT] == text)], pair.attention)
        if len(control):
            arms = (arm_of(bundle, arm).estimates[place] for arm in (control, base))
            controls.append(Control(name, *arms))
            used.append(control)
        both = common_seeds(rows[plain], rows[~plain])
        varies = name in SINGLE.values() or name.endswith("joined")
        if varies and len(both[0]) and rows[TEXT].nunique() == 1:
            none, other = (arm_of(bundle, arm) for arm in both)
            gain = difference(other.estimates[other.longest], none.estimates[none.longest])
            variations.append(Variation(name, gain))
            used += both
    measured = Controlled(
        bucket=attention.buckets[place],
        sentences=attention.n[place],
        attention=attention.estimates[place],
        controls=tuple(controls),
        variations=tuple(variations),
        lacking=tuple(
            name for name in EXPECTED if not any(item.name.startswith(name) for item in controls)
        ),
    )
    return measured, pd.concat(used).drop_duplicates("run")


def twice_trained(bundle: Bundle, pair: Pair) -> tuple[list[Trained], pd.DataFrame] | None:
    """None trained twice as long beside both arms, of common seeds; None where that was not run."""
    longer = changes(listed_runs(bundle), pair).get(LONGER, pair.none[:0])
    parts = common_seeds(pair.none, longer[longer["attention"] == NONE], pair.attention)
    if parts[0].empty:
        return None
    arms = [arm_of(bundle, part) for part in parts]
    rows = zip(arms[0].buckets, arms[0].n, *(arm.estimates for arm in arms), strict=True)
    return [Trained(*row) for row in rows], pd.concat(parts)
