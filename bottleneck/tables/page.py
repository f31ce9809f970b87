"""One table and what belongs to it: printed, written, and as text in several formats."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.console import Console, RenderableType

from ..claims.verdict import Verdict
from ..settings.files import write_listed
from .formats import check_known, csv, json, latex, markdown
from .names import FORMATS
from .render import PlainConsole, print_prose

DETAILS = "Add --details for the rules, the schedule and the rest of the caption."


@dataclass(frozen=True, eq=False)
class Page:
    """One table: file name, title, data, its form on a terminal, verdicts, caption.

    ``run`` says in one line what was run.
    """

    name: str
    title: str
    frame: pd.DataFrame
    table: RenderableType
    judged: list[Verdict]
    caption: list[str]
    run: str = ""

    @property
    def verdicts(self) -> list[str]:
        """The verdicts with their reasons, each followed by its rule."""
        return [
            line
            for verdict in self.judged
            for line in (
                f"{verdict.claim}: {verdict.verdict}: {verdict.because}.",
                f"Rule: {verdict.rule}",
            )
        ]

    def print(self, console: Console, details: bool = False) -> None:
        """Print the table, a line for each verdict and what was run; ``details``: everything."""
        console.print(self.table)
        self.print_verdicts(console, details)
        if details or not self.run:
            print_prose(console, self.caption, "dim")
        else:
            print_prose(console, f"{self.run}. {DETAILS}", "dim")

    def print_verdicts(self, console: Console, details: bool = False) -> None:
        """Print a line for each verdict with its first reason; ``details``: all, and the rules."""
        short = [
            f"{verdict.claim}: {verdict.verdict}: {verdict.because.split('; ')[0]}."
            for verdict in self.judged
        ]
        if short:
            print_prose(console, self.verdicts if details else short)
            console.print()

    def render(self, form: str) -> str:
        """The page as text in one of `FORMATS`; ``UsageError`` for a different one."""
        check_format(form)
        return _WRITERS[form](self)


def _rich(page: Page) -> str:
    """What is printed with all details, without colours, 80 columns wide."""
    file = io.StringIO()
    page.print(PlainConsole(file=file, width=80), details=True)
    return file.getvalue()


_WRITERS: Mapping[str, Callable[[Page], str]] = {
    "rich": _rich,
    "csv": lambda page: csv(page.frame),
    "markdown": lambda page: markdown(page.frame, page.title, [*page.verdicts, *page.caption]),
    "latex": lambda page: latex(page.frame, page.title, [*page.verdicts, *page.caption]),
    "json": lambda page: json(
        page.name,
        page.title,
        page.frame,
        verdicts=[vars(verdict) for verdict in page.judged],
        caption=page.caption,
    ),
}


def check_format(form: str) -> None:
    """Refuse what is not in `FORMATS` as a ``UsageError``, before anything is read or measured."""
    check_known(form, FORMATS)


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write each page as ``NAME.csv`` and ``NAME.md`` into a results folder."""
    endings = {".csv": "csv", ".md": "markdown"}
    files = [
        (f"{page.name}{suffix}", page.render(form).encode())
        for page in pages
        for suffix, form in endings.items()
    ]
    write_listed(folder, files)
