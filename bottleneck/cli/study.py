"""``bottleneck study``: a question of the lecture, put to trained runs."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..results.schema import QUESTIONS
from ..settings.errors import counted
from .bench import print_benchmark
from .console import print_names, print_pages, say, show
from .gold import FirstWord, Gold, Source, Target, check_gold_options, for_gold, study_gold
from .listing import presets, studies
from .options import Assignments, Details, Form, Jobs, Quiet, Where
from .reproduce import DEFAULT_OUT, MOST_SEEDS

if TYPE_CHECKING:
    from ..questions.probing import Listener
    from ..questions.question import Study

RunsPreset = Annotated[
    str | None,
    typer.Option(
        help="Preset of the runs to train [default: the study's, else lecture].",
        autocompletion=presets,
    ),
]


def study(
    name: Annotated[
        str,
        typer.Argument(help="Which question. Without a name, list them.", autocompletion=studies),
    ] = "",
    results: Annotated[
        Path | None,
        typer.Option(help="Folder of finished runs [default: results/runs/PRESET]."),
    ] = None,
    preset: RunsPreset = None,
    assignments: Assignments = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SEEDS, help="Number of runs of each arm to train."),
    ] = None,
    where: Where = None,
    gold: Gold = None,
    source: Source = None,
    target: Target = None,
    first_word: FirstWord = 0,
    form: Form = "rich",
    details: Details = False,
    jobs: Jobs = None,
    force: Annotated[
        bool, typer.Option("--force", help="Measure again, even if it is done.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Ask a question of the lecture of trained runs.

    If there are no runs, train them first.
    """
    if not name:
        _list_studies()
        return
    from ..questions.question import find_study
    from ..runs.pool import default_width
    from ..settings.errors import UsageError
    from ..tables.page import check_format
    from ..tables.pages import study_pages

    asked = find_study(name)
    check_format(form)
    check_gold_options(name, gold, source, target)
    if asked.probe is None:
        given = {"--preset": preset, "--set": assignments, "--seeds": seeds, "--where": where}
        print_benchmark(results, form, given, details)
        return
    asked = for_gold(asked) if gold is not None else asked
    folder = results or DEFAULT_OUT / (name if asked.own_runs else preset or "lecture")
    _refuse_bundle(asked, folder, gold is not None)
    if (gold is not None or _finished(folder, asked)) and (assignments or seeds):
        raise UsageError(
            f"the study is put to the finished runs of {str(folder)!r}: choose among them with "
            "--where, or train others into another folder with --results"
        )
    if gold is None and not _finished(folder, asked):
        _train(asked, folder, preset, assignments, seeds, jobs, dry_run, quiet)
        if dry_run:
            return
    runs = _chosen(asked, folder, where or [])
    if dry_run:
        say(_plan(asked, runs, folder))
    elif gold is not None:
        page = study_gold(runs, folder, (gold, source, target), first_word, quiet)
        show(page, form, details)
    else:
        _put_to(asked, runs, folder, jobs or default_width(), force, quiet)
        print_pages(study_pages(name, folder), form, details)


def _put_to(
    asked: "Study", runs: Sequence[Path], folder: Path, width: int, force: bool, quiet: bool
) -> None:
    """Measure, and write the study's table."""
    from ..questions.probing import is_kept, probe_runs, read_kept, write_table
    from ..results.folders import read_settings
    from ..settings.atomic import check_writable

    check_writable(folder, "--results")
    waiting = [run for run in runs if force or not is_kept(run, asked)]
    with _listening(waiting, quiet) as listener:
        probe_runs(asked, runs, listener, width, force)
    path = write_table(asked, [read_kept(run, read_settings(run), asked) for run in runs], folder)
    if not quiet:
        say(f"{asked.question} ({counted(len(runs), 'run')}; numbers: {path})", err=True)


@contextmanager
def _listening(runs: Sequence[Path], quiet: bool) -> "Iterator[Listener]":
    """A listener that says on stderr, a line each, what is being measured of which run."""
    from .progress import clock

    numbers = {run: number for number, run in enumerate(runs, 1)}
    done: list[Path] = []
    start = time.monotonic()

    def listen(run: Path, phase: str) -> None:
        elapsed = time.monotonic() - start
        clocked = clock(elapsed)
        if phase == "done":
            done.append(run)
            left = elapsed / len(done) * (len(runs) - len(done))
            phase = f"done, {len(done)} of {len(runs)}"
            clocked += f", about {clock(left)} left" if left else ""
        if not quiet:
            say(f"{run.name} ({numbers[run]} of {len(runs)}): {phase} ({clocked})", err=True)

    yield listen


def _plan(asked: "Study", runs: Sequence[Path], folder: Path) -> str:
    """What would be done, in one line."""
    names = ", ".join(run.name for run in runs)
    return f"study {asked.name} would be put to {counted(len(runs), 'run')} of {folder}: {names}"


def _list_studies() -> None:
    """Each study's name, the ids of the lecture it belongs to, and its question."""
    from ..questions.question import find_study

    questions = map(find_study, QUESTIONS)
    print_names({item.name: f"{item.question} ({', '.join(item.ids)})" for item in questions})


def _finished(folder: Path, asked: "Study") -> list[Path]:
    """The finished runs of a folder that the study can be put to."""
    from ..questions.probing import suiting
    from ..results.discovery import finished_runs

    return suiting(asked, finished_runs(folder))


def _train(
    asked: "Study", folder: Path, preset: str | None, assignments: list[str] | None,
    seeds: int | None,
    jobs: int | None, dry_run: bool, quiet: bool,
) -> None:  # fmt: skip
    """Train the runs of the study's sweep; with ``dry_run`` only list them."""
    import sys

    from .sweep import sweep

    said = asked.own_runs or preset or assignments or seeds
    _refuse_several(folder)
    if not said and folder != DEFAULT_OUT / "lecture":
        _refuse_misnamed(folder)
    _refuse_beside(asked, folder)
    if not quiet:
        say(_why_train(asked, folder, dry_run), err=True)
    # The study's own table alone goes to stdout, where it may be CSV.
    with nullcontext() if dry_run else redirect_stdout(sys.stderr):
        sweep(
            asked.sweep,
            out=folder,
            preset=preset,
            assignments=assignments,
            seeds=seeds,
            jobs=jobs,
            dry_run=dry_run,
            quiet=quiet,
        )


def _why_train(asked: "Study", folder: Path, dry_run: bool) -> str:
    """Why there is training before an answer: a misspelt folder should not pass unseen."""
    from ..results.discovery import find_runs

    old = len(find_runs(folder).other_versions)
    told = f"no finished run in {str(folder)!r} that study {asked.name} can be put to"
    others = f" ({counted(old, 'run')} by another version of this program)" if old else ""
    return f"{told}{others}: {'would train' if dry_run else 'training'} its own there first"


def _refuse_misnamed(folder: Path) -> None:
    """A folder misspelt, of another version or a benchmark's: no training that nobody asked for."""
    from ..results.discovery import check_one, find_runs
    from ..settings.errors import UserError

    check_one(folder)
    others = len(find_runs(folder).other_versions)
    if folder.exists() and not others:
        return
    held = f"holds {counted(others, 'run')} by another version of this program"
    raise UserError(
        f"{str(folder)!r} {held if folder.exists() else 'does not exist'}: name a folder of "
        "finished runs, or say which runs to train there, as by --preset lecture"
    )


def _refuse_several(folder: Path) -> None:
    """Runs trained beside the folders of several sweeps would be taken for all of them."""
    from ..results.discovery import results_inside
    from ..settings.errors import UserError

    if inside := [path.name for path in results_inside(folder)]:
        raise UserError(
            f"{str(folder)!r} holds folders of results ({', '.join(inside)}): name one of them"
        )


def _refuse_bundle(asked: "Study", folder: Path, gold: bool) -> None:
    """Runs trained into a bundle without its store would take the place of its own.

    The way out is its table where that was measured, else runs: its own, or others elsewhere.
    """
    from ..results.folders import check_named, without_runs
    from ..results.probes import GOLD, has_probe
    from ..settings.errors import UserError

    check_named(folder)
    if not without_runs(folder):
        return
    table = GOLD if gold else asked.name
    way = "name with --results the folder where its runs were trained"
    if has_probe(folder, table):
        way = f"`bottleneck table {table} --results {folder}` prints what was measured"
    elif not gold:
        preset = "" if asked.own_runs else ", with --preset lecture"
        way += f", or a new one for runs of its own{preset}"
    raise UserError(
        f"{str(folder)!r} is a bundle without its run folders, to which alone a study can be put: "
        f"{way}"
    )


def _refuse_beside(asked: "Study", folder: Path) -> None:
    """Runs on a text that the study cannot be put to get no runs on another beside them."""
    from ..results.discovery import finished_runs
    from ..results.folders import read_settings
    from ..settings.errors import UserError

    texts = {read_settings(run).corpus.name for run in finished_runs(folder)} - {"grammar"}
    if texts:
        gold = asked.name == "alignment" and "files" in texts
        raise UserError(
            f"study {asked.name} cannot be put to the finished runs in {str(folder)!r} (corpus "
            f"{', '.join(sorted(texts))}); without --results it trains its own on the grammar"
            + (", --gold takes links of your own" if gold else "")
        )


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
            + f"; `bottleneck runs --results {folder}` lists them all"
        )
    return runs
