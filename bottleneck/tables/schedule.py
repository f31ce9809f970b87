"""Was the training long enough? What the runs themselves say of it, for a table's caption."""

from dataclasses import replace

import pandas as pd

from ..results.bundle import Bundle
from .alike import PAIRED, like
from .comparison import NONE, Arm, Comparison, compare
from .families import seeds_told


def training_line(comparison: Comparison, bundle: Bundle) -> str:
    """Epochs, and the losses at the end, in nats a target token, means over seeds.

    Where training's and validation's part, an arm lacks data more than room.
    """
    runs = bundle.runs.drop_duplicates("run").set_index("run")
    losses = [
        f"{arm.name} {runs.loc[list(arm.runs), 'train_loss'].mean():.2f} / "
        f"{runs.loc[list(arm.runs), 'valid_loss'].mean():.2f}"
        for arm in comparison.arms
    ]
    epochs = runs.loc[list(comparison.none.runs), "epochs"].mean()
    smoothing = comparison.settings.training.label_smoothing
    smoothed = f" (with label smoothing {smoothing:g})" if smoothing else ""
    return (
        f"Training: {epochs:.1f} epochs; loss at the end in nats a target token, training"
        f"{smoothed} / validation: {', '.join(losses)}."
    )


def schedule(comparison: Comparison, bundle: Bundle) -> str:
    """Whether training twice as long moves a bucket beyond its interval, where that was run."""
    updates = comparison.settings.training.updates
    doubled = _doubled(comparison, bundle)
    if NONE not in set(doubled["attention"]):
        return _unchecked(comparison, bundle, updates)
    seeds = sorted({int(seed) for seed in doubled["seed"]})
    same = _of(bundle, comparison, doubled, seeds)
    once, twice = (compare(same, length, alone=True) for length in (updates, 2 * updates))
    pairs = list(zip(once.arms, twice.arms, strict=False))
    added = "; ".join(f"{arm.name} {_added(arm, longer)}" for arm, longer in pairs)
    moved = [
        f"{arm.name} {bucket}"
        for arm, longer in pairs
        for bucket in _moved(arm, longer, comparison.buckets)
    ]
    judged = (
        f"not long enough; twice the updates ({seeds_told(seeds)}) move these buckets beyond the "
        f"range of the same seeds: {', '.join(moved)}"
        if moved
        else f"long enough; twice the updates ({seeds_told(seeds)}) move no bucket beyond its range"
    )
    return (
        f"Schedule: {judged}. Twice the training adds, in BLEU from the shortest to the longest "
        f"bucket: {added}."
    )


def _added(arm: Arm, longer: Arm) -> str:
    """What twice the updates add to BLEU, bucket by bucket; a dash for an empty one."""
    pairs = zip(arm.estimates, longer.estimates, strict=True)
    return " ".join(
        f"{twice.value - once.value:+.1f}" if once.filled else "-" for once, twice in pairs
    )


def _doubled(comparison: Comparison, bundle: Bundle) -> pd.DataFrame:
    """The rows of runs of the same seeds and arms that differ in twice the updates alone."""
    runs = bundle.runs
    text = runs.loc[runs["run"] == comparison.none.runs[0], "corpus_fingerprint"].iloc[0]
    return runs[
        (runs["updates"] == 2 * comparison.settings.training.updates)
        & runs["attention"].isin([arm.name for arm in comparison.arms])
        & runs["seed"].isin(comparison.none.seeds)
        & (runs["corpus_fingerprint"] == text)
        & like(runs, comparison.settings, PAIRED)
    ]


def _unchecked(comparison: Comparison, bundle: Bundle, updates: int) -> str:
    """Without a doubled run: what the validation loss says."""
    runs = bundle.runs.drop_duplicates("run").set_index("run")
    falling = [
        arm.name
        for arm in comparison.arms
        if (runs.loc[list(arm.runs), "best_update"] == updates).any()
    ]
    end = (
        f"the validation loss was still falling at the end: {', '.join(falling)}"
        if falling
        else "the validation loss no longer fell at the end"
    )
    return (
        f"Schedule: not shown to be long enough (--check-schedule trains twice as long); {end}. "
        "What an arm lacks may be training."
    )


def _of(bundle: Bundle, comparison: Comparison, doubled: pd.DataFrame, seeds: list[int]) -> Bundle:
    """The comparison's own runs of these seeds and the doubled ones alone."""
    names = {*doubled["run"], *(run for arm in comparison.arms for run in arm.runs)}
    runs = bundle.runs
    return replace(bundle, runs=runs[runs["run"].isin(names) & runs["seed"].isin(seeds)])


def _moved(arm: Arm, longer: Arm, buckets: tuple[str, ...]) -> list[str]:
    """Buckets in which the same seeds, trained twice as long, leave the arm's interval."""
    pairs = zip(buckets, arm.estimates, longer.estimates, strict=True)
    return [
        bucket
        for bucket, once, twice in pairs
        if once.filled and not once.interval.low <= twice.value <= once.interval.high
    ]
