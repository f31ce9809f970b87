"""The tables by name, of a bundle's runs, of a study, of gold links, and the captions of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from ..claims.registry import CLAIMS, verdict_on
from ..lecture.slides import L4
from ..results.bundle import Bundle, load_results, other_versions, signatures, without_result
from ..results.folders import made_of
from ..results.schema import GOLD, QUESTIONS
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.errors import UsageError, counted, did_you_mean
from ..settings.run import RunSettings
from . import run_tables
from .comparison import Arm, Comparison, arm_of, attentions, by_bucket, compare, compare_sizes
from .comparison_groups import MOST_POINTS, NONE, describe, listed_runs, seeds_text
from .decided import holds_results, judge
from .names import GOLD_TABLE, TABLES
from .page import Page
from .render import small_buckets
from .selection import where

LEVELS = (
    "The slide's numbers are its illustration: compare shapes (order, drop, gain), never levels. "
    "BLEU is not comparable across buckets either, because texts of different lengths have "
    "different n-grams: the claim for attention rests on attention minus none within a bucket."
)
RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
ACROSS = (
    "A statement about all cells compares BLEU across buckets, and is no more exact than that is."
)
SLIDE_WORDS = (
    "Slide L4 (100 numbers per word, 256 for the sentence): "
    + "; ".join(f"{row.words} words {row.printed_ratio}:1 {row.quality}" for row in L4)
    + ". Each row has the word of the slide's highest ratio that does not exceed its own, before "
    f"the slide's rounding ({', '.join(f'{row.ratio:.3g}' for row in L4)}); lower ratios are "
    f"{L4[0].quality} too, for which the slide has no better word."
)
ARM_NAMES = (
    "An arm is all runs that differ in their seed alone, called by its attention and by the "
    "settings in which it is not as most arms are. n: test sentences, on a screen of most arms "
    "above the columns, of another under its name. BLEU levels are not comparable across buckets, "
    "since texts of other lengths have other n-grams: compare arms within one."
)


def slide_pages(bundle: Bundle) -> list[Page]:
    """The failure pattern and the vindication of a bundle of two arms."""
    sizes = [compare(bundle)]
    return [_comparing_page(name, bundle, sizes) for name in ("failure-pattern", "vindication")]


def study_pages(study: str, folder: Path, runs: pd.DataFrame | None = None) -> list[Page]:
    """The tables of a question of `QUESTIONS` or `GOLD`, from ``probes/NAME.csv`` of a bundle.

    The last one has the verdicts. ``runs`` is the folder's tidy table, if it has been read.
    """
    question = import_module("...questions.question", __name__).find_question(study)
    with made_of(folder, study):
        frame = question.load(folder)
        if runs is None and holds_results(folder):
            runs = load_results(folder)
        claims = [claim for claim in CLAIMS if claim.study in (study, study.removesuffix("_gold"))]
        judged = [judge(claim, frame, runs)[0] for claim in claims]
        *first, last = question.pages(frame)
        return [*first, replace(last, judged=judged)]


def make_page(name: str, bundle: Bundle) -> Page:
    """The table of a name in `TABLES` (underscores do as well) or `QUESTIONS`, or `GOLD_TABLE`.

    ``UsageError`` for another name, ``UserError`` where the bundle has not what the table needs.
    """
    check_name(name)
    if name in QUESTIONS:
        return study_pages(name, bundle.folder)[0]
    dashed = name.replace("_", "-")
    if dashed == GOLD_TABLE:
        return study_pages(GOLD, bundle.folder)[0]
    if dashed == "arms":
        return _arms_page(bundle)
    several = dashed == "failure-pattern" and len(attentions(bundle)) > 1
    if several or dashed == "compression":  # what they measure needs no attention
        bundle = where(bundle, [f"attention={NONE}"])
    if dashed in ("context-size", "compression"):
        return _comparing_page(dashed, bundle, compare_sizes(bundle))
    comparison = compare(bundle, alone=dashed == "failure-pattern")
    return _comparing_page(dashed, bundle, [comparison])


def check_name(name: str) -> None:
    """Refuse a name that `make_page` does not know as a ``UsageError``, before anything is read."""
    known = (*TABLES, *QUESTIONS, GOLD_TABLE)
    if name not in known and name.replace("_", "-") not in known:
        raise UsageError(f"unknown table {name!r}{did_you_mean(name, known)}")


def _comparing_page(name: str, bundle: Bundle, sizes: Sequence[Comparison]) -> Page:
    """The page of a table of both arms, of one context size or of several."""
    frame = run_tables.run_data(name, sizes)
    attention = next((size.attention.name for size in sizes if size.attention), None)
    over_sizes = name not in ("failure-pattern", "vindication")
    if over_sizes:
        judged = [verdict_on("C1", run_tables.cells(sizes))]
    else:
        start = "L-FAIL" if name == "failure-pattern" else "L-VIND"
        ids = [claim.id for claim in CLAIMS if claim.id.startswith(start)]
        judged = [verdict_on(claim, sizes[0].scores) for claim in ids]
    head = {"failure-pattern": [RATIO], "compression": [SLIDE_WORDS]}.get(name, [])
    return Page(
        name.replace("-", "_"),
        run_tables.TITLES[name].format(attention=attention),
        frame,
        run_tables.run_table(name, frame, attention),
        judged,
        [*head, *caption(sizes, bundle, over_sizes=over_sizes)],
        run_line(sizes),
    )


def _arms_page(bundle: Bundle) -> Page:
    """The page of all arms."""
    frame, runs = run_tables.arms(bundle), listed_runs(bundle)
    lines = [
        ARM_NAMES,
        intervals(bundle.settings(runs["run"].iloc[0])),
        f"{describe(runs)}.",
        without_result(bundle.environment),
        other_versions(bundle.environment),
        SHORT_SENTENCES,
        signed(bundle.runs),
    ]
    return Page(
        "arms",
        run_tables.TITLES["arms"],
        frame,
        run_tables.run_table("arms", frame),
        [],
        [line for line in lines if line],
        f"{describe(runs)}; 95 % intervals over test sentences",
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
    first, runs, several = sizes[0], listed_runs(bundle), len(sizes) > 1
    arms = {
        f"context {size.settings.model.context_size}, {arm.name}" if several else arm.name: arm
        for size in sizes
        for arm in size.arms
    }
    used = {run for arm in arms.values() for run in arm.runs}
    rest = runs[~runs["run"].isin(used)]
    facts, decoding, corpus = first.facts, first.settings.decoding, first.settings.corpus
    beam = f"beam {decoding.beam_size}, length penalty {decoding.length_penalty:g}"
    near, of_run = facts.get("near_copies"), bundle.runs["run"] == first.none.runs[0]
    shares = bundle.runs[of_run].set_index("bucket")["near_copies"].reindex(list(first.buckets))
    left_out = "Left out, as trained longer or without the other arm of the same size and seed"
    unfinished = bundle.runs.groupby("run")["unfinished"].sum()
    cut = (f"{name}: {unfinished.loc[list(arm.runs)].sum():,}" for name, arm in arms.items())
    lines = [
        LEVELS,
        f"{RATIO} {ACROSS}" if over_sizes else "",
        intervals(first.settings),
        *seed_lines(arms),
        _run(sizes),
        f"Parameters: {'; '.join(f'{name} {arm.parameters:,}' for name, arm in arms.items())}.",
        *([] if over_sizes else [_training(first, runs), _schedule(first, bundle)]),
        f"{left_out}: {describe(rest)}." if len(rest) else "",
        without_result(bundle.environment),
        other_versions(bundle.environment),
        f"Decoding: {beam if decoding.beam_size > 1 else 'greedy'}, at most "
        f"{decoding.cap_factor:g} x source tokens + {decoding.cap_extra} tokens.",
        f"Outputs cut there without an end (all seeds): {'; '.join(cut)}.",
        f"Trained on sentences of at most {corpus.longest_trained} words: the vocabulary is "
        "theirs, and the weights are the best on validation sentences no longer than that."
        if corpus.longest_trained != corpus.max_words
        else "",
        f"Vocabulary: {facts['source_vocabulary']:,} source and {facts['target_vocabulary']:,} "
        f"target {corpus.tokens}; unknown in the test set: {100 * facts['source_unknown']:.2f} % "
        f"and {100 * facts['target_unknown']:.2f} %.",
        f"Training has {100 * near:.1f} % of the test set's source 5-grams; by bucket "
        f"{by_bucket(100 * shares)}: if these differ, buckets differ in more than length."
        if near is not None
        else "",
        *dict.fromkeys(note for size in sizes for note in size.facts["notes"]),
        small_buckets(first.buckets, first.n),
        SHORT_SENTENCES,
        signed(bundle.runs[bundle.runs["run"].isin(used)]),
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


def seed_lines(arms: Mapping[str, Arm]) -> Iterator[str]:
    """BLEU by bucket of each seed (seeds are points), or of many what they lie between."""
    seeds = {arm.seeds for arm in arms.values()}
    if len(seeds) == 1 and len(min(seeds)) == 1:
        yield f"One seed ({min(seeds)[0]}): nothing is known of the spread over seeds."
        return
    for name, arm in arms.items():
        count = counted(len(arm.seeds), "seed")
        if len(arm.seeds) > MOST_POINTS:
            heads = [f"{end} of {count}" for end in ("lowest", "median", "highest")]
            points = [*np.quantile(arm.by_seed, (0.0, 0.5, 1.0), axis=0)]
        else:
            heads, points = [f"seed {seed}" for seed in arm.seeds], [*arm.by_seed]
        if len(arm.seeds) > 1:
            heads.append(f"standard deviation over {count}")
            points.append(arm.by_seed.std(axis=0, ddof=1))
        for head, values in zip(heads, points, strict=True):
            yield f"BLEU by bucket, {name}, {head}: {by_bucket(values)}"


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


def _training(comparison: Comparison, runs: pd.DataFrame) -> str:
    """Epochs, and the losses at the end in nats per target token, means over seeds.

    If validation's is far above training's, an arm lacks data more than capacity.
    """
    columns = ["epochs", "train_loss", "valid_loss"]
    means = {a.name: runs[runs["run"].isin(a.runs)][columns].mean() for a in comparison.arms}
    losses = ", ".join(
        f"{name} {mean['train_loss']:.2f} / {mean['valid_loss']:.2f}"
        for name, mean in means.items()
    )
    smoothing = comparison.settings.training.label_smoothing
    smoothed = f" (with label smoothing {smoothing:g})" if smoothing else ""
    return (
        f"Training: {means[NONE]['epochs']:.1f} epochs; loss at the end in nats per target "
        f"token, training{smoothed} / validation: {losses}."
    )


def _schedule(comparison: Comparison, bundle: Bundle) -> str:
    """Whether training twice as long moves a bucket beyond its interval, if that was run."""
    updates = comparison.settings.training.updates
    runs = listed_runs(bundle)
    moved, added, seeds = [], [], set[int]()
    for arm in comparison.arms:
        doubled = runs[(runs["updates"] == 2 * updates) & (runs["attention"] == arm.name)
                       & runs["seed"].isin(arm.seeds)]  # fmt: skip
        if doubled.empty:
            continue
        seeds |= {int(seed) for seed in doubled["seed"]}
        same = runs["run"].isin(arm.runs) & runs["seed"].isin(doubled["seed"])
        pairs = [*zip(*(arm_of(bundle, rows).estimates for rows in (runs[same], doubled)),
                      strict=True)]  # fmt: skip
        gains = by_bucket([twice.value - once.value for once, twice in pairs], "{:+.1f}")
        added.append(f"{arm.name} {gains}")
        for bucket, (once, twice) in zip(arm.buckets, pairs, strict=True):
            if once.filled and not once.interval.low <= twice.value <= once.interval.high:
                moved.append(f"{arm.name} {bucket}")
    if not added:
        best = runs.set_index("run")["best_update"]
        falling = [arm.name for arm in comparison.arms
                   if (best.loc[list(arm.runs)] == updates).any()]  # fmt: skip
        end = "was still falling at the end: " if falling else "no longer fell at the end"
        return (
            "Schedule: not shown to be long enough (--check-schedule trains twice as long); the "
            f"validation loss {end}{', '.join(falling)}. What an arm lacks may be training."
        )
    verdict = f"long enough; twice the updates ({seeds_text(sorted(seeds))}) move "
    verdict = f"not {verdict}these buckets" if moved else f"{verdict}no bucket"
    return (
        f"Schedule: {verdict} beyond the interval of the same seeds"
        f"{': ' if moved else ''}{', '.join(moved)}. Twice the training adds, in BLEU from the "
        f"shortest to the longest bucket: {'; '.join(added)}."
    )
