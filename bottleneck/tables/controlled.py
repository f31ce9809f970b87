"""What the rules of C10 and C12 take: controls and longer training, beside the two arms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..claims.controls import PLAIN, Control, Controlled, Variation
from ..claims.controls import UNIFORM as UNIFORM_WEIGHTS
from ..claims.training import Trained
from ..results.bundle import Bundle
from ..scoring.bootstrap import Estimate, difference
from ..settings.buckets import Buckets
from .comparison import NONE, Arm, arm_of, source_words
from .comparison_groups import (
    TEXT,
    UNIFORM,
    WIDTHS,
    Pair,
    changed,
    first,
    label_runs,
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


@dataclass(frozen=True, eq=False)
class ByBucket:
    """An arm's runs, which differ in their seed alone, by bucket; n is the sentences'."""

    buckets: tuple[str, ...]
    n: tuple[int, ...]
    arm: Arm

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """BLEU, mean over seeds."""
        return self.arm.estimates

    @property
    def longest(self) -> int:
        """Place of the longest filled bucket."""
        return max(place for place, count in enumerate(self.n) if count)


def measured(bundle: Bundle, runs: pd.DataFrame) -> ByBucket:
    """BLEU of runs of one arm by bucket: the same resamples as in every table."""
    first = runs["run"].iloc[0]
    settings = bundle.settings(first)
    buckets = Buckets(settings.scoring.lower_edges)
    assigned = buckets.assign(source_words(bundle, first))
    counts = tuple(int((assigned == place).sum()) for place in range(len(buckets.names)))
    return ByBucket(buckets.names, counts, arm_of(bundle, runs, first, settings))


def controlled(bundle: Bundle, pair: Pair) -> tuple[Controlled, pd.DataFrame]:
    """Both arms beside the controls that there are, in the longest filled bucket, and the runs.

    BLEU is 0 to 100; every control is held to attention on the seeds that both have.
    """
    runs = listed_runs(bundle)
    attention = measured(bundle, pair.attention)
    place = attention.longest
    controls = list(_controls(bundle, runs, pair, place))
    varied = list(_variations(bundle, runs, pair))
    names = [control.name for control, _ in controls]
    return (
        Controlled(
            bucket=attention.buckets[place],
            sentences=attention.n[place],
            attention=attention.estimates[place],
            controls=tuple(control for control, _ in controls),
            variations=tuple(variation for variation, _ in varied),
            lacking=tuple(
                name for name in EXPECTED if not any(known.startswith(name) for known in names)
            ),
        ),
        pd.concat([pair.runs, *(subset for _, subset in [*controls, *varied])]).drop_duplicates(
            "run"
        ),
    )


def _controls(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair, place: int
) -> Iterator[tuple[Control, pd.DataFrame]]:
    """Each control, on the seeds that attention has too, and its runs."""
    words = source_words(bundle, pair.none["run"].iloc[0])
    names = control_names(runs, pair)
    for name in dict.fromkeys(name for name in names if name):
        subset, attention = common_seeds(runs[names == name], pair.attention)
        if subset.empty or not np.array_equal(words, source_words(bundle, subset["run"].iloc[0])):
            continue
        ours, gold = measured(bundle, subset), measured(bundle, attention)
        yield Control(name, ours.estimates[place], gold.estimates[place]), subset


def control_names(runs: pd.DataFrame, pair: Pair) -> pd.Series:
    """Which control each run is beside a pair; empty where it is none."""
    base, attention = first(pair.none), first(pair.attention)
    return label_runs(runs, lambda row: _control(row, base, attention))


def _control(row: Row, base: Row, attention: Row) -> str:
    """Which control a run is: it differs from the arm without attention in one thing, or none."""
    differing = changed(row, base)
    if row[TEXT] != base[TEXT]:
        return ""
    if row["attention"] == UNIFORM:
        return UNIFORM_WEIGHTS if differing == {"attention"} else ""
    if row["attention"] != NONE:
        return ""
    return _without_attention(row, base, attention, differing)


def _without_attention(row: Row, base: Row, attention: Row, differing: set[str]) -> str:
    """Which control a run without attention is, by the columns in which it is not the baseline."""
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


def _single(row: Row, differing: set[str]) -> str:
    """What changes both arms alike, where it is the one thing that was changed; else empty."""
    if len(differing) != 1:
        return ""
    (column,) = differing
    if column == "joined":
        return f"{row['joined']} sentences joined"
    return SINGLE.get((column, as_condition(row[column])), "")


def variation_names(runs: pd.DataFrame, pair: Pair) -> pd.Series:
    """In which one thing each run differs from its own arm of the pair; empty where in another."""
    bases = {row["attention"]: row for row in (first(pair.none), first(pair.attention))}

    def name(row: Row) -> str:
        base = bases.get(row["attention"])
        return "" if base is None else _single(row, changed(row, base))

    return label_runs(runs, name)


def _variations(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair
) -> Iterator[tuple[Variation, pd.DataFrame]]:
    """Both arms with the same thing changed, in the longest bucket of their own test sentences."""
    names = variation_names(runs, pair)
    for name in dict.fromkeys(name for name in names if name):
        subset = runs[names == name]
        if subset[TEXT].nunique() > 1:
            continue
        arms = subset["attention"] == NONE
        none, attention = common_seeds(subset[arms], subset[~arms])
        if none.empty:
            continue
        low, high = measured(bundle, none), measured(bundle, attention)
        gain = difference(high.estimates[high.longest], low.estimates[low.longest])
        yield Variation(name, gain), pd.concat([none, attention])


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def twice_trained(bundle: Bundle, pair: Pair) -> tuple[list[Trained], pd.DataFrame] | None:
    """None trained twice as long beside both arms, of common seeds; None where that was not run."""
    updates = pair.none["updates"].iloc[0]
    longer = pair.group[(pair.group["updates"] == 2 * updates) & (pair.group["attention"] == NONE)]
    arms = common_seeds(pair.none, longer, pair.attention)
    if arms[0].empty:
        return None
    once, twice, attention = (measured(bundle, arm) for arm in arms)
    rows = zip(
        once.buckets, once.n, once.estimates, twice.estimates, attention.estimates, strict=True
    )
    return [Trained(*row) for row in rows], pd.concat(arms)


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
    family = trained_length_series(listed_runs(bundle))
    if family is None:
        return ""
    texts = []
    for name, arm in family.groupby("attention"):
        for words, runs in arm.groupby("train_max_words"):
            scores = measured(bundle, runs)
            texts.append(f"{name} {words} words {scores.estimates[scores.longest].value:.1f}")
    return f"BLEU in {scores.buckets[scores.longest]} where trained on at most: {', '.join(texts)}"


def only(bundle: Bundle, runs: pd.DataFrame) -> Bundle:
    """The bundle with these runs alone."""
    names = set(runs["run"])
    return replace(bundle, runs=bundle.runs[bundle.runs["run"].isin(names)])
