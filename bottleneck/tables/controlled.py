"""What the rules of C10 and C12 take: controls and longer training, beside the two arms."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..claims.controls import PLAIN, Control, Controlled, Trained, Variation
from ..claims.controls import UNIFORM as UNIFORM_WEIGHTS
from ..results.bundle import Bundle
from ..scoring.bootstrap import difference
from .comparison import arm_of, counts_of
from .comparison_groups import (
    ARM,
    NONE,
    TEXT,
    UNIFORM,
    WIDTHS,
    Pair,
    changed,
    common_seeds,
    first,
    groups,
    listed_runs,
    trained_length_series,
)
from .selection import as_condition

Row = Mapping[str, Any]
"""A run by column."""

PARAMETERS, LARGER, LONGER = "as many parameters", "a larger context", "twice the training"
SINGLE = {
    ("reverse_source", "true"): "source reversed",
    ("bidirectional", "true"): "encoder bidirectional",
    ("initial_state", "zero"): "decoder started from zero",
}
"""Settings of one column that are a control without attention, and a variation of both arms."""
EXPECTED = (UNIFORM_WEIGHTS, PARAMETERS, LARGER, *SINGLE.values(), LONGER)


def controlled(bundle: Bundle, pair: Pair) -> tuple[Controlled, pd.DataFrame]:
    """Both arms beside the controls that there are, in the longest filled bucket, and the runs.

    BLEU is 0 to 100; every control is compared with attention on the seeds that both have.
    """
    runs = listed_runs(bundle)
    attention = arm_of(bundle, pair.attention)
    controls = list(_controls(bundle, runs, pair, attention.longest))
    variations = list(_variations(bundle, runs, pair))
    names = [control.name for control, _ in controls]
    measured = Controlled(
        bucket=attention.buckets[attention.longest],
        sentences=attention.n[attention.longest],
        attention=attention.estimates[attention.longest],
        controls=tuple(control for control, _ in controls),
        variations=tuple(variation for variation, _ in variations),
        lacking=tuple(
            name for name in EXPECTED if not any(known.startswith(name) for known in names)
        ),
    )
    used = [pair.runs, *(rows for _, rows in [*controls, *variations])]
    return measured, pd.concat(used).drop_duplicates("run")


def _named(runs: pd.DataFrame, name: Callable[[Row], str]) -> dict[str, pd.DataFrame]:
    """The runs by the name that their arm's settings give; an arm without a name is left out."""
    arms: dict[str, list[pd.DataFrame]] = {}
    for arm in groups(runs, ARM):
        arms.setdefault(name(first(arm)), []).append(arm)
    return {name: pd.concat(parts) for name, parts in arms.items() if name}


def _controls(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair, place: int
) -> Iterator[tuple[Control, pd.DataFrame]]:
    """Each control, on the seeds that attention has too, and its runs."""
    words = counts_of(bundle, pair.none["run"].iloc[0]).words
    for name, rows in controls_of(runs, pair).items():
        control, attention = common_seeds(rows, pair.attention)
        if len(control) and np.array_equal(words, counts_of(bundle, control["run"].iloc[0]).words):
            arms = (arm_of(bundle, arm).estimates[place] for arm in (control, attention))
            yield Control(name, *arms), control


def controls_of(runs: pd.DataFrame, pair: Pair) -> dict[str, pd.DataFrame]:
    """The controls of a pair by name.

    A control differs from the arm without attention in one thing, or is that arm.
    """
    base, attention = first(pair.none), first(pair.attention)

    def name(row: Row) -> str:
        differing = changed(row, base)
        if row[TEXT] != base[TEXT] or row["attention"] not in (NONE, UNIFORM):
            return ""
        if row["attention"] == UNIFORM:
            return UNIFORM_WEIGHTS if differing == {"attention"} else ""
        if not differing:
            return PLAIN
        if differing == {"hidden_size"}:
            return PARAMETERS if row["parameters"] >= attention["parameters"] else ""
        if differing == {"updates"}:
            return LONGER if row["updates"] == 2 * base["updates"] else ""
        if "context_size" in differing and differing <= {"context_size", *WIDTHS}:
            larger = row["context_size"] > base["context_size"]
            return f"{LARGER} ({row['context_size']})" if larger else ""
        return _single(row, differing)

    return _named(runs, name)


def _single(row: Row, differing: set[str]) -> str:
    """What changes both arms alike, where it is the one thing that was changed; else empty."""
    if len(differing) != 1:
        return ""
    (column,) = differing
    if column == "joined":
        return f"{row['joined']} sentences joined"
    return SINGLE.get((column, as_condition(row[column])), "")


def variations_of(runs: pd.DataFrame, pair: Pair) -> dict[str, pd.DataFrame]:
    """By name the runs that differ in one thing from their own arm of the pair."""
    bases = {row["attention"]: row for row in (first(pair.none), first(pair.attention))}

    def name(row: Row) -> str:
        base = bases.get(row["attention"])
        return "" if base is None else _single(row, changed(row, base))

    return _named(runs, name)


def _variations(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair
) -> Iterator[tuple[Variation, pd.DataFrame]]:
    """Both arms with the same thing changed, in the longest bucket of their own test sentences."""
    for name, rows in variations_of(runs, pair).items():
        without = rows["attention"] == NONE
        arms = common_seeds(rows[without], rows[~without])
        if len(arms[0]) and rows[TEXT].nunique() == 1:
            none, attention = (arm_of(bundle, arm) for arm in arms)
            low, high = (arm.estimates[arm.longest] for arm in (none, attention))
            yield Variation(name, difference(high, low)), pd.concat(arms)


def twice_trained(bundle: Bundle, pair: Pair) -> tuple[list[Trained], pd.DataFrame] | None:
    """None trained twice as long beside both arms, of common seeds; None where that was not run."""
    longer = controls_of(listed_runs(bundle), pair).get(LONGER, pair.none[:0])
    parts = common_seeds(pair.none, longer, pair.attention)
    if parts[0].empty:
        return None
    arms = [arm_of(bundle, part) for part in parts]
    rows = zip(arms[0].buckets, arms[0].n, *(arm.estimates for arm in arms), strict=True)
    return [Trained(*row) for row in rows], pd.concat(parts)


def losses(runs: pd.DataFrame) -> str:
    """The loss at the end of training of the arm without attention, by updates."""
    none = runs[runs["attention"] == NONE]
    means = none.groupby("updates")[["train_loss", "valid_loss"]].mean()
    texts = [f"{row.Index:,} updates {row.train_loss:.2f} / {row.valid_loss:.2f}"
             for row in means.itertuples()]  # fmt: skip
    smoothed = " with label smoothing" if none["label_smoothing"].any() else ""
    head = f"loss without attention at the end, training{smoothed} / validation, nats per token"
    return f"{head}: {', '.join(texts)}"


def trained_lengths(bundle: Bundle) -> str:
    """BLEU in the longest bucket by the longest sentence trained on; empty where it was not varied.

    Where quality falls beyond the trained lengths alone, it is length unseen and no bottleneck.
    """
    series = trained_length_series(listed_runs(bundle))
    if series is None:
        return ""
    texts = []
    for (name, words), runs in series.groupby(["attention", "train_max_words"]):
        arm = arm_of(bundle, runs)
        texts.append(f"{name} {words} words {arm.estimates[arm.longest].value:.1f}")
    return f"BLEU in {arm.buckets[arm.longest]} where trained on at most: {', '.join(texts)}"


def only(bundle: Bundle, runs: pd.DataFrame) -> Bundle:
    """The bundle with these runs alone."""
    return replace(bundle, runs=bundle.runs[bundle.runs["run"].isin(set(runs["run"]))])
