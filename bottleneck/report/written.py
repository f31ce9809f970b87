"""Results written out in full: every table and figure that can be made of them, as files beside.

What cannot be made is left out, and ``CONTENTS.md`` says why.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..figures.files import NUMBERS, write_figure
from ..figures.registry import FIGURES, make_figure
from ..results.bundle import Bundle
from ..results.probes import has_probe
from ..results.schema import BENCHMARK, QUESTIONS, STUDIES
from ..results.study_files import GOLD
from ..results.study_files import tables as measured
from ..settings.atomic import write_text
from ..settings.errors import DamagedError, UnwrittenError, UserError
from ..tables.claims import render as render_claims
from ..tables.claims import summary
from ..tables.decided import bundle_of, decide_results, holds_results
from ..tables.names import GOLD_TABLE, TABLES
from ..tables.page import Page
from ..tables.pages import make_page, render, study_pages
from .page import write_report

TABLES_FOLDER, FIGURES_FOLDER, CONTENTS = "tables", "figures", "CONTENTS.md"
CLAIMS, REPORT = "claims", "report.html"
FORMS: Mapping[str, str] = {".md": "markdown", ".csv": "csv"}
"""Forms of tables and claims, by the file's ending."""
IMAGES = (".png", ".svg")
GROWTH = f"{BENCHMARK}_exponents"
"""The benchmark's second table."""

OF_SIZES = ("compression", "context-length")
"""Figures that compare context sizes: of one alone they say what others say better."""

Made = TypeVar("Made")


@dataclass(frozen=True)
class Written:
    """What was made of a results folder: titles of tables by file name, and names of figures.

    ``left_out`` says by name why the rest was not; ``unmeasured`` are studies that nobody made.
    """

    tables: Mapping[str, str]
    figures: Collection[str]
    left_out: Mapping[str, str]
    unmeasured: Collection[str]


def write_out(folder: Path) -> Written:
    """Write ``tables/``, ``figures/`` and last ``CONTENTS.md`` into a results folder.

    Files of an earlier time that cannot be made any more are removed. A folder without results is a
    ``UserError``, and so is a damaged file, of which nothing is removed.
    """
    if not (holds_results(folder) or measured(folder)):
        raise UserError(
            f"no results in {str(folder)!r}: name a folder that `bottleneck reproduce`, "
            "`bottleneck sweep` or `bottleneck bench` wrote"
        )
    bundle = bundle_of(folder)
    names = list(_known((*TABLES, *QUESTIONS, GOLD_TABLE), folder, bundle))
    pages, untabled = _attempted(names, partial(_pages, folder, bundle))
    titles = {page.name: page.title for held in pages.values() for page in held}
    for page in (page for held in pages.values() for page in held):
        for ending, form in FORMS.items():
            write_text(folder / TABLES_FOLDER / f"{page.name}{ending}", render(page, form))
    figures, undrawn = _attempted(_known(FIGURES, folder, bundle), partial(_draw, folder, bundle))
    _remove_others(folder / TABLES_FOLDER, titles, FORMS)
    _remove_others(folder / FIGURES_FOLDER, figures, (*IMAGES, NUMBERS))
    left_out = {f"table {name}": why for name, why in untabled.items()}
    left_out |= {f"figure {name}": why for name, why in undrawn.items()}
    unmeasured = [name for name in STUDIES if not has_probe(folder, name)] if bundle else []
    written = Written(titles, list(figures), left_out, unmeasured)
    write_text(folder / CONTENTS, contents(folder, written))
    return written


def _known(names: Iterable[str], folder: Path, bundle: Bundle | None) -> Iterator[str]:
    """Those tables or figures of which the folder has numbers."""
    for name in names:
        if name in QUESTIONS:
            there = has_probe(folder, name)
        else:
            there = bundle is not None and (name != GOLD_TABLE or has_probe(folder, GOLD))
        if there:
            yield name


def _attempted(
    names: Iterable[str], make: Callable[[str], Made]
) -> tuple[dict[str, Made], dict[str, str]]:
    """What could be made, by name; and of the others why not."""
    made, left_out = {}, {}
    for name in names:
        try:
            made[name] = make(name)
        except (DamagedError, UnwrittenError):
            raise
        except UserError as error:
            left_out[name] = str(error)
    return made, left_out


def _pages(folder: Path, bundle: Bundle | None, name: str) -> list[Page]:
    if name in QUESTIONS:
        return study_pages(name, folder, None if bundle is None else bundle.runs)
    return [make_page(name, bundle)]


def _draw(folder: Path, bundle: Bundle | None, name: str) -> None:
    """A figure in every form, its numbers as CSV beside, as `bottleneck plot` writes them.

    Each is drawn by itself: a figure that has been written is laid out a little otherwise.
    """
    if name in OF_SIZES and bundle is not None and bundle.runs["context_size"].nunique() < 2:
        raise UserError(f"all runs have one context size (`bottleneck plot {name}` draws it)")
    for ending in IMAGES:
        write_figure(*make_figure(name, folder), folder / FIGURES_FOLDER / f"{name}{ending}")


def _remove_others(folder: Path, kept: Collection[str], endings: Iterable[str]) -> None:
    """Remove what bears the name of a table or figure of ours and was not made this time."""
    stems = {name.replace("-", "_") for name in TABLES} | {*FIGURES, GOLD, GOLD_TABLE, GROWTH}
    for stem in stems - set(kept):
        for ending in endings:
            (folder / f"{stem}{ending}").unlink(missing_ok=True)


def contents(folder: Path, written: Written) -> str:
    """``CONTENTS.md``: the tables and figures, each a link, and what is lacking."""
    lines = ["# What these results show", "", "By `bottleneck export --all`."]
    lines += _listed("Tables", [
        f"[{name}]({TABLES_FOLDER}/{name}.md): {title} ([CSV]({TABLES_FOLDER}/{name}.csv))"
        for name, title in written.tables.items()
    ])  # fmt: skip
    lines += _listed("Figures", [
        f"[{name}]({FIGURES_FOLDER}/{name}.png) ([SVG]({FIGURES_FOLDER}/{name}.svg), "
        f"[numbers]({FIGURES_FOLDER}/{name}{NUMBERS}))"
        for name in written.figures
    ])  # fmt: skip
    lacking = [f"{name}: {why}" for name, why in written.left_out.items()]
    if written.unmeasured:
        names = ", ".join(written.unmeasured)
        lacking.append(f"not measured: {names} (`bottleneck study NAME --results {folder}`)")
    return "\n".join([*lines, *_listed("Left out", lacking)]) + "\n"


def _listed(head: str, items: Iterable[str]) -> list[str]:
    """A section of Markdown, none where there is nothing in it."""
    rows = [f"- {item}" for item in items]
    return ["", f"## {head}", "", *rows] if rows else []


def write_end(folder: Path) -> tuple[str, int]:
    """Write ``claims.md``, ``claims.csv`` and ``report.html`` of a folder and those inside it.

    Returns how many claims hold, in words, and the page's size in bytes. Without any results a
    ``UserError``.
    """
    size = write_report(folder, folder / REPORT)
    decisions = decide_results(folder)
    for ending, form in FORMS.items():
        write_text(folder / f"{CLAIMS}{ending}", render_claims(decisions, form))
    return summary(decisions), size
