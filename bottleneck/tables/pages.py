"""The tables by name: of a bundle's runs, of a study, of gold links."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.compression import compression_predicts_loss
from ..claims.registry import CLAIMS
from ..results.bundle import Bundle, load_results
from ..results.probes import GOLD, made_of
from ..results.schema import QUESTIONS
from ..settings.errors import UsageError, did_you_mean
from . import arms, compression, context_size
from .caption import (
    RATIO,
    common_caption,
    failure_verdicts,
    run_line,
    sizes_caption,
    vindication_verdicts,
)
from .comparison import NONE, Comparison, attentions, compare, compare_sizes
from .decided import holds_results
from .judged import judge, with_texts
from .names import GOLD_TABLE, TABLES
from .page import Page
from .selection import where
from .slides import (
    FAILURE_TITLE,
    VINDICATION_TITLE,
    failure_pattern,
    failure_table,
    vindication,
    vindication_table,
)
from .studied import load_study


def slide_pages(bundle: Bundle) -> list[Page]:
    """The failure pattern and the vindication of a bundle of two arms."""
    comparison = compare(bundle)
    return [_failure_page(comparison, bundle), _vindication_page(comparison, bundle)]


def study_pages(study: str, folder: Path, runs: pd.DataFrame | None = None) -> list[Page]:
    """The tables of a question of `QUESTIONS` or `GOLD`, from ``probes/NAME.csv`` of a bundle.

    The last one has the verdicts. ``runs`` is the folder's tidy table, if it has been read.
    """
    make = import_module("...questions.question", __name__).find_question(study).pages
    with made_of(folder, study):
        frame = load_study(folder, study)
        if runs is None and holds_results(folder):
            runs = load_results(folder)
        claims = [claim for claim in CLAIMS if claim.study in (study, study.removesuffix("_gold"))]
        judged = [judge(claim, frame, runs)[0] for claim in claims]
        *first, last = make(frame if runs is None else with_texts(frame, runs))
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
    return _MAKERS[dashed](bundle)


def check_name(name: str) -> None:
    """Refuse a name that `make_page` does not know as a ``UsageError``, before anything is read."""
    known = (*TABLES, *QUESTIONS, GOLD_TABLE)
    if name not in known and name.replace("_", "-") not in known:
        raise UsageError(f"unknown table {name!r}{did_you_mean(name, known)}")


def _failure(bundle: Bundle) -> Page:
    """Its measured column needs no attention; the caption tells of one where there is just one."""
    if len(attentions(bundle)) > 1:
        bundle = where(bundle, [f"attention={NONE}"])
    return _failure_page(compare(bundle, alone=True), bundle)


def _failure_page(comparison: Comparison, bundle: Bundle) -> Page:
    frame = failure_pattern(comparison)
    return Page(
        "failure_pattern",
        FAILURE_TITLE,
        frame,
        failure_table(frame),
        failure_verdicts(comparison),
        [RATIO, *common_caption(comparison, bundle)],
        run_line([comparison]),
    )


def _vindication(bundle: Bundle) -> Page:
    return _vindication_page(compare(bundle), bundle)


def _vindication_page(comparison: Comparison, bundle: Bundle) -> Page:
    frame, attention = vindication(comparison), comparison.arms[1].name
    return Page(
        "vindication",
        VINDICATION_TITLE.format(attention=attention),
        frame,
        vindication_table(frame, attention),
        vindication_verdicts(comparison),
        common_caption(comparison, bundle),
        run_line([comparison]),
    )


def _arms(bundle: Bundle) -> Page:
    frame = arms.arms(bundle)
    table, caption = arms.arms_table(frame), arms.caption(bundle)
    return Page("arms", arms.TITLE, frame, table, [], caption, arms.run_line(bundle))


def _context_size(bundle: Bundle) -> Page:
    sizes = compare_sizes(bundle)
    frame = context_size.context_size(sizes)
    names = [size.attention.name for size in sizes if size.attention]
    return Page(
        "context_size",
        context_size.TITLE,
        frame,
        context_size.context_size_table(frame, names[0] if names else None),
        [compression_predicts_loss(compression.cells(sizes))],
        sizes_caption(sizes, bundle),
        run_line(sizes),
    )


def _compression(bundle: Bundle) -> Page:
    bundle = where(bundle, [f"attention={NONE}"])
    sizes = compare_sizes(bundle)
    frame = compression.compression(sizes)
    return Page(
        "compression",
        compression.TITLE,
        frame,
        compression.compression_table(frame),
        [compression_predicts_loss(compression.cells(sizes))],
        [compression.SLIDE, *sizes_caption(sizes, bundle)],
        run_line(sizes),
    )


_MAKERS: Mapping[str, Callable[[Bundle], Page]] = dict(
    zip(TABLES, (_failure, _vindication, _context_size, _compression, _arms), strict=True)
)
