"""``bottleneck corpus list`` and ``fetch``: the corpora that can be named."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from .console import errors, output, say
from .options import Quiet

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from ..corpus.named.listing import Listed

NAME_WIDTH = 24
"""Columns that a file's name gets before its progress bar."""


def list_corpora(
    form: Annotated[str, typer.Option("--format", help="rich or csv.")] = "rich",
) -> None:
    """List the corpora by name, and which are on this machine."""
    from ..corpus.named.listing import listed
    from ..settings.errors import UsageError, did_you_mean
    from ..tables.fitting import print_prose

    if form not in ("rich", "csv"):
        raise UsageError(f"unknown format {form!r}{did_you_mean(form, ('rich', 'csv'))}")
    if form == "csv":
        say(_csv(listed()), nl=False)
        return
    console = output()
    console.print(_table(listed()))
    print_prose(
        console,
        "bottleneck corpus fetch NAME brings one here. Your own text: --corpus files --source FILE "
        "--target FILE.\nTest sets of sacreBLEU are fetched by name too: bottleneck corpus fetch "
        "wmt14, then --test wmt14.",
    )


def _csv(rows: "list[Listed]") -> str:
    """A row a corpus, every column."""
    from ..runs.csvtext import rows_text

    return rows_text([{**vars(row), "sources": " ".join(row.sources)} for row in rows])


def _table(rows: "list[Listed]") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("name", "pairs", "MB", "licence", "cite", "here"):
        number = head in ("pairs", "MB")
        table.add_column(
            head, justify="right" if number else "left", no_wrap=number or head == "name"
        )
    for row in rows:
        about = "" if row.here else "~"
        pairs = "any" if row.pairs is None else f"{about}{row.pairs:,}"
        size = "" if row.megabytes is None else f"{row.megabytes:,.4g}"
        here = "yes" if row.here else "no"
        table.add_row(row.name, pairs, size, row.licence, row.citation, here)
    return table


def fetch(
    name: Annotated[
        str,
        typer.Argument(help="A name of `corpus list`, or a test set as wmt14."),
    ],
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Keep so many training pairs, evenly spread over the text."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Fetch it anew if it is here.")] = False,
    quiet: Quiet = False,
) -> None:
    """Bring a corpus to this machine, once: runs then read it offline."""
    from ..corpus.named.catalogue import CATALOGUE
    from ..corpus.named.fetch import fetch as fetch_corpus
    from ..corpus.named.listing import summary

    if name not in CATALOGUE:
        _fetch_other(name, limit is not None or again)
        return
    tell = None if quiet else lambda line: say(line, err=True)
    with _Bars(quiet) as bars:
        held = fetch_corpus(CATALOGUE[name], limit, again, tell or str, bars.make)
    for line in summary(held):
        say(line)


def _fetch_other(name: str, options: bool) -> None:
    """A built-in corpus, which is here, or a test set of sacreBLEU; neither takes options."""
    from ..corpus.named.catalogue import CATALOGUE
    from ..corpus.named.testsets import fetch_test_set, known_test_sets
    from ..settings.errors import UsageError, did_you_mean

    if name in ("grammar", "copy", *known_test_sets()) and options:
        raise UsageError(f"{name!r} takes no --limit and no --again; leave them out")
    if name in ("grammar", "copy"):
        say(f"{name}: built in, there is nothing to fetch")
    elif name in known_test_sets():
        say(f"{name}: in {fetch_test_set(name)}, where sacreBLEU keeps it")
    else:
        known = [*CATALOGUE, *known_test_sets()]
        raise UsageError(f"unknown corpus or test set {name!r}{did_you_mean(name, known)}")


class _Bars:
    """Progress bars on a terminal, none elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._progress: Progress | None = None
        self._shown = sys.stderr.isatty() and not quiet

    def __enter__(self) -> "_Bars":
        if self._shown:
            self._progress = _progress()
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def make(self, name: str) -> "_Bar | None":
        """A bar for one file."""
        return None if self._progress is None else _Bar(self._progress, name)


def _progress() -> "Progress":
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=errors(), transient=True)


class _Bar:
    """One bar as pooch drives it: it sets ``total``, then updates, resets and fills it."""

    def __init__(self, progress: "Progress", name: str) -> None:
        self._progress = progress
        shown = name if len(name) <= NAME_WIDTH else f"...{name[3 - NAME_WIDTH :]}"
        self._task: TaskID = progress.add_task(shown, total=None)

    @property
    def total(self) -> int:
        """Bytes in all; 0 where the host does not say."""
        return int(self._progress.tasks[self._task].total or 0)

    @total.setter
    def total(self, count: int) -> None:
        self._progress.update(self._task, total=count or None)

    def update(self, count: int) -> None:
        """So many bytes more have come."""
        self._progress.advance(self._task, count)

    def reset(self) -> None:
        """Go back to none."""
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        """Nothing more will come."""
