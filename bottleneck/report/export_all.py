"""``bottleneck export --all``: every table and figure of a results folder, as files in it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..figures.registry import NUMBERS, make_figure, write_figure
from ..results.bundle import Results
from ..results.folders import has_probe
from ..results.schema import ALL_TABLES, FIGURES, GOLD, GOLD_TABLE, STUDIES, TABLES
from ..settings.errors import UserError
from ..settings.files import write_text
from ..tables.claims import decide_results, summary
from ..tables.claims import render as render_claims
from .page import check_results, make_views, write_report

TABLES_FOLDER, FIGURES_FOLDER, CONTENTS = "tables", "figures", "CONTENTS.md"
CLAIMS, REPORT = "claims", "report.html"
FORMS: Mapping[str, str] = {".md": "markdown", ".csv": "csv"}
"""Forms of tables and claims, by the file's ending."""
IMAGES = (".png", ".svg")


class Written(NamedTuple):
    """Titles of tables by file name, names of figures, and what is missing, with the reason."""

    tables: Mapping[str, str]
    figures: Sequence[str]
    missing: Sequence[str]


def write_out(folder: Path) -> Written:
    """Write ``tables/``, ``figures/`` and last ``CONTENTS.md`` into a results folder.

    Files of an earlier time that cannot be made any more are removed. A folder without results is a
    ``UserError``, and so is a damaged file; then nothing is removed.
    """
    check_results(folder)
    bundle = Results.find(folder)

    def draw(name: str) -> None:
        compares_sizes = name in ("compression", "context-length")
        if compares_sizes and bundle and bundle.runs["context_size"].nunique() < 2:
            raise UserError(f"all runs have one context size (`bottleneck plot {name}` draws it)")
        for ending in IMAGES:  # drawn for each: a figure is laid out otherwise a second time
            figure, data = make_figure(name, folder, bundle=bundle)
            write_figure(figure, data, folder / FIGURES_FOLDER / f"{name}{ending}")

    names = dict.fromkeys((*ALL_TABLES, *FIGURES))
    tables, figures, reasons = make_views(names, folder, bundle, draw)
    pages = {page.name: page for made in tables.values() for page in made}
    for name, page in pages.items():
        for ending, form in FORMS.items():
            write_text(folder / TABLES_FOLDER / f"{name}{ending}", page.render(form))
    _remove_others(folder / TABLES_FOLDER, pages, FORMS)
    _remove_others(folder / FIGURES_FOLDER, figures, (*IMAGES, NUMBERS))
    missing = [f"{name}: {reason}" for name, reason in reasons.items()]
    if names := ", ".join(name for name in STUDIES if bundle and not has_probe(folder, name)):
        missing.append(f"not measured: {names} (`bottleneck study NAME --results {folder}`)")
    titles = {name: page.title for name, page in pages.items()}
    sections = {
        "Tables": [
            f"[{name}]({TABLES_FOLDER}/{name}.md): {title}" for name, title in titles.items()
        ],
        "Figures": [f"[{name}]({FIGURES_FOLDER}/{name}.png)" for name in figures],
        "Left out": missing,
    }
    lines = ["# What these results show", "", "By `bottleneck export --all`."]
    for head, items in sections.items():
        lines += ["", f"## {head}", "", *(f"- {item}" for item in items)] if items else []
    write_text(folder / CONTENTS, "\n".join(lines) + "\n")
    return Written(titles, list(figures), missing)


def _remove_others(folder: Path, kept: Collection[str], endings: Iterable[str]) -> None:
    """Remove what has the name of one of our tables or figures and was not made this time."""
    stems = {*FIGURES, GOLD, GOLD_TABLE, "cost_exponents"}
    stems |= {name.replace("-", "_") for name in TABLES}
    for stem in stems - set(kept):
        for ending in endings:
            (folder / f"{stem}{ending}").unlink(missing_ok=True)


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
