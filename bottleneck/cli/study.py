"""``bottleneck study``: a question of the lecture, put to trained runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import counted, output
from .gold import FirstWord, Gold, Source, Target, check_gold_options, for_gold, study_gold
from .options import Assignments
from .reproduce import DEFAULT_OUT
from .results import Where

if TYPE_CHECKING:
    from ..studies.probing import Listener
    from ..studies.study import Study
    from ..tables.page import Page


def study(
    name: Annotated[
        str, typer.Argument(help="Which question; without a name they are listed.")
    ] = "",
    results: Annotated[
        Path | None,
        typer.Option(help="Folder of finished runs to put it to [default: results/runs/PRESET]."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Of the runs to train [default: the study's own, lecture].")
    ] = None,
    assignments: Assignments = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each arm to train.")] = None,
    where: Where = None,
    gold: Gold = None,
    source: Source = None,
    target: Target = None,
    first_word: FirstWord = 0,
    form: Annotated[
        str, typer.Option("--format", help="rich, csv, markdown, latex or json.")
    ] = "rich",
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at once [default: cores].")] = None,
    force: Annotated[bool, typer.Option("--force", help="Measure again what is measured.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would do.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Put a question of the lecture to finished runs; where there are none, train them first."""
    if not name:
        _list_studies()
        return
    from ..runs.pool import default_width
    from ..settings.errors import UsageError
    from ..studies.catalogue import find_study
    from ..tables.pages import FORMATS, study_page

    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}; known are {', '.join(FORMATS)}")
    asked = find_study(name)
    check_gold_options(name, gold, source, target)
    folder = results or DEFAULT_OUT / (name if asked.own_runs else preset or "lecture")
    if gold is not None:
        runs = _chosen(for_gold(asked), folder, where or [])
        _show(study_gold(runs, folder, (gold, source, target), first_word, quiet), form)
        return
    if not _finished(folder, asked):
        _train(asked, folder, preset, assignments, seeds, jobs, dry_run, quiet)
    elif assignments or seeds:
        raise UsageError(
            f"{str(folder)!r} holds finished runs, and the study is put to them: choose among them "
            "with --where, or train others into another folder with --results"
        )
    if dry_run:
        return
    runs = _chosen(asked, folder, where or [])
    _probe(asked, runs, folder, jobs or default_width(), force, quiet)
    _show(study_page(name, folder), form)


def _show(page: "Page", form: str) -> None:
    from ..tables.pages import print_page, render

    if form != "rich":
        typer.echo(render(page, form), nl=False)
        return
    print_page(page, output())


def _list_studies() -> None:
    """Each study's name, the ids of the lecture it belongs to, and its question."""
    from ..results.schema import STUDIES
    from ..studies.catalogue import find_study

    for name in STUDIES:
        each = find_study(name)
        typer.echo(f"{name:<12} {', '.join(each.ids):<12} {each.question}")


def _finished(folder: Path, asked: "Study") -> list[Path]:
    """The finished runs of a folder that the study can be put to."""
    from ..results.folders import check_named, finished_runs
    from ..studies.probing import suiting

    check_named(folder)
    return suiting(asked, finished_runs(folder))


def _train(
    asked: "Study", folder: Path, preset: str | None, assignments: list[str] | None,
    seeds: int | None,
    jobs: int | None, dry_run: bool, quiet: bool,
) -> None:  # fmt: skip
    """Train the runs of the study's sweep; with ``dry_run`` only list them."""
    import sys

    from .sweep import sweep

    # The study's own table alone goes to stdout, where it may be CSV.
    with nullcontext() if dry_run else redirect_stdout(sys.stderr):
        sweep(asked.sweep, folder, preset, assignments, seeds, jobs, dry_run=dry_run, quiet=quiet)


def _chosen(asked: "Study", folder: Path, where: Sequence[str]) -> list[Path]:
    """The runs of the folder that meet the conditions and suit the study."""
    from ..results.bundle import load_results
    from ..settings.errors import UserError
    from ..tables.selection import meeting

    known = set(meeting(load_results(folder), where)["run"])
    runs = [run for run in _finished(folder, asked) if run.name in known]
    if not runs:
        raise UserError(
            f"no finished run in {str(folder)!r} that study {asked.name} can be put to"
            + (f" with {' '.join(where)}" if where else "")
        )
    return runs


def _probe(
    asked: "Study", runs: Sequence[Path], folder: Path, width: int, force: bool, quiet: bool
) -> None:
    """Measure, and write the study's table."""
    from ..settings.atomic import check_writable
    from ..studies.probing import probe_runs, write_table

    check_writable(folder)
    with _shown(len(runs), quiet) as listener:
        probe_runs(asked, runs, listener, width, force)
    path = write_table(asked, runs, folder)
    if not quiet:
        typer.echo(f"{asked.question} ({counted(len(runs), 'run')}; numbers: {path})", err=True)


@contextmanager
def _shown(runs: int, quiet: bool) -> "Iterator[Listener]":
    """A listener that says on stderr, a line each, what is being measured."""
    done: list[Path] = []

    def listen(run: Path, phase: str) -> None:
        if phase == "done":
            done.append(run)
            phase = f"done, {len(done)} of {runs}"
        if not quiet:
            typer.echo(f"{run.name}: {phase}", err=True)

    yield listen
