"""The tables by name, of a bundle's runs, of a study, of gold links, and the captions of runs."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from ..claims.registry import CLAIMS, verdict_on
from ..claims.verdict import Verdict, small_buckets
from ..results.bundle import Results, holds_results, setting_columns
from ..results.schema import ALL_TABLES, GOLD, GOLD_TABLE, QUESTIONS, SETTING_COLUMNS
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.run import resolve
from ..settings.sweep import LONGER
from .claims import judge
from .comparison import (
    Comparison,
    arm_of,
    common_seeds,
    compare,
    compare_sizes,
    declared,
    usual,
    what_was_run,
)
from .page import Page
from .run_tables import LIKE_SLIDE, SPECS, arms, cells, run_data, run_table, slide_table, word_spans
from .selection import as_condition, list_values

LEVELS = (
    "The slide's numbers are its illustration: compare shapes (order, drop, gain), never levels. "
    "BLEU is not comparable across buckets either, because texts of different lengths have "
    "different n-grams: the claim for attention rests on attention minus none within a bucket."
)
RATIO = "Ratio: mean source words of the bucket x embedding size / context size (L4)."
SLIDE_WORDS = "Slide L4: its word for the highest of its ratios that does not exceed the row's."


def slide_pages(bundle: Results) -> list[Page]:
    """The failure pattern and the vindication of a bundle of two arms."""
    return [make_page(name, bundle) for name in ("failure-pattern", "vindication")]


def fitting_pages(bundle: Results) -> list[Page]:
    """The tables that show every arm of a bundle: the slides', that of context sizes, or `arms`."""
    every = set(usual(declared(bundle))["arm"])
    with suppress(UserError):  # there is no arm without attention
        sizes = compare_sizes(bundle)
        if every == {arm for size in sizes for arm in size.runs["arm"]}:
            slides = ["failure-pattern", "vindication"][: len(every)]
            return [make_page(name, bundle) for name in (["context-size"] if sizes[1:] else slides)]
    return [make_page("arms", bundle)]


def study_page(study: str, folder: Path, runs: pd.DataFrame | None = None) -> Page:
    """The table of a question of `QUESTIONS` or `GOLD`, from ``probes/NAME.csv`` of a bundle.

    ``runs`` is the folder's tidy table, if it has been read.
    """
    question = import_module("...questions.question", __name__).find_question(study)
    frame = question.load(folder)
    if runs is None and holds_results(folder):
        runs = Results.open(folder, sentences=False).runs
    claims = [claim for claim in CLAIMS if claim.study in (study, study.removesuffix("_gold"))]
    judged = [judge(claim, frame, runs)[0] for claim in claims]
    return replace(question.page(frame), judged=judged)


def check_name(name: str, like_slide: bool = False) -> None:
    """Refuse what `make_page` cannot make as a ``UsageError``, before anything is read."""
    if name not in ALL_TABLES and name.replace("_", "-") not in ALL_TABLES:
        raise UsageError(f"unknown table {name!r}{did_you_mean(name, ALL_TABLES)}")
    if like_slide and name.replace("_", "-") not in LIKE_SLIDE:
        raise UsageError(f"--like-slide is for {', '.join(LIKE_SLIDE)}, not {name}")


def make_page(name: str, bundle: Results, like_slide: bool = False) -> Page:
    """The table of a name in `TABLES` (underscores do as well) or `QUESTIONS`, or `GOLD_TABLE`.

    ``like_slide``: with the columns of the lecture's slide. ``UsageError`` for another name,
    ``UserError`` where the bundle has not what the table needs.
    """
    check_name(name, like_slide)
    if name in QUESTIONS:
        return study_page(name, bundle.folder)
    name = name.replace("_", "-")
    if name == GOLD_TABLE:
        return study_page(GOLD, bundle.folder)
    attention, judged, lines = None, [], [LEVELS]
    if name == "arms":
        frame, used = arms(bundle), bundle.runs.drop_duplicates("run")
    else:
        of_sizes = name in ("context-size", "compression")
        alone = name == "failure-pattern"
        sizes = compare_sizes(bundle) if of_sizes else [compare(bundle, alone=alone)]
        frame, used = run_data(name, sizes), pd.concat([size.runs for size in sizes])
        attention = next((size.attention.name for size in sizes if size.attention), None)
        if of_sizes:
            judged = [verdict_on("C1", cells(sizes))]
        else:
            start = "L-FAIL" if alone else "L-VIND"
            ids = [claim.id for claim in CLAIMS if claim.id.startswith(start)]
            judged = [verdict_on(claim, sizes[0].scores) for claim in ids]
            lines.append(_schedule(sizes[0], bundle))
        lines += [RATIO] if "compression_ratio" in frame else []
        lines += [SLIDE_WORDS] if name == "compression" else []
        lines += [*_arm_lines(sizes, bundle), *bundle.facts(sizes[0].none.runs[0])["notes"]]
    small = small_buckets(dict(zip(frame["bucket"], frame["n"], strict=True)))
    others = len(set(bundle.runs["arm"]) - set(used["arm"]))
    others = f"not in this table: {counted(others, 'arm')} (choose with --where)" if others else ""
    title = SPECS[name][0].format(attention=attention)
    if like_slide:
        return _like_slide(name, title, frame, judged, [what_was_run(used), small, others])
    replaced = bundle.environment.get("replaced", 0)
    replaced = f"{counted(replaced, 'earlier run')} replaced by these" if replaced else ""
    small = f"* {small}" if small else ""
    run = [what_was_run(used), "95 % intervals over test sentences", small, others, replaced]
    run = "; ".join(filter(None, run))
    preset = setting_columns(resolve("lecture"))
    unlike = [
        f"{column} {list_values(used[column])}"
        for column in SETTING_COLUMNS
        if column not in ("attention", "seed")
        and (used[column].map(as_condition) != as_condition(preset[column])).any()
    ]
    signatures = sorted(set(bundle.runs.loc[bundle.runs["run"].isin(used["run"]), "signature"]))
    lines += [
        f"{run}.",
        *([f"Settings unlike those of preset lecture: {', '.join(unlike)}."] if unlike else []),
        f"Intervals: {bundle.settings(used['run'].iloc[0]).scoring.resamples:,} bootstrap "
        "resamples, the same for every arm and seed, of the mean over seeds; they do not cover "
        "seeds.",
        *bundle.left_out(),
        f"sacreBLEU: {'; '.join(filter(None, signatures))}",
    ]
    table = run_table(name, frame, attention)
    return Page(name.replace("-", "_"), title, frame, table, judged, lines, run)


def _like_slide(
    name: str, title: str, frame: pd.DataFrame, judged: Sequence[Verdict], run: Sequence[str]
) -> Page:
    """A table as its slide has it: one number per cell, and one line on what was ``run``.

    A second line has the slide's claims that do not hold.
    """
    texts, table, intervals = slide_table(name, frame, title)
    lines = [f"{'; '.join(filter(None, [run[0], intervals, *run[1:]]))}."]
    says = {claim.id: claim.says for claim in CLAIMS}
    unlike = [
        f"{says[item.claim]}: {item.verdict} ({item.because.split('; ')[0]})."
        for item in judged
        if item.verdict != "held" and item.claim != "C1"
    ]
    lines += [" ".join(["Not as on the slide.", *unlike])] if unlike else []
    if name == "compression":
        lines += filter(None, [SLIDE_WORDS, word_spans(frame)])
    return Page(name.replace("-", "_"), title, texts, table, [], lines)


def _arm_lines(sizes: Sequence[Comparison], bundle: Results) -> list[str]:
    """Of each arm its size and losses, and BLEU by bucket of each seed: seeds are points.

    If validation's loss is far above training's, an arm lacks data more than capacity.
    """
    lines = []
    for size in sizes:
        for arm in size.arms:
            name = f"context {size.settings.model.context_size}, {arm.name}"
            name = name if sizes[1:] else arm.name
            rows = bundle.runs[bundle.runs["run"].isin(arm.runs)]
            train, valid = rows[["train_loss", "valid_loss"]].astype(float).mean()
            lines.append(
                f"{name}: {arm.parameters:,} parameters; loss at the end {train:.2f} in training, "
                f"{valid:.2f} in validation (nats per target token)."
            )
            points = {f"seed {s}": bleu for s, bleu in zip(arm.seeds, arm.by_seed, strict=True)}
            if len(arm.seeds) > 1:
                points["standard deviation over seeds"] = arm.by_seed.std(axis=0, ddof=1)
                lines += [
                    f"BLEU by bucket, {name}, {k}: {_by_bucket(v)}" for k, v in points.items()
                ]
    return lines


def _schedule(comparison: Comparison, bundle: Results) -> str:
    """Whether training twice as long moves a bucket beyond its interval, if that was run."""
    runs = bundle.runs.drop_duplicates("run")
    moved, added = [], []
    for arm in comparison.arms:
        same = runs[runs["run"].isin(arm.runs)]
        doubled = runs[runs["arm"] == f"{same['arm'].iloc[0]}, {LONGER}"]
        same, doubled = common_seeds(same, doubled)
        if doubled.empty:
            continue
        once, twice = arm_of(bundle, same).estimates, arm_of(bundle, doubled).estimates
        for bucket, before, after in zip(arm.buckets, once, twice, strict=True):
            if before.filled and not before.interval.low <= after.value <= before.interval.high:
                moved.append(f"{arm.name} {bucket}")
        gains = [after.value - before.value for before, after in zip(once, twice, strict=True)]
        added.append(f"{arm.name} {_by_bucket(gains, '{:+.1f}')}")
    if not added:
        best, updates = runs.set_index("run")["best_update"], comparison.settings.training.updates
        falling = [a.name for a in comparison.arms if (best.loc[list(a.runs)] == updates).any()]
        end = "was still falling at the end: " if falling else "no longer fell at the end"
        return (
            "Schedule: not shown to be long enough (--check-schedule trains twice as long); the "
            f"validation loss {end}{', '.join(falling)}. What an arm lacks may be training."
        )
    return (
        f"Schedule: {'not ' if moved else ''}long enough; twice the updates move "
        f"{', '.join(moved) or 'no bucket'} beyond the interval of the same seeds. They add, in "
        f"BLEU from the shortest to the longest bucket: {'; '.join(added)}."
    )


def _by_bucket(values: Sequence[float] | np.ndarray, form: str = "{:.1f}") -> str:
    """The numbers of all buckets, a dash for one that there is not."""
    return " ".join("-" if np.isnan(value) else form.format(value) for value in values)
