"""What is under a table of runs: what was run, how to read it, and what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..results.bundle import Bundle, other_versions, signatures
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.errors import counted
from ..settings.run import RunSettings
from .comparison import Arm, Comparison, by_bucket, compare, seed_points
from .comparison_groups import NONE, SIZE, WIDTHS, like, listed_runs, seeds_text
from .controlled import only
from .render import small_buckets

LEVELS = (
    "The slide's numbers are its illustration: compare shapes (order, drop, gain), never levels. "
    "BLEU is not comparable across buckets either, because texts of different lengths have "
    "different n-grams: the claim for attention rests on attention minus none within a bucket."
)
RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
ACROSS = (
    "A statement about all cells compares BLEU across buckets, and is no more exact than that is."
)


def run_line(sizes: Sequence[Comparison]) -> str:
    """What was run, in one line."""
    first = sizes[0]
    contexts = ", ".join(str(size.settings.model.context_size) for size in sizes)
    small = small_buckets(first.buckets, first.n)
    return (
        f"{first.settings.corpus.title}, {first.train_pairs:,} training pairs, context {contexts}, "
        f"{first.settings.training.updates:,} updates, {seeds_text(first.none.seeds)}; "
        f"95 % intervals over test sentences{f'. {small}' if small else ''}"
    ).rstrip(".")


def caption(sizes: Sequence[Comparison], bundle: Bundle, *, over_sizes: bool) -> list[str]:
    """What is under one of the slides' tables or, ``over_sizes``, one of several context sizes."""
    first, lines = sizes[0], [LEVELS]
    lines += [f"{RATIO} {ACROSS}"] if over_sizes else []
    lines += [intervals(first.settings), *_seed_lines(sizes)]
    of = {size: f", {_context(size)}" if over_sizes else "" for size in sizes}
    for size in sizes:
        brevity = (f"{arm.name} {by_bucket(arm.brevity, '{:.2f}')}" for arm in size.arms)
        lines.append(f"Brevity penalty by bucket{of[size]}: {'; '.join(brevity)}.")
    lines.append(_run(sizes))
    if texts := dict.fromkeys(text for size in sizes for text in size.differences):
        lines.append(f"The arms differ in more than attention, as chosen: {'; '.join(texts)}.")
    lines += [f"Parameters{of[size]}: {_parameters(size)}." for size in sizes]
    lines += [] if over_sizes else [_training(first, bundle), _schedule(first, bundle)]
    lines += _missing(sizes, bundle, {SIZE, *WIDTHS} if over_sizes else set())
    lines += _text(sizes, bundle)
    lines += dict.fromkeys(note for size in sizes for note in size.facts["notes"])
    used = bundle.runs[bundle.runs["run"].isin(_used(sizes))]
    lines += [small_buckets(first.buckets, first.n), SHORT_SENTENCES, signed(used)]
    return [line for line in lines if line]


def intervals(settings: RunSettings) -> str:
    """What the intervals of a table are."""
    return (
        f"Intervals: 95 % bootstrap over test sentences ({settings.scoring.resamples:,} resamples, "
        "the same for every arm and seed) of the mean over seeds; they do not cover seeds."
    )


def signed(runs: pd.DataFrame) -> str:
    """How these runs were scored: sacreBLEU's signature, or signatures."""
    text = "; ".join(signatures(runs))
    return f"sacreBLEU: {text}" if text else ""


def _context(comparison: Comparison) -> str:
    return f"context {comparison.settings.model.context_size}"


def _used(sizes: Sequence[Comparison]) -> set[str]:
    return {run for size in sizes for arm in size.arms for run in arm.runs}


def _each_arm(sizes: Sequence[Comparison]) -> list[tuple[str, Arm]]:
    """Every arm with its name, which has the context size if there are several."""
    several = len(sizes) > 1
    return [
        (f"{_context(size)}, {arm.name}" if several else arm.name, arm)
        for size in sizes
        for arm in size.arms
    ]


def _seed_lines(sizes: Sequence[Comparison]) -> list[str]:
    """Each seed's BLEU if there are several; else which seed it is."""
    arms = _each_arm(sizes)
    seeds = {arm.seeds for _, arm in arms}
    if len(seeds) == 1 and len(arms[0][1].seeds) == 1:
        return [f"One seed ({arms[0][1].seeds[0]}): nothing is known of the spread over seeds."]
    return [f"BLEU by bucket, {name}, {point}" for name, arm in arms for point in seed_points(arm)]


def _run(sizes: Sequence[Comparison]) -> str:
    """Corpus, network and training."""
    settings = sizes[0].settings
    model, training = settings.model, settings.training
    tokens = training.batch_tokens
    batch = f"about {tokens:,} target tokens" if tokens else f"{training.batch_size} pairs"
    encoder = "bidirectional" if model.bidirectional else "unidirectional"
    reverse = ", reversed source" if model.reverse_source else ""
    contexts = " / ".join(str(size.settings.model.context_size) for size in sizes)
    hidden = dict.fromkeys(str(size.settings.model.hidden) for size in sizes)
    optimizer = "" if training.optimizer == "adam" else f", by {training.optimizer.capitalize()}"
    share = training.average_last
    averaged = f", weights averaged over the last {share:.0%} of them" if share else ""
    return (
        f"Run: corpus {settings.corpus.title}, {sizes[0].train_pairs:,} training pairs; "
        f"{model.cell.upper()}, {encoder}{reverse}, embedding {model.embedding_size}, "
        f"context {contexts}, hidden {' / '.join(hidden)}, placement {model.placement}; "
        f"{training.updates:,} updates of {batch} for each arm{optimizer}{averaged}."
    )


def _parameters(comparison: Comparison) -> str:
    none, other = comparison.none, comparison.attention
    if other is None:
        return f"none {none.parameters:,}"
    counts = f"none {none.parameters:,}, {other.name} {other.parameters:,}"
    if comparison.differences:
        return counts
    return f"{counts} (the score has {other.parameters - none.parameters:,} of them)"


def _training(comparison: Comparison, bundle: Bundle) -> str:
    """Epochs, and the losses at the end in nats per target token, means over seeds.

    If validation's is far above training's, an arm lacks data more than capacity.
    """
    runs = listed_runs(bundle).set_index("run")
    means = {arm.name: runs.loc[list(arm.runs)] for arm in comparison.arms}
    losses = ", ".join(
        f"{name} {rows['train_loss'].mean():.2f} / {rows['valid_loss'].mean():.2f}"
        for name, rows in means.items()
    )
    smoothing = comparison.settings.training.label_smoothing
    smoothed = f" (with label smoothing {smoothing:g})" if smoothing else ""
    return (
        f"Training: {means[NONE]['epochs'].mean():.1f} epochs; loss at the end in nats per target "
        f"token, training{smoothed} / validation: {losses}."
    )


def _schedule(comparison: Comparison, bundle: Bundle) -> str:
    """Whether training twice as long moves a bucket beyond its interval, if that was run."""
    updates = comparison.settings.training.updates
    runs = listed_runs(bundle)
    doubled = runs[
        (runs["updates"] == 2 * updates)
        & runs["attention"].isin([arm.name for arm in comparison.arms])
        & runs["seed"].isin(comparison.none.seeds)
    ]
    if NONE not in set(doubled["attention"]):
        best = runs.set_index("run")["best_update"]
        falling = [
            arm.name for arm in comparison.arms if (best.loc[list(arm.runs)] == updates).any()
        ]
        end = "was still falling at the end" if falling else "no longer fell at the end"
        return (
            "Schedule: not shown to be long enough (--check-schedule trains twice as long); the "
            f"validation loss {end}{': ' if falling else ''}{', '.join(falling)}. What an arm "
            "lacks may be training."
        )
    used = runs["run"].isin(_used([comparison]) | set(doubled["run"]))
    subset = only(bundle, runs[used & runs["seed"].isin(set(doubled["seed"]))])
    once, twice = (compare(subset, length, alone=True) for length in (updates, 2 * updates))
    pairs = list(zip(once.arms, twice.arms, strict=False))
    seeds = seeds_text(sorted({int(seed) for seed in doubled["seed"]}))
    verdict = f"long enough; twice the updates ({seeds}) move no bucket beyond its interval"
    if moved := [bucket for arm, longer in pairs for bucket in _moved(arm, longer)]:
        verdict = (
            f"not long enough; twice the updates ({seeds}) move these buckets beyond the interval "
            f"of the same seeds: {', '.join(moved)}"
        )
    added = "; ".join(f"{arm.name} {_added(arm, longer)}" for arm, longer in pairs)
    return (
        f"Schedule: {verdict}. Twice the training adds, in BLEU from the shortest to the longest "
        f"bucket: {added}."
    )


def _moved(arm: Arm, longer: Arm) -> list[str]:
    """Buckets in which the same seeds, trained twice as long, leave the arm's interval."""
    pairs = zip(arm.buckets, arm.estimates, longer.estimates, strict=True)
    return [
        f"{arm.name} {bucket}"
        for bucket, once, twice in pairs
        if once.filled and not once.interval.low <= twice.value <= once.interval.high
    ]


def _added(arm: Arm, longer: Arm) -> str:
    """What twice the updates add to BLEU, bucket by bucket."""
    pairs = zip(arm.estimates, longer.estimates, strict=True)
    return by_bucket([twice.value - once.value for once, twice in pairs], "{:+.1f}")


def _missing(sizes: Sequence[Comparison], bundle: Bundle, spanned: set[str]) -> list[str]:
    """A line for each kind of run that would belong to the table and is not in it.

    ``spanned`` are the columns that vary along the table.
    """
    unpaired = [
        f"{_context(size)} {name}" if len(sizes) > 1 else name
        for size in sizes
        for name in size.unpaired
    ]
    kinds = {
        "Without a result, and not in this table": _unfinished_runs(sizes, bundle, spanned),
        "Left out, because the other arm lacks that seed": unpaired,
        "Left out": _other_runs(sizes, bundle),
    }
    lines = [f"{head}: {'; '.join(parts)}." for head, parts in kinds.items() if parts]
    return [*lines, other_versions(bundle.environment)]


def _unfinished_runs(sizes: Sequence[Comparison], bundle: Bundle, spanned: set[str]) -> list[str]:
    """``additive context 16 seed 2 (diverged: the loss was no longer finite)``."""
    runs = bundle.unfinished()
    chosen = {text.split()[0] for size in sizes for text in size.differences}
    arms = {arm.name for size in sizes for arm in size.arms}
    belongs = like(runs, sizes[0].settings, {"attention", "seed"} | chosen | spanned)
    belongs &= runs["attention"].isin(arms) | (len(arms) == 1)
    lines = []
    for row in runs[(runs["attention"] == "") | belongs].to_dict("records"):
        name = f"{row['attention']} context {row['context_size']} seed {row['seed']}"
        status = "not ended" if row["status"] == "running" else row["status"]
        reason = f": {row['reason']}" if row["reason"] else ""
        lines.append(f"{name if row['attention'] else 'run ' + row['run']} ({status}{reason})")
    return lines


def _other_runs(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """Finished runs of more updates, and context sizes without the arm to compare with."""
    contexts = [size.settings.model.context_size for size in sizes]
    runs = listed_runs(bundle)
    rest = runs[~runs["run"].isin(_used(sizes))]
    same = rest["updates"] == sizes[0].settings.training.updates
    longer = int((~same).sum())
    alone = sorted(set(rest.loc[same & ~rest[SIZE].isin(contexts), SIZE]))
    reasons = [f"{counted(longer, 'run')} of more updates"] if longer else []
    if alone:
        reasons.append(f"context {', '.join(map(str, alone))} (no run without attention)")
    return reasons


def _text(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """How it was translated, and what is known of the text."""
    settings, facts, none = sizes[0].settings, sizes[0].facts, sizes[0].none
    decoding, corpus = settings.decoding, settings.corpus
    beam = f"beam {decoding.beam_size}, length penalty {decoding.length_penalty:g}"
    unfinished = bundle.runs.groupby("run")["unfinished"].sum()
    cut = (f"{name}: {unfinished.loc[list(arm.runs)].sum():,}" for name, arm in _each_arm(sizes))
    rows = bundle.runs[bundle.runs["run"] == none.runs[0]]
    shares = dict(zip(rows["bucket"], rows["near_copies"], strict=True))
    lines = [
        f"Decoding: {'greedy' if decoding.beam_size == 1 else beam}, at most "
        f"{decoding.cap_factor:g} x source tokens + {decoding.cap_extra} tokens.",
        f"Outputs cut there without an end (all seeds): {'; '.join(cut)}.",
        vocabulary_line(settings, facts),
        near_copies_line(facts, [shares.get(bucket, np.nan) for bucket in none.buckets]),
    ]
    if corpus.longest_trained != corpus.max_words:
        lines.append(
            f"Trained on sentences of at most {corpus.longest_trained} words: the vocabulary is "
            "theirs, and the weights are the best on validation sentences no longer than that."
        )
    return lines


def vocabulary_line(settings: RunSettings, facts: Mapping[str, Any]) -> str:
    """Sizes of the vocabularies, and how much of the test set is unknown."""
    return (
        f"Vocabulary: {facts['source_vocabulary']:,} source and {facts['target_vocabulary']:,} "
        f"target {settings.corpus.tokens}; unknown in the test set: "
        f"{100 * facts['source_unknown']:.2f} % and {100 * facts['target_unknown']:.2f} %."
    )


def near_copies_line(facts: Mapping[str, Any], shares: Sequence[float]) -> str:
    """How near the test text is to the training text; empty if nobody counted."""
    near = facts.get("near_copies")
    if near is None:
        return ""
    return (
        f"Training has {100 * near:.1f} % of the test set's source 5-grams; by bucket "
        f"{by_bucket([100 * share for share in shares])}: if these differ, buckets differ in more "
        "than length."
    )
