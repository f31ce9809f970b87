"""What stands under a table: what was run, what may be compared, and the verdicts; all computed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..claims.rules import RULES, verdict_on
from ..claims.verdict import Verdict, marked
from ..results.bundle import Bundle, signatures
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.run import RunSettings
from .comparison import Comparison, seed_points
from .missing import SPANNED, missing
from .schedule import schedule, training_line

LEVELS = (
    "The slide's numbers are the slide's illustration: compare shapes (order, drop, gain), never "
    "levels. BLEU levels are not comparable across buckets either, since texts of other lengths "
    "have other n-grams: what falls from bucket to bucket is read with that in mind, and the claim "
    "for attention rests on attention minus none within a bucket."
)


RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
LOOSE = (
    "What is said of all cells together does compare BLEU across buckets: it is as loose as that "
    "is."
)


def failure_verdicts(comparison: Comparison) -> list[Verdict]:
    """Whether the failure pattern held, and by which rule."""
    return [verdict_on("L-FAIL", comparison.scores)]


def vindication_verdicts(comparison: Comparison) -> list[Verdict]:
    """Whether the vindication held, and by which rules."""
    return [verdict_on(claim, comparison.scores) for claim in RULES if claim != "L-FAIL"]


def common_caption(comparison: Comparison, bundle: Bundle) -> list[str]:
    """What stands under both of the slides' tables."""
    lines = [
        LEVELS,
        intervals(comparison.settings),
        *_points([comparison]),
        f"Brevity penalty by bucket: {_brevity(comparison)}.",
        _what_ran([comparison]),
        _differences([comparison]),
        f"Parameters: {_parameters(comparison)}.",
        training_line(comparison, bundle),
        schedule(comparison, bundle),
        *missing([comparison], bundle),
        *_texts([comparison], bundle),
    ]
    return [line for line in lines if line]


def sizes_caption(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """What stands under a table of several context sizes."""
    lines = [
        LEVELS,
        f"{RATIO} {LOOSE}",
        intervals(sizes[0].settings),
        *_points(sizes),
        *(f"Brevity penalty by bucket, {_size(one)}: {_brevity(one)}." for one in sizes),
        _what_ran(sizes),
        _differences(sizes),
        *(f"Parameters, {_size(one)}: {_parameters(one)}." for one in sizes),
        *missing(sizes, bundle, SPANNED),
        *_texts(sizes, bundle),
    ]
    return [line for line in lines if line]


def _texts(sizes: Sequence[Comparison], bundle: Bundle) -> list[str]:
    """Search, vocabulary and notes of the corpus, small buckets, and how BLEU was scored."""
    notes = [note for one in sizes for note in one.facts["notes"]]
    return [
        _search(sizes[0].settings),
        _unfinished(sizes, bundle),
        _vocabulary(sizes[0].settings, sizes[0].facts),
        _near_copies(sizes[0].facts, _shares(sizes[0], bundle)),
        _trained_lengths(sizes[0].settings),
        *dict.fromkeys(notes),
        _small(sizes[0]),
        SHORT_SENTENCES,
        _scored(sizes, bundle),
    ]


def _scored(sizes: Sequence[Comparison], bundle: Bundle) -> str:
    runs = [run for one in sizes for arm in one.arms for run in arm.runs]
    return signed(bundle.runs[bundle.runs["run"].isin(runs)])


def signed(runs: pd.DataFrame) -> str:
    """How these runs were scored: sacreBLEU's signature, all where they have several."""
    held = "; ".join(signatures(runs))
    return f"sacreBLEU: {held}" if held else ""


def _size(comparison: Comparison) -> str:
    return f"context {comparison.settings.model.context_size}"


def _points(sizes: Sequence[Comparison]) -> list[str]:
    """Each seed's BLEU where there are several; else which seed it is."""
    arms = [(one, arm) for one in sizes for arm in one.arms]
    seeds = {arm.seeds for _, arm in arms}
    if len(seeds) == 1 and len(arms[0][1].seeds) == 1:
        return [f"One seed ({arms[0][1].seeds[0]}): nothing is known of the spread over seeds."]
    return [
        f"BLEU by bucket, {_of_size(one, sizes)}{arm.name}, {point}"
        for one, arm in arms
        for point in seed_points(arm)
    ]


def intervals(settings: RunSettings) -> str:
    """What the ranges of a table are."""
    return (
        f"Ranges: 95 % bootstrap over test sentences ({settings.scoring.resamples:,} resamples, "
        "the same for every arm and seed) of the mean over seeds; they do not cover seeds."
    )


def _what_ran(sizes: Sequence[Comparison]) -> str:
    settings = sizes[0].settings
    model, training = settings.model, settings.training
    tokens = training.batch_tokens
    batch = f"about {tokens:,} target tokens" if tokens else f"{training.batch_size} pairs"
    encoder = "two-way" if model.bidirectional else "one-way"
    if model.reverse_source:
        encoder += ", reversed source"
    contexts = [one.settings.model.context_size for one in sizes]
    hidden = list(dict.fromkeys(one.settings.model.hidden for one in sizes))
    return (
        f"Run: corpus {settings.corpus.title}, {sizes[0].train_pairs:,} training pairs; "
        f"{model.cell.upper()}, {encoder}, embedding {model.embedding_size}, context "
        f"{_either(contexts)}, hidden {_either(hidden)}, placement {model.placement}; "
        f"{training.updates:,} updates of {batch} for each arm{_optimizer(training.optimizer)}"
        f"{_averaged(training.average_last)}."
    )


def _optimizer(name: str) -> str:
    return "" if name == "adam" else f", by {name.capitalize()}"


def _averaged(share: float) -> str:
    return f", weights the mean over the last {share:.0%} of them" if share else ""


def _differences(sizes: Sequence[Comparison]) -> str:
    """In what the arms differ beside attention, which is nothing but what the user chose."""
    held = dict.fromkeys(text for one in sizes for text in one.differences)
    return f"The arms differ in more than attention, as chosen: {'; '.join(held)}." if held else ""


def _either(values: Sequence[int]) -> str:
    return " / ".join(map(str, values))


def _parameters(comparison: Comparison) -> str:
    none, other = comparison.none, comparison.attention
    if other is None:
        return f"none {none.parameters:,}"
    counts = f"none {none.parameters:,}, {other.name} {other.parameters:,}"
    if comparison.differences:
        return counts
    return f"{counts} (the score's own: {other.parameters - none.parameters:,})"


def _vocabulary(settings: RunSettings, facts: Mapping[str, Any]) -> str:
    return (
        f"Vocabulary: {facts['source_vocabulary']:,} source and {facts['target_vocabulary']:,} "
        f"target {settings.corpus.tokens}; unknown in the test set: "
        f"{100 * facts['source_unknown']:.2f} % and {100 * facts['target_unknown']:.2f} %."
    )


def _shares(comparison: Comparison, bundle: Bundle) -> list[float]:
    """Of each bucket's source 5-grams the share, 0 to 1, that training holds; nan without any."""
    rows = bundle.runs[bundle.runs["run"] == comparison.none.runs[0]]
    known = dict(zip(rows["bucket"], rows["near_copies"], strict=True))
    return [known.get(bucket, np.nan) for bucket in comparison.buckets]


def _near_copies(facts: Mapping[str, Any], shares: Sequence[float]) -> str:
    """How near the test text is to the training text; empty where nobody counted."""
    near = facts.get("near_copies")
    if near is None:
        return ""
    told = " ".join("-" if np.isnan(each) else f"{100 * each:.1f}" for each in shares)
    return (
        f"Of the test set's source 5-grams training holds {100 * near:.1f} %; by bucket {told}: "
        "where these differ, buckets differ in more than length."
    )


def _trained_lengths(settings: RunSettings) -> str:
    """What else comes with shorter training sentences; empty where they are as long as the test's.

    Such runs are compared over lengths, and differ in this as well.
    """
    corpus = settings.corpus
    if corpus.longest_trained == corpus.max_words:
        return ""
    return (
        f"Trained on sentences of at most {corpus.longest_trained} words: the vocabulary is "
        "theirs, and the weights are the best on validation sentences no longer than that."
    )


def _search(settings: RunSettings) -> str:
    decoding = settings.decoding
    beam = f"beam {decoding.beam_size}, length penalty {decoding.length_penalty:g}"
    search = "greedy" if decoding.beam_size == 1 else beam
    return (
        f"Decoding: {search}, at most {decoding.cap_factor:g} x source tokens + "
        f"{decoding.cap_extra} tokens."
    )


def _unfinished(sizes: Sequence[Comparison], bundle: Bundle) -> str:
    """How many outputs were cut there, and so are longer than they should be."""
    runs = bundle.runs.groupby("run")["unfinished"].sum().to_dict()
    counts = [
        f"{_of_size(one, sizes)}{arm.name}: {sum(int(runs[run]) for run in arm.runs):,}"
        for one in sizes
        for arm in one.arms
    ]
    return f"Outputs without an end, cut there (all seeds): {'; '.join(counts)}."


def _of_size(one: Comparison, sizes: Sequence[Comparison]) -> str:
    return f"{_size(one)}, " if len(sizes) > 1 else ""


def _brevity(comparison: Comparison) -> str:
    """Brevity penalties of the arms, for which most tables have no room."""
    return "; ".join(
        f"{arm.name} " + " ".join(_two(value) for value in arm.brevity) for arm in comparison.arms
    )


def _two(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _small(comparison: Comparison) -> str:
    rows = zip(comparison.buckets, comparison.n, strict=True)
    small = [f"{name} (n = {n})" for name, n in rows if marked(n)]
    return f"* under 100 sentences: {', '.join(small)}." if small else ""
