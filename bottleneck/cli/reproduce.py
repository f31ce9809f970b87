"""``bottleneck reproduce``: the main job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..settings.machine import DEFAULT_OUT
from .console import output
from .options import (
    MOST_THREADS,
    Assignments,
    CorpusName,
    Details,
    Out,
    Preset,
    Quiet,
    ReverseDirection,
    Source,
    Target,
    TestSet,
    TestSource,
    TestTarget,
    Threads,
    number_or_auto,
    resolve_settings,
)

if TYPE_CHECKING:
    from ..runs.pool import Job

MOST_SEEDS = 10_000


def reproduce(
    preset: Preset = "lecture",
    out: Out = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_SEEDS,
            help="Number of runs of each arm, with seeds 1, 2, ...",
        ),
    ] = 1,
    corpus: CorpusName = None,
    source: Source = None,
    target: Target = None,
    test_source: TestSource = None,
    test_target: TestTarget = None,
    test: TestSet = None,
    reverse_direction: ReverseDirection = False,
    assignments: Assignments = None,
    check_schedule: Annotated[
        bool,
        typer.Option("--check-schedule", help="Train the first seed again, twice as long."),
    ] = False,
    threads: Threads = "auto",
    details: Details = False,
    quiet: Quiet = False,
) -> None:
    """Train with and without attention; print the lecture's tables."""
    settings = resolve_settings(
        preset,
        assignments,
        {
            "name": corpus,
            "source": source,
            "target": target,
            "test_source": test_source,
            "test_target": test_target,
            "test": test,
            "reverse_direction": reverse_direction,
        },
    )
    from ..runs.pool import default_threads
    from ..runs.reproduce import check_text, plan

    jobs = plan(settings, seeds, check_schedule)
    check_text(settings.corpus)
    folder = out or DEFAULT_OUT / preset
    each = number_or_auto("--threads", threads, MOST_THREADS) or default_threads(len(jobs))
    runs = _execute(jobs, folder, each, quiet)
    _print_tables(folder, runs, details or check_schedule)


def _execute(jobs: "list[Job]", folder: Path, threads: int, quiet: bool) -> list[str]:
    """Run the jobs with a display and name their runs of the store.

    Where nothing came of it no empty folder is left behind.
    """
    from ..results.folders import check_trainable
    from ..runs.reproduce import reproduce as execute
    from ..settings.files import check_writable, remove_empty, topmost_missing
    from .progress import display

    runs: list[str] = []

    def heard(job: "Job", event: dict[str, Any]) -> None:
        if event["phase"] == "done":
            runs.append(event["run"])
        listener(job, event)

    check_trainable(folder)
    new = topmost_missing(folder)
    check_writable(folder)
    try:
        with display(jobs, quiet) as listener:
            execute(jobs, folder, heard, threads)
    except BaseException:
        if new:
            remove_empty(new)
        raise
    return runs


def _print_tables(folder: Path, runs: list[str], details: bool) -> None:
    """Write both tables of these runs, whatever else the store holds, and print them."""
    from ..results.bundle import load_bundle
    from ..tables.page import DETAILS, write_pages
    from ..tables.pages import slide_pages
    from ..tables.render import print_prose
    from ..tables.selection import where

    pages = slide_pages(where(load_bundle(folder), [f"run={','.join(runs)}"]))
    write_pages(pages, folder)
    console = output()
    for page in pages:
        console.print(page.table)
        page.print_verdicts(console, details)
    print_prose(console, pages[0].caption if details else f"{pages[0].run}. {DETAILS}", "dim")
    names = ", ".join(f"{page.name}.csv" for page in pages)
    print_prose(console, f"\nWritten to {folder}: {names}, the same as .md, runs.csv")
