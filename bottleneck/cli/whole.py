"""``bottleneck study all``: every sweep and every study, part after part, and all written out."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .asking import put_to
from .bench import INTERRUPTED, bench
from .console import output, say
from .planned import Texts
from .reproduce import DEFAULT_OUT
from .results import from_here
from .sweep import INCOMPLETE, sweep
from .tasks import Task, not_here, part_table, print_plan, tasks
from .written import finish, write_part

if TYPE_CHECKING:
    from rich.table import Table

OUT = DEFAULT_OUT / "all"


def study_all(
    results: Path | None,
    parts: Sequence[str] | None,
    preset: str | None,
    seeds: int | None,
    jobs: int | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Run what is missing of the whole study; or say what that is.

    Where some of it failed all else is done first; then ``typer.Exit`` with code `INCOMPLETE`.
    """
    from ..settings.atomic import check_writable
    from ..tables.fitting import print_prose

    folder = from_here(results) if results else OUT
    texts, lacking = Texts(), [] if parts else not_here()
    found = tasks(folder, preset, seeds, parts)
    if dry_run:
        print_plan(found, lacking)
        return
    check_writable(folder, "--results")
    faults: list[str] = []
    for place, task in enumerate(found, 1):
        if not quiet:
            head = f"{task.part.name} ({place} of {len(found)}): {task.question}"
            say(f"\n{head}", err=True)
        faults += _run(task, preset, jobs, quiet, texts)
    ending: list[str] = []
    with _attempted(str(folder), faults):
        ending.append(finish(folder))
    console = output()
    console.print(_table(found, texts))
    print_prose(console, [*lacking, *faults, *ending])
    if faults:
        print_prose(console, "The same command tries again what failed.")
        raise typer.Exit(INCOMPLETE)


def _run(task: Task, preset: str | None, jobs: int | None, quiet: bool, texts: Texts) -> list[str]:
    """Do what is left of a part; in words what went wrong, which stops nothing else.

    What sweeps and studies print of themselves goes to stderr, or nowhere.
    """
    from ..report.written import is_written
    from ..results.inside import results_inside
    from ..studies.whole import studies_left

    name, folder, faults = task.part.name, task.folder, list[str]()
    with _aside(quiet):
        with _attempted(name, faults):
            _make(task, preset, jobs, quiet, texts)
        for asked in studies_left(task.part.studies, folder):
            with _attempted(f"{name}, study {asked}", faults):
                _ask(asked, folder, jobs, quiet)
        if folder in results_inside(folder.parent) and not is_written(folder):
            with _attempted(f"{name}, its tables and figures", faults):
                write_part(folder)
    for fault in faults:
        say(fault, err=True)
    return faults


@contextmanager
def _aside(quiet: bool) -> Iterator[None]:
    """Standard output is kept for what is told of the whole."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere if quiet else sys.stderr):
        yield


@contextmanager
def _attempted(what: str, faults: list[str]) -> Iterator[None]:
    """A fault in the block is kept in words, so that hours of other work do not hang on it."""
    from ..settings.errors import UserError

    try:
        yield
    except UserError as error:
        if error.exit_code == INTERRUPTED:
            raise KeyboardInterrupt from None
        faults.append(f"{what}: {error}")
    except Exception as error:
        traceback.print_exc()
        faults.append(f"{what}: {type(error).__name__}: {error}")


def _make(task: Task, preset: str | None, jobs: int | None, quiet: bool, texts: Texts) -> None:
    """The runs of a part, or its benchmark, as far as they are missing."""
    from ..settings.errors import UserError

    part, folder = task.part, task.folder
    if task.done(texts) == task.runs:
        return
    if task.benchmark:
        bench(out=folder, quick=task.tiny, quiet=quiet)
        return
    seeds = len({cell.settings.training.seed for cell in task.cells})
    try:
        sweep(part.sweep, out=folder, preset=preset, corpus=part.corpus or None, seeds=seeds,
              jobs=jobs, quiet=quiet)  # fmt: skip
    except typer.Exit:
        lost = task.runs - task.done(texts)
        raise UserError(
            f"{lost} of {task.runs} runs failed or diverged: `bottleneck runs --results {folder}` "
            "lists them"
        ) from None


def _ask(name: str, folder: Path, jobs: int | None, quiet: bool) -> None:
    """Put a study to a part's runs; where there are none it does not train others."""
    from ..runs.pool import default_width
    from ..settings.errors import UserError
    from ..studies.catalogue import find_study
    from ..studies.whole import asked_runs

    asked = find_study(name)
    runs = asked_runs(asked, folder)
    if not runs:
        raise UserError("there is no finished run that it can be put to")
    put_to(asked, runs, folder, jobs or default_width(), False, quiet)


def _table(found: Sequence[Task], texts: Texts) -> "Table":
    """A row a part: how much of it is done, and what was made of it."""
    from ..report.written import FIGURES_FOLDER, TABLES_FOLDER
    from ..studies.whole import studies_left

    table = part_table(["runs", "studies", "tables", "figures"])
    for task in found:
        asked, folder = task.part.studies, task.folder
        left = studies_left(asked, folder)
        table.add_row(
            task.part.name,
            f"{task.done(texts)} of {task.runs}",
            f"{len(asked) - len(left)} of {len(asked)}" if asked else "",
            str(len(list((folder / TABLES_FOLDER).glob("*.md")))),
            str(len(list((folder / FIGURES_FOLDER).glob("*.svg")))),
        )
    return table
