"""The tables by name: of a bundle's runs, of a study, of gold links."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.compression import compression_predicts_loss
from ..claims.registry import CLAIMS
from ..claims.rules import RULES, verdict_on
from ..lecture.slides import L4
from ..results.bundle import Bundle, load_results, other_versions, without_result
from ..results.probes import GOLD, made_of
from ..results.schema import QUESTIONS
from ..scoring.bleu import SHORT_SENTENCES
from ..settings.errors import UsageError, did_you_mean
from . import run_tables
from .caption import RATIO, caption, intervals, run_line, signed
from .comparison import Comparison, attentions, compare, compare_sizes
from .comparison_groups import NONE, describe, listed_runs
from .decided import holds_results, judge
from .names import GOLD_TABLE, TABLES
from .page import Page
from .selection import where

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
        judged = [compression_predicts_loss(run_tables.cells(sizes))]
    else:
        fails = name == "failure-pattern"
        ids = [claim for claim in RULES if (claim == "L-FAIL") == fails]
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
