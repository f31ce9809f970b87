"""The tables by name, of a bundle's runs, of a study, of gold links, and the captions of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from ..claims.registry import CLAIMS, verdict_on
from ..claims.verdict import small_buckets
from ..lecture.slides import L4
from ..results.bundle import (
    Results,
    holds_results,
    setting_columns,
    signatures,
)
from ..results.folders import made_of
from ..results.schema import ALL_TABLES, GOLD, GOLD_TABLE, QUESTIONS, SETTING_COLUMNS
from ..settings.errors import UsageError, did_you_mean
from ..settings.run import resolve
from ..settings.sweep import LONGER
from . import run_tables
from .claims import judge
from .comparison import (
    NONE,
    Arm,
    Comparison,
    arm_of,
    compare,
    compare_sizes,
    declared,
    describe,
    seeds_text,
    what_was_run,
)
from .page import Page
from .selection import as_condition, list_values, where

LEVELS = (
    "The slide's numbers are its illustration: compare shapes (order, drop, gain), never levels. "
    "BLEU is not comparable across buckets either, because texts of different lengths have "
    "different n-grams: the claim for attention rests on attention minus none within a bucket."
)
RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
SLIDE_WORDS = (
    "Slide L4 (100 numbers per word, 256 for the sentence): "
    + "; ".join(f"{row.words} words {row.printed_ratio}:1 {row.quality}" for row in L4)
    + ". Each row has the word of the slide's highest ratio that does not exceed its own."
)
ARM_NAMES = (
    "An arm is all runs that differ in their seed alone, as the experiment names it. n: test "
    "sentences. BLEU levels are not comparable across buckets, since texts of other lengths have "
    "other n-grams: compare arms within one."
)


def slide_pages(bundle: Results) -> list[Page]:
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
            runs = Results.open(folder, sentences=False).runs
        claims = [claim for claim in CLAIMS if claim.study in (study, study.removesuffix("_gold"))]
        judged = [judge(claim, frame, runs)[0] for claim in claims]
        *first, last = question.pages(frame)
        return [*first, replace(last, judged=judged)]


def make_page(name: str, bundle: Results) -> Page:
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
        frame, runs = run_tables.arms(bundle), bundle.runs.drop_duplicates("run")
        lines = [ARM_NAMES, f"{describe(runs)}.", *_common_lines(bundle, runs)]
        table, title = run_tables.run_table("arms", frame), run_tables.TITLES["arms"]
        run = f"{describe(runs)}; 95 % intervals over test sentences"
        return Page("arms", title, frame, table, [], [line for line in lines if line], run)
    several = dashed == "failure-pattern" and bundle.runs["attention"].nunique() > 2
    if several or dashed == "compression":  # what they measure needs no attention
        declared(bundle)
        bundle = where(bundle, [f"attention={NONE}"])
    if dashed in ("context-size", "compression"):
        return _comparing_page(dashed, bundle, compare_sizes(bundle))
    comparison = compare(bundle, alone=dashed == "failure-pattern")
    return _comparing_page(dashed, bundle, [comparison])


def check_name(name: str) -> None:
    """Refuse a name that `make_page` does not know as a ``UsageError``, before anything is read."""
    if name not in ALL_TABLES and name.replace("_", "-") not in ALL_TABLES:
        raise UsageError(f"unknown table {name!r}{did_you_mean(name, ALL_TABLES)}")


def _comparing_page(name: str, bundle: Results, sizes: Sequence[Comparison]) -> Page:
    """The page of a table of both arms, of one context size or of several."""
    frame, first = run_tables.run_data(name, sizes), sizes[0]
    attention = next((size.attention.name for size in sizes if size.attention), None)
    arms = {
        f"context {size.settings.model.context_size}, {arm.name}" if sizes[1:] else arm.name: arm
        for size in sizes
        for arm in size.arms
    }
    ratio = "" if name == "vindication" else RATIO
    lines = [SLIDE_WORDS if name == "compression" else "", LEVELS, ratio, *_seed_lines(arms)]
    if name in ("failure-pattern", "vindication"):
        start = "L-FAIL" if name == "failure-pattern" else "L-VIND"
        ids = [claim.id for claim in CLAIMS if claim.id.startswith(start)]
        judged = [verdict_on(claim, first.scores) for claim in ids]
        lines.append(_schedule(first, bundle))
    else:
        judged = [verdict_on("C1", run_tables.cells(sizes))]
    used = pd.concat([size.runs for size in sizes])
    small = small_buckets(dict(zip(first.none.buckets, first.none.n, strict=True)))
    small = f"* {small}" if small else ""
    model, training, beam = (
        first.settings.model, first.settings.training, first.settings.decoding.beam_size
    )  # fmt: skip
    lines += [
        f"Run: {what_was_run(used)}; {model.cell.upper()}, embedding {model.embedding_size}, "
        f"hidden {list_values(used['hidden_size'])}; {training.optimizer.capitalize()}; "
        f"{f'beam {beam}' if beam > 1 else 'greedy'}.",
        *_arm_lines(arms, bundle),
        *(note for size in sizes for note in bundle.facts(size.none.runs[0])["notes"]),
        f"{small}." if small else "",
        *_common_lines(bundle, used),
    ]
    return Page(
        name.replace("-", "_"),
        run_tables.TITLES[name].format(attention=attention),
        frame,
        run_tables.run_table(name, frame, attention),
        judged,
        [line for line in dict.fromkeys(lines) if line],
        "; ".join(filter(None, [what_was_run(used), "95 % intervals over test sentences", small])),
    )


def _common_lines(bundle: Results, used: pd.DataFrame) -> list[str]:
    """The end of a caption: intervals, settings, runs that are left out, sacreBLEU's signature.

    ``used`` has a row per run of the table. A setting that is not set is "none".
    """
    scoring = bundle.settings(used["run"].iloc[0]).scoring
    usual = setting_columns(resolve("lecture"))
    unlike = [
        f"{name} {list_values(used[name])}"
        for name in SETTING_COLUMNS
        if name not in ("attention", "seed")
        and (used[name].map(as_condition) != as_condition(usual[name])).any()
    ]
    listed = bundle.runs.drop_duplicates("run")
    rest = listed[~listed["run"].isin(used["run"])]
    left_out = "Left out, as other arms or without the other arm of the same size and seed"
    signed = "; ".join(signatures(bundle.runs[bundle.runs["run"].isin(used["run"])]))
    return [
        f"Intervals: 95 % bootstrap over test sentences ({scoring.resamples:,} resamples, the same "
        "for every arm and seed) of the mean over seeds; they do not cover seeds.",
        f"Settings unlike those of preset lecture: {', '.join(unlike)}." if unlike else "",
        f"{left_out}: {describe(rest)}." if len(rest) else "",
        *bundle.left_out(),
        f"sacreBLEU: {signed}" if signed else "",
    ]


def _seed_lines(arms: Mapping[str, Arm]) -> list[str]:
    """BLEU by bucket of each seed: seeds are points."""
    seeds = {seed for arm in arms.values() for seed in arm.seeds}
    if len(seeds) == 1:
        return [f"One seed ({min(seeds)}): nothing is known of the spread over seeds."]
    lines = []
    for name, arm in arms.items():
        points = {f"seed {seed}": bleu for seed, bleu in zip(arm.seeds, arm.by_seed, strict=True)}
        if len(arm.seeds) > 1:
            points["standard deviation over seeds"] = arm.by_seed.std(axis=0, ddof=1)
        lines += [f"BLEU by bucket, {name}, {k}: {_by_bucket(v)}" for k, v in points.items()]
    return lines


def _arm_lines(arms: Mapping[str, Arm], bundle: Results) -> list[str]:
    """Size and losses of each arm.

    If validation's loss is far above training's, an arm lacks data more than capacity; training's
    loss has label smoothing, if any, and validation's has none.
    """
    lines = []
    for name, arm in arms.items():
        rows = bundle.runs[bundle.runs["run"].isin(arm.runs)]
        train, valid = rows[["train_loss", "valid_loss"]].astype(float).mean()
        lines.append(
            f"{name}: {arm.parameters:,} parameters; loss at the end {train:.2f} in training, "
            f"{valid:.2f} in validation (nats per target token, means over seeds)."
        )
    return lines


def _schedule(comparison: Comparison, bundle: Results) -> str:
    """Whether training twice as long moves a bucket beyond its interval, if that was run."""
    updates, runs = comparison.settings.training.updates, bundle.runs.drop_duplicates("run")
    moved, added, seeds = [], [], set[int]()
    for arm in comparison.arms:
        name = runs.set_index("run")["arm"].loc[arm.runs[0]]
        doubled = runs[(runs["arm"] == f"{name}, {LONGER}") & runs["seed"].isin(arm.seeds)]
        if doubled.empty:
            continue
        seeds |= set(doubled["seed"].astype(int))
        same = runs["run"].isin(arm.runs) & runs["seed"].isin(doubled["seed"])
        once, twice = (arm_of(bundle, rows) for rows in (runs[same], doubled))
        gains = []
        rows = zip(arm.buckets, once.estimates, twice.estimates, strict=True)
        for bucket, before, after in rows:
            gains.append(after.value - before.value)
            if before.filled and not before.interval.low <= after.value <= before.interval.high:
                moved.append(f"{arm.name} {bucket}")
        added.append(f"{arm.name} {_by_bucket(gains, '{:+.1f}')}")
    if not added:
        best = runs.set_index("run")["best_update"]
        falling = [arm.name for arm in comparison.arms
                   if (best.loc[list(arm.runs)] == updates).any()]  # fmt: skip
        end = "was still falling at the end: " if falling else "no longer fell at the end"
        return (
            "Schedule: not shown to be long enough (--check-schedule trains twice as long); the "
            f"validation loss {end}{', '.join(falling)}. What an arm lacks may be training."
        )
    return (
        f"Schedule: {'not ' if moved else ''}long enough; twice the updates "
        f"({seeds_text(sorted(seeds))}) move {', '.join(moved) or 'no bucket'} beyond the interval "
        "of the same seeds. Twice the training adds, in BLEU from the shortest to the longest "
        f"bucket: {'; '.join(added)}."
    )


def _by_bucket(values: Sequence[float] | np.ndarray, form: str = "{:.1f}") -> str:
    """The numbers of all buckets, a dash for one that there is not."""
    return " ".join("-" if np.isnan(value) else form.format(value) for value in values)
