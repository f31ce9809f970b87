"""What stands under a table: what was run, what may be compared, and the verdicts; all computed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..claims.rules import failure_pattern, vindication, vindication_largest
from ..claims.verdict import Verdict, marked
from ..results.bundle import Bundle
from ..scoring.bleu import SHORT_SENTENCES, bleu_signature
from ..settings.run import RunSettings
from .comparison import Arm, Comparison, compare, seed_points

LEVELS = (
    "The slide's numbers are the slide's illustration: compare shapes (order, drop, gain), never "
    "levels. BLEU levels are not comparable across buckets either, since texts of other lengths "
    "have other n-grams; the claim rests on attention minus none within a bucket."
)


def failure_verdicts(comparison: Comparison) -> list[str]:
    """Whether the failure pattern held, and by which rule."""
    return _verdict(failure_pattern(comparison.scores))


def vindication_verdicts(comparison: Comparison) -> list[str]:
    """Whether the vindication held, and by which rules."""
    return [
        *_verdict(vindication(comparison.scores)),
        *_verdict(vindication_largest(comparison.scores)),
    ]


def _verdict(verdict: Verdict) -> list[str]:
    return [f"{verdict.claim}: {verdict.verdict}: {verdict.because}.", f"Rule: {verdict.rule}"]


def common_caption(comparison: Comparison, bundle: Bundle) -> list[str]:
    """What stands under both tables."""
    arms = (comparison.none, comparison.attention)
    lines = [
        LEVELS,
        _intervals(comparison.settings),
        *(f"BLEU by bucket, {arm.name}, {point}" for arm in arms for point in seed_points(arm)),
        _brevity(comparison),
        _what_ran(comparison.settings, bundle),
        _parameters(comparison),
        _search(comparison.settings),
        schedule(comparison, bundle),
        _vocabulary(comparison.facts),
        *comparison.facts["notes"],
        _small(comparison),
        SHORT_SENTENCES,
        f"sacreBLEU: {bleu_signature()}",
    ]
    return [line for line in lines if line]


def _intervals(settings: RunSettings) -> str:
    return (
        f"Ranges: 95 % bootstrap over test sentences ({settings.scoring.resamples:,} resamples, "
        "the same for every arm and seed) of the mean over seeds; they do not cover seeds."
    )


def _what_ran(settings: RunSettings, bundle: Bundle) -> str:
    model, training = settings.model, settings.training
    first = bundle.runs.iloc[0]
    tokens = training.batch_tokens
    batch = f"about {tokens:,} target tokens" if tokens else f"{training.batch_size} pairs"
    encoder = "two-way" if model.bidirectional else "one-way"
    if model.reverse_source:
        encoder += ", reversed source"
    return (
        f"Run: corpus {settings.corpus.name}, {int(first['train_pairs']):,} training pairs; "
        f"{model.cell.upper()}, {encoder}, embedding {model.embedding_size}, context "
        f"{model.context_size}, hidden {model.hidden}, placement {model.placement}; "
        f"{training.updates:,} updates of {batch} for each arm."
    )


def _parameters(comparison: Comparison) -> str:
    none, other = comparison.none, comparison.attention
    return (
        f"Parameters: none {none.parameters:,}, {other.name} {other.parameters:,} "
        f"(the score's own: {other.parameters - none.parameters:,})."
    )


def _vocabulary(facts: Mapping[str, Any]) -> str:
    return (
        f"Vocabulary: {facts['source_vocabulary']:,} source and {facts['target_vocabulary']:,} "
        f"target words; unknown in the test set: {100 * facts['source_unknown']:.2f} % and "
        f"{100 * facts['target_unknown']:.2f} %."
    )


def _search(settings: RunSettings) -> str:
    decoding = settings.decoding
    search = "greedy" if decoding.beam_size == 1 else f"beam {decoding.beam_size}"
    return (
        f"Decoding: {search}, at most {decoding.cap_factor:g} x source tokens + "
        f"{decoding.cap_extra} tokens."
    )


def _brevity(comparison: Comparison) -> str:
    """Brevity penalties of both arms, for which the second table has no room."""
    arms = (comparison.none, comparison.attention)
    shown = [f"{arm.name} " + " ".join(_two(value) for value in arm.brevity) for arm in arms]
    return f"Brevity penalty by bucket: {'; '.join(shown)}."


def _two(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _small(comparison: Comparison) -> str:
    rows = zip(comparison.buckets, comparison.n, strict=True)
    small = [f"{name} (n = {n})" for name, n in rows if marked(n)]
    return f"* under 100 sentences: {', '.join(small)}." if small else ""


def schedule(comparison: Comparison, bundle: Bundle) -> str:
    """Whether training twice as long moves a bucket beyond its interval, where that was run."""
    updates = comparison.settings.training.updates
    doubled = bundle.runs[bundle.runs["updates"] == 2 * updates]
    if doubled.empty:
        return (
            "Schedule: not checked against one twice as long (--check-schedule does); "
            "what an arm lacks may be training."
        )
    longer = compare(bundle, 2 * updates)
    moved = [
        f"{arm.name} {bucket}"
        for arm, twice in ((comparison.none, longer.none), (comparison.attention, longer.attention))
        for bucket in _moved(arm, twice, comparison.buckets)
    ]
    if not moved:
        return "Schedule: long enough; twice the updates move no bucket beyond its interval."
    return (
        "Schedule: not long enough; twice the updates move these buckets beyond their interval: "
        f"{', '.join(moved)}."
    )


def _moved(arm: Arm, twice: Arm, buckets: tuple[str, ...]) -> list[str]:
    """Buckets in which the first seed, trained twice as long, leaves the arm's interval."""
    pairs = zip(buckets, arm.estimates, twice.estimates, strict=True)
    return [
        bucket
        for bucket, once, double in pairs
        if once.filled and not once.interval.low <= double.value <= once.interval.high
    ]
