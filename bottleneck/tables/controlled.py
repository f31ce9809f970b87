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
from .alike import WIDTHS
from .comparison import NONE, Arm, arm_of, source_words
from .families import TEXT, UNIFORM, Pair, changed, first, listed_runs, named, over_trained_lengths
from .selection import written

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
    found = list(_controls(bundle, runs, pair, place))
    varied = list(_variations(bundle, runs, pair))
    names = [control.name for control, _ in found]
    return (
        Controlled(
            bucket=attention.buckets[place],
            sentences=attention.n[place],
            attention=attention.estimates[place],
            controls=tuple(control for control, _ in found),
            variations=tuple(variation for variation, _ in varied),
            lacking=tuple(
                name for name in EXPECTED if not any(known.startswith(name) for known in names)
            ),
        ),
        pd.concat([pair.runs, *(held for _, held in [*found, *varied])]).drop_duplicates("run"),
    )


def _controls(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair, place: int
) -> Iterator[tuple[Control, pd.DataFrame]]:
    """Each control, on the seeds that attention has too, and its runs."""
    words = source_words(bundle, pair.none["run"].iloc[0])
    names = control_names(runs, pair)
    for name in dict.fromkeys(name for name in names if name):
        held, attention = common_seeds(runs[names == name], pair.attention)
        if held.empty or not np.array_equal(words, source_words(bundle, held["run"].iloc[0])):
            continue
        ours, gold = measured(bundle, held), measured(bundle, attention)
        yield Control(name, ours.estimates[place], gold.estimates[place]), held


def control_names(runs: pd.DataFrame, pair: Pair) -> pd.Series:
    """Which control each run is beside a pair; empty where it is none."""
    base, attention = first(pair.none), first(pair.attention)
    return named(runs, lambda row: _control(row, base, attention))


def _control(row: Row, base: Row, attention: Row) -> str:
    """Which control a run is: it differs from the arm without attention in one thing, or none."""
    apart = changed(row, base)
    if row[TEXT] != base[TEXT]:
        return ""
    if row["attention"] == UNIFORM:
        return UNIFORM_WEIGHTS if apart == {"attention"} else ""
    if row["attention"] != NONE:
        return ""
    return _without_attention(row, base, attention, apart)


def _without_attention(row: Row, base: Row, attention: Row, apart: set[str]) -> str:
    """Which control a run without attention is, by the columns in which it is not the baseline."""
    if not apart:
        return PLAIN
    if apart == {"hidden_size"}:
        return PARAMETERS if row["parameters"] >= attention["parameters"] else ""
    if apart == {"updates"}:
        return LONGER if row["updates"] == 2 * base["updates"] else ""
    if "context_size" in apart and apart <= {"context_size", *WIDTHS}:
        larger = row["context_size"] > base["context_size"]
        return f"{LARGER} ({row['context_size']})" if larger else ""
    return _single(row, apart)


def _single(row: Row, apart: set[str]) -> str:
    """What changes both arms alike, where it is the one thing that was changed; else empty."""
    if len(apart) != 1:
        return ""
    (column,) = apart
    if column == "joined":
        return f"{row['joined']} sentences joined"
    return SINGLE.get((column, written(row[column])), "")


def variation_names(runs: pd.DataFrame, pair: Pair) -> pd.Series:
    """In which one thing each run differs from its own arm of the pair; empty where in another."""
    bases = {row["attention"]: row for row in (first(pair.none), first(pair.attention))}

    def name(row: Row) -> str:
        base = bases.get(row["attention"])
        return "" if base is None else _single(row, changed(row, base))

    return named(runs, name)


def _variations(
    bundle: Bundle, runs: pd.DataFrame, pair: Pair
) -> Iterator[tuple[Variation, pd.DataFrame]]:
    """Both arms with the same thing changed, in the longest bucket of their own test sentences."""
    names = variation_names(runs, pair)
    for name in dict.fromkeys(name for name in names if name):
        held = runs[names == name]
        if held[TEXT].nunique() > 1:
            continue
        arms = held["attention"] == NONE
        none, attention = common_seeds(held[arms], held[~arms])
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
    longer = pair.family[
        (pair.family["updates"] == 2 * updates) & (pair.family["attention"] == NONE)
    ]
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
    told = [f"{row.Index:,} updates {row.train_loss:.2f} / {row.valid_loss:.2f}"
            for row in means.itertuples()]  # fmt: skip
    smoothed = " with label smoothing" if none["label_smoothing"].any() else ""
    told_of = f"loss without attention at the end, training{smoothed} / validation, nats a token"
    return f"{told_of}: {', '.join(told)}"


def trained_lengths(bundle: Bundle) -> str:
    """BLEU in the longest bucket by the longest sentence trained on; empty where it was not varied.

    Where quality falls beyond the trained lengths alone, it is length unseen and no bottleneck.
    """
    family = over_trained_lengths(listed_runs(bundle))
    if family is None:
        return ""
    told = []
    for name, arm in family.groupby("attention"):
        for words, runs in arm.groupby("train_max_words"):
            found = measured(bundle, runs)
            told.append(f"{name} {words} words {found.estimates[found.longest].value:.1f}")
    return f"BLEU in {found.buckets[found.longest]} where trained on at most: {', '.join(told)}"


def only(bundle: Bundle, runs: pd.DataFrame) -> Bundle:
    """The bundle with these runs alone."""
    names = set(runs["run"])
    return replace(bundle, runs=bundle.runs[bundle.runs["run"].isin(names)])
