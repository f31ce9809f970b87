"""What is under a table of runs: what was run, how to read it, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..claims.rules import RULES, verdict_on
from ..claims.verdict import Verdict, marked
from ..results.bundle import Bundle, other_versions, signatures
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.run import RunSettings
from .comparison import NONE, Arm, Comparison, compare, seed_points
from .comparison_groups import PAIRED, like, seeds_text

LEVELS = (
    "The slide's numbers are its illustration: compare shapes (order, drop, gain), never levels. "
    "BLEU is not comparable across buckets either, because texts of different lengths have "
    "different n-grams: the claim for attention rests on attention minus none within a bucket."
)
RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
ACROSS = (
    "A statement about all cells compares BLEU across buckets, and is no more exact than that is."
)
SPANNED = frozenset({"context_size", "hidden_size", "attention_size"})
"""Columns that may vary along a table over context sizes."""


def failure_verdicts(comparison: Comparison) -> list[Verdict]:
    """Whether the failure pattern held, and by which rule."""
    return [verdict_on("L-FAIL", comparison.scores)]


def vindication_verdicts(comparison: Comparison) -> list[Verdict]:
    """Whether the vindication held, and by which rules."""
    return [verdict_on(claim, comparison.scores) for claim in RULES if claim != "L-FAIL"]


def run_line(sizes: Sequence[Comparison]) -> str:
    """What was run, in one line."""
    first = sizes[0]
    contexts = ", ".join(str(size.settings.model.context_size) for size in sizes)
    small = _small_buckets(first)
    return (
        f"{first.settings.corpus.title}, {first.train_pairs:,} training pairs, context {contexts}, "
        f"{first.settings.training.updates:,} updates, {seeds_text(first.none.seeds)}; "
        f"95 % intervals over test sentences{f'. {small}' if small else ''}"
    ).rstrip(".")


def common_caption(comparison: Comparison, bundle: Bundle) -> list[str]:
    """What is under both of the slides' tables."""
    lines = [
        LEVELS,
        intervals(comparison.settings),
        *_seed_lines([comparison]),
        f"Brevity penalty by bucket: {_brevity(comparison)}.",
        _run([comparison]),
        _chosen_differences([comparison]),
        f"Parameters: {_parameters(comparison)}.",
        _training(comparison, bundle),
        _schedule(comparison, bundle),
        *_missing([comparison], bundle, frozenset()),
        *_text_lines([comparison], bundle),
    ]
    return [line for line in lines if line]


def sizes_caption(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """What is under a table of several context sizes."""
    lines = [
        LEVELS,
        f"{RATIO} {ACROSS}",
        intervals(sizes[0].settings),
        *_seed_lines(sizes),
        *(f"Brevity penalty by bucket, {_context(size)}: {_brevity(size)}." for size in sizes),
        _run(sizes),
        _chosen_differences(sizes),
        *(f"Parameters, {_context(size)}: {_parameters(size)}." for size in sizes),
        *_missing(sizes, bundle, SPANNED),
        *_text_lines(sizes, bundle),
    ]
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


def _of_size(size: Comparison, sizes: Sequence[Comparison]) -> str:
    return f"{_context(size)}, " if len(sizes) > 1 else ""


def _seed_lines(sizes: Sequence[Comparison]) -> list[str]:
    """Each seed's BLEU if there are several; else which seed it is."""
    arms = [(size, arm) for size in sizes for arm in size.arms]
    seeds = {arm.seeds for _, arm in arms}
    if len(seeds) == 1 and len(arms[0][1].seeds) == 1:
        return [f"One seed ({arms[0][1].seeds[0]}): nothing is known of the spread over seeds."]
    return [
        f"BLEU by bucket, {_of_size(size, sizes)}{arm.name}, {point}"
        for size, arm in arms
        for point in seed_points(arm)
    ]


def _brevity(comparison: Comparison) -> str:
    """The arms' brevity penalties by bucket."""
    return "; ".join(
        f"{arm.name} "
        + " ".join("-" if np.isnan(value) else f"{value:.2f}" for value in arm.brevity)
        for arm in comparison.arms
    )


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


def _chosen_differences(sizes: Sequence[Comparison]) -> str:
    """In what else than attention the arms differ, if the user chose it."""
    texts = dict.fromkeys(text for size in sizes for text in size.differences)
    return (
        f"The arms differ in more than attention, as chosen: {'; '.join(texts)}." if texts else ""
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
        f"Training: {epochs:.1f} epochs; loss at the end in nats per target token, training"
        f"{smoothed} / validation: {', '.join(losses)}."
    )


def _schedule(comparison: Comparison, bundle: Bundle) -> str:
    """Whether training twice as long moves a bucket beyond its interval, if that was run."""
    updates = comparison.settings.training.updates
    doubled = _doubled(comparison, bundle)
    if NONE not in set(doubled["attention"]):
        runs = bundle.runs.drop_duplicates("run").set_index("run")
        falling = [
            arm.name
            for arm in comparison.arms
            if (runs.loc[list(arm.runs), "best_update"] == updates).any()
        ]
        end = "was still falling at the end" if falling else "no longer fell at the end"
        return (
            "Schedule: not shown to be long enough (--check-schedule trains twice as long); the "
            f"validation loss {end}{': ' if falling else ''}{', '.join(falling)}. What an arm "
            "lacks may be training."
        )
    seeds = sorted({int(seed) for seed in doubled["seed"]})
    names = {*doubled["run"], *(run for arm in comparison.arms for run in arm.runs)}
    same = bundle.runs["run"].isin(names) & bundle.runs["seed"].isin(seeds)
    subset = replace(bundle, runs=bundle.runs[same])
    once, twice = (compare(subset, length, alone=True) for length in (updates, 2 * updates))
    pairs = list(zip(once.arms, twice.arms, strict=False))
    moved = [
        f"{arm.name} {bucket}"
        for arm, longer in pairs
        for bucket in _moved(arm, longer, comparison.buckets)
    ]
    verdict = (
        f"not long enough; twice the updates ({seeds_text(seeds)}) move these buckets beyond the "
        f"interval of the same seeds: {', '.join(moved)}"
        if moved
        else f"long enough; twice the updates ({seeds_text(seeds)}) move no bucket beyond its "
        "interval"
    )
    added = "; ".join(f"{arm.name} {_added(arm, longer)}" for arm, longer in pairs)
    return (
        f"Schedule: {verdict}. Twice the training adds, in BLEU from the shortest to the longest "
        f"bucket: {added}."
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


def _moved(arm: Arm, longer: Arm, buckets: tuple[str, ...]) -> list[str]:
    """Buckets in which the same seeds, trained twice as long, leave the arm's interval."""
    pairs = zip(buckets, arm.estimates, longer.estimates, strict=True)
    return [
        bucket
        for bucket, once, twice in pairs
        if once.filled and not once.interval.low <= twice.value <= once.interval.high
    ]


def _added(arm: Arm, longer: Arm) -> str:
    """What twice the updates add to BLEU, bucket by bucket; a dash for an empty one."""
    pairs = zip(arm.estimates, longer.estimates, strict=True)
    return " ".join(
        f"{twice.value - once.value:+.1f}" if once.filled else "-" for once, twice in pairs
    )


def _missing(sizes: Sequence[Comparison], bundle: Bundle, spanned: frozenset[str]) -> list[str]:
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


def _unfinished_runs(
    sizes: Sequence[Comparison], bundle: Bundle, spanned: frozenset[str]
) -> list[str]:
    """``additive context 16 seed 2 (diverged: the loss was no longer finite)``."""
    runs = bundle.unfinished()
    if runs.empty:
        return []
    chosen = {text.split()[0] for size in sizes for text in size.differences}
    arms = {arm.name for size in sizes for arm in size.arms}
    belongs = like(runs, sizes[0].settings, (PAIRED - {"updates"}) | chosen | spanned)
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
    used = {run for size in sizes for arm in size.arms for run in arm.runs}
    contexts = [size.settings.model.context_size for size in sizes]
    runs = bundle.runs.drop_duplicates("run")
    rest = runs[~runs["run"].isin(used)]
    same = rest["updates"] == sizes[0].settings.training.updates
    longer = int((~same).sum())
    lacking = rest.loc[same & ~rest["context_size"].isin(contexts), "context_size"]
    alone = sorted(lacking.drop_duplicates())
    reasons = [
        f"{longer} run{'s' if longer > 1 else ''} of more updates" if longer else "",
        f"context {', '.join(map(str, alone))} (no run without attention)" if alone else "",
    ]
    return [reason for reason in reasons if reason]


def _text_lines(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """Search, vocabulary and notes of the corpus, small buckets, and how BLEU was scored."""
    first = sizes[0]
    runs = [run for size in sizes for arm in size.arms for run in arm.runs]
    unfinished = bundle.runs.groupby("run")["unfinished"].sum().to_dict()
    cut = "; ".join(
        f"{_of_size(size, sizes)}{arm.name}: {sum(int(unfinished[run]) for run in arm.runs):,}"
        for size in sizes
        for arm in size.arms
    )
    return [
        _search(first.settings),
        f"Outputs cut there without an end (all seeds): {cut}.",
        vocabulary_line(first.settings, first.facts),
        near_copies_line(first.facts, _near_copy_shares(first, bundle)),
        _trained_lengths(first.settings),
        *dict.fromkeys(note for size in sizes for note in size.facts["notes"]),
        _small_buckets(first),
        SHORT_SENTENCES,
        signed(bundle.runs[bundle.runs["run"].isin(runs)]),
    ]


def _search(settings: RunSettings) -> str:
    decoding = settings.decoding
    beam = f"beam {decoding.beam_size}, length penalty {decoding.length_penalty:g}"
    search = "greedy" if decoding.beam_size == 1 else beam
    return (
        f"Decoding: {search}, at most {decoding.cap_factor:g} x source tokens + "
        f"{decoding.cap_extra} tokens."
    )


def vocabulary_line(settings: RunSettings, facts: Mapping[str, Any]) -> str:
    """Sizes of the vocabularies, and how much of the test set is unknown."""
    return (
        f"Vocabulary: {facts['source_vocabulary']:,} source and {facts['target_vocabulary']:,} "
        f"target {settings.corpus.tokens}; unknown in the test set: "
        f"{100 * facts['source_unknown']:.2f} % and {100 * facts['target_unknown']:.2f} %."
    )


def _near_copy_shares(comparison: Comparison, bundle: Bundle) -> list[float]:
    """Of each bucket's source 5-grams the share, 0 to 1, that training has; nan without any."""
    rows = bundle.runs[bundle.runs["run"] == comparison.none.runs[0]]
    known = dict(zip(rows["bucket"], rows["near_copies"], strict=True))
    return [known.get(bucket, np.nan) for bucket in comparison.buckets]


def near_copies_line(facts: Mapping[str, Any], shares: Sequence[float]) -> str:
    """How near the test text is to the training text; empty if nobody counted."""
    near = facts.get("near_copies")
    if near is None:
        return ""
    by_bucket = " ".join("-" if np.isnan(share) else f"{100 * share:.1f}" for share in shares)
    return (
        f"Training has {100 * near:.1f} % of the test set's source 5-grams; by bucket {by_bucket}: "
        "if these differ, buckets differ in more than length."
    )


def _trained_lengths(settings: RunSettings) -> str:
    """What else comes with shorter training sentences; empty if they are as long as the test's."""
    corpus = settings.corpus
    if corpus.longest_trained == corpus.max_words:
        return ""
    return (
        f"Trained on sentences of at most {corpus.longest_trained} words: the vocabulary is "
        "theirs, and the weights are the best on validation sentences no longer than that."
    )


def _small_buckets(comparison: Comparison) -> str:
    rows = zip(comparison.buckets, comparison.n, strict=True)
    small = [f"{name} (n = {n})" for name, n in rows if marked(n)]
    return f"* under 100 sentences: {', '.join(small)}." if small else ""
