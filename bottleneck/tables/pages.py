"""A table with all that belongs to it, ready to print and to write."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd
from rich.console import Console

from ..claims.compression import compression_predicts_loss
from ..claims.registry import CLAIMS
from ..results.bundle import Bundle, load_results
from ..results.probes import made_of
from ..results.schema import QUESTIONS
from ..results.study_files import GOLD
from ..settings.errors import UsageError, did_you_mean
from ..settings.sums import write_listed
from . import alignment, arms, compression, context_size
from .caption import (
    RATIO,
    common_caption,
    failure_verdicts,
    sizes_caption,
    vindication_verdicts,
)
from .comparison import NONE, Comparison, attentions, compare, compare_sizes
from .console import PlainConsole
from .decided import holds_results
from .fitting import print_prose
from .formats import check_known, csv, json, latex, markdown
from .judged import judge, with_texts
from .names import FORMATS, GOLD_TABLE, TABLES
from .page import Page
from .render import FAILURE_TITLE, VINDICATION_TITLE, failure_table, vindication_table
from .selection import where
from .slides import failure_pattern, vindication
from .studied import load_study


def slide_pages(bundle: Bundle) -> list[Page]:
    """The failure pattern and the vindication of a bundle of two arms."""
    comparison = compare(bundle)
    return [_failure_page(comparison, bundle), _vindication_page(comparison, bundle)]


def study_pages(study: str, folder: Path, runs: pd.DataFrame | None = None) -> list[Page]:
    """The tables of a question of `QUESTIONS`, from ``probes/NAME.csv`` of a bundle.

    The last one has the verdicts. ``runs`` is the folder's tidy table, where it has been read.
    """
    questions = import_module("...questions.question", __name__)
    if study in questions.FILES:
        make = questions.find_question(study).pages
    else:
        page = import_module(f".{study}", __package__).page

        def make(frame: pd.DataFrame) -> list[Page]:
            return [page(frame)]

    with made_of(folder, study):
        return _studied(make, load_study(folder, study), study, folder, runs)


def gold_page(folder: Path, runs: pd.DataFrame | None = None) -> Page:
    """The same of a gold set of the user's (`GOLD_TABLE`)."""
    with made_of(folder, GOLD):
        frame = alignment.load_gold(folder)
        return _studied(lambda rows: [alignment.gold_page(rows)], frame, "alignment", folder, runs)[
            0
        ]


def _studied(
    make: Callable[[pd.DataFrame], list[Page]],
    frame: pd.DataFrame,
    study: str,
    folder: Path,
    runs: pd.DataFrame | None,
) -> list[Page]:
    """The pages with the verdicts on the study's claims; the runs' texts are put to the numbers."""
    if runs is None and holds_results(folder):
        runs = load_results(folder)
    judged = [judge(claim, frame, runs)[0] for claim in CLAIMS if claim.study == study]
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
        return gold_page(bundle.folder)
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
    )


def _arms(bundle: Bundle) -> Page:
    frame = arms.arms(bundle)
    return Page("arms", arms.TITLE, frame, arms.arms_table(frame), [], arms.caption(bundle))


def _context_size(bundle: Bundle) -> Page:
    sizes = compare_sizes(bundle)
    frame = context_size.context_size(sizes)
    names = [one.attention.name for one in sizes if one.attention]
    return Page(
        "context_size",
        context_size.TITLE,
        frame,
        context_size.context_size_table(frame, names[0] if names else None),
        [compression_predicts_loss(compression.cells(sizes))],
        sizes_caption(sizes, bundle),
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
    )


_MAKERS: Mapping[str, Callable[[Bundle], Page]] = dict(
    zip(TABLES, (_failure, _vindication, _context_size, _compression, _arms), strict=True)
)


def _rich(page: Page) -> str:
    """What `print_page` prints, without colours, 80 columns wide."""
    held = io.StringIO()
    print_page(page, PlainConsole(file=held, width=80))
    return held.getvalue()


_WRITERS: Mapping[str, Callable[[Page], str]] = {
    "rich": _rich,
    "csv": lambda page: csv(page.frame),
    "markdown": lambda page: markdown(page.frame, page.title, [*page.verdicts, *page.caption]),
    "latex": lambda page: latex(page.frame, page.title, [*page.verdicts, *page.caption]),
    "json": lambda page: json(page.name, page.title, page.frame, page.judged, page.caption),
}


def check_format(form: str) -> None:
    """Refuse what is not in `FORMATS` as a ``UsageError``, before anything is read or measured."""
    check_known(form, FORMATS)


def render(page: Page, form: str) -> str:
    """The page as text in one of `FORMATS`."""
    check_format(form)
    return _WRITERS[form](page)


def print_page(page: Page, console: Console) -> None:
    """Print table, verdicts and caption."""
    console.print(page.table)
    if page.verdicts:
        print_prose(console, page.verdicts)
    console.print()
    print_prose(console, page.caption, "dim")


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write each page as ``NAME.csv`` and ``NAME.md`` into a results folder."""
    endings = {".csv": "csv", ".md": "markdown"}
    write_listed(
        folder,
        [
            (f"{page.name}{suffix}", render(page, form).encode())
            for page in pages
            for suffix, form in endings.items()
        ],
    )
