"""The tables by name, of a bundle's runs, of a study, of gold links, and the captions of runs."""

from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.registry import CLAIMS, verdict_on
from ..claims.verdict import small_buckets
from ..results.bundle import Results, holds_results, setting_columns
from ..results.schema import ALL_TABLES, GOLD, GOLD_TABLE, QUESTIONS, SETTING_COLUMNS
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.run import resolve
from .claims import by_experiment, judge
from .comparison import (
    Arm,
    Pair,
    bucket_scores,
    compare,
    compare_sizes,
    declared,
    every_arm,
    usual,
    what_was_run,
)
from .page import Page
from .run_tables import (
    LIKE_SLIDE,
    SPECS,
    arms_data,
    arms_table,
    cells,
    run_data,
    run_table,
    slide_table,
)
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
        if every == {arm.name for pair in sizes for arm in pair if arm}:
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
    of_sizes = name in ("context-size", "compression")
    pairs: list[Pair] = []
    if name == "arms":
        arms = every_arm(bundle)
        frame = arms_data(arms)
    else:
        alone = name == "failure-pattern"
        pairs = compare_sizes(bundle) if of_sizes else [compare(bundle, alone=alone)]
        arms = [arm for pair in pairs for arm in pair if arm]
        frame = run_data(name, pairs)
    attention = next((arm.attention for _, arm in pairs if arm), None)
    title = SPECS[name][0].format(attention=attention)
    judged = []
    if of_sizes:
        judged = [verdict_on("C1", cells(pairs))]
    elif pairs:
        start = "L-FAIL" if name == "failure-pattern" else "L-VIND"
        ids = [claim.id for claim in CLAIMS if claim.id.startswith(start)]
        judged = [verdict_on(claim, bucket_scores(*pairs[0])) for claim in ids]
        with suppress(UserError):  # nothing was trained twice as long
            judged += [by_experiment("C12", bundle)[0]] if start == "L-VIND" else []
    used = pd.concat([arm.runs for arm in arms])
    small = small_buckets(dict(zip(frame["bucket"], frame["n"], strict=True)))
    others = len(set(bundle.runs["arm"]) - set(used["arm"]))
    others = f"not in this table: {counted(others, 'arm')} (choose with --where)" if others else ""
    if like_slide:
        texts, table, intervals = slide_table(name, frame, title)
        lines = ["; ".join(filter(None, [what_was_run(used), intervals, small, others])) + "."]
        lines += [f"Verdicts: {', '.join(f'{v.claim} {v.verdict}' for v in judged)}."]
        lines += [SLIDE_WORDS] if name == "compression" else []
        return Page(name.replace("-", "_"), title, texts, table, [], lines)
    run = [what_was_run(used), "95 % intervals over test sentences", small and f"* {small}", others]
    run = "; ".join(filter(None, run))
    lines = [LEVELS, *([RATIO] if "compression_ratio" in frame else [])]
    lines += [SLIDE_WORDS] if name == "compression" else []
    lines += [*map(_arm_line, arms), *bundle.facts(used["run"].iloc[0])["notes"]] if pairs else []
    table = run_table(title, frame, attention) if pairs else arms_table(title, frame)
    lines += [f"{run}.", *_facts(used, bundle)]
    return Page(name.replace("-", "_"), title, frame, table, judged, lines, run)


def _arm_line(arm: Arm) -> str:
    """An arm's size, its losses, and how much its seeds differ.

    If validation's loss is far above training's, it lacks data more than capacity.
    """
    train, valid = arm.runs[["train_loss", "valid_loss"]].astype(float).mean()
    falling = (arm.runs["best_update"] == arm.runs["updates"]).any()
    text = (
        f"{arm.name}: {arm.runs['parameters'].iloc[0]:,} parameters; loss at the end {train:.2f} "
        f"in training, {valid:.2f} in validation (nats per target token), "
        f"{'still falling' if falling else 'which no longer fell'}"
    )
    if len(arm.runs) > 1:
        spreads = " ".join(f"{bucket.by_seed.std(ddof=1):.1f}" for bucket in arm.buckets)
        text += f"; standard deviation of BLEU over seeds, by bucket: {spreads}"
    return f"{text}."


def _facts(used: pd.DataFrame, bundle: Results) -> list[str]:
    """Settings of these runs that are not usual, what the intervals are, what was left out."""
    preset = setting_columns(resolve("lecture"))
    unlike = [
        f"{column} {list_values(used[column])}"
        for column in SETTING_COLUMNS
        if column not in ("attention", "seed")
        and (used[column].map(as_condition) != as_condition(preset[column])).any()
    ]
    signatures = set(bundle.runs.loc[bundle.runs["run"].isin(used["run"]), "signature"]) - {""}
    resamples = bundle.settings(used["run"].iloc[0]).scoring.resamples
    return [
        *([f"Settings unlike those of preset lecture: {', '.join(unlike)}."] if unlike else []),
        f"Intervals: {resamples:,} bootstrap resamples, the same for every arm and seed, of the "
        "mean over seeds; they do not cover seeds.",
        *bundle.left_out(),
        f"sacreBLEU: {'; '.join(sorted(signatures))}",
    ]
