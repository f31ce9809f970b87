"""``bottleneck study``: a question of the lecture, answered by measuring trained runs."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..results.schema import QUESTIONS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_writable
from ..settings.machine import DEFAULT_OUT
from . import options
from .bench import show_benchmark
from .console import print_names, say, show

if TYPE_CHECKING:
    from ..questions.question import Study
    from ..tables.page import Page

Gold = Annotated[
    Path | None,
    typer.Option(
        help="Your own gold links, one sentence per line: i-j sure, i?j possible, source first. "
        "Requires --source and --target."
    ),
]
GoldSource = Annotated[
    Path | None, typer.Option(help="Source sentences of --gold, words separated by spaces.")
]
GoldTarget = Annotated[Path | None, typer.Option(help="Their translations, one per line.")]
FirstWord = Annotated[
    int, typer.Option(min=0, max=1, help="Index of the first word of a sentence in --gold.")
]


def study(
    name: options.QuestionName = "",
    results: Annotated[
        Path | None, typer.Option(help="Folder of finished runs [default: results/runs/PRESET].")
    ] = None,
    preset: options.RunsPreset = None,
    assignments: options.Assignments = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=options.MOST_SEEDS, help="Number of runs of each arm to train."),
    ] = None,
    where: options.Where = None,
    gold: Gold = None,
    source: GoldSource = None,
    target: GoldTarget = None,
    first_word: FirstWord = 0,
    form: options.Form = "rich",
    details: options.Details = False,
    jobs: options.Jobs = None,
    force: Annotated[
        bool, typer.Option("--force", help="Measure again, even if it is done.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a question of the lecture of trained runs.

    If there are no runs, train them first.
    """
    from ..questions.question import find_study

    if not name:
        questions = map(find_study, QUESTIONS)
        print_names({item.name: f"{item.question} ({', '.join(item.ids)})" for item in questions})
        return
    from ..runs.pool import default_width
    from ..tables.page import check_format
    from ..tables.pages import study_pages

    question = find_study(name)
    check_format(form)
    _check_gold_options(name, gold, source, target)
    if question.probe is None:
        given = {"--preset": preset, "--set": assignments, "--seeds": seeds, "--where": where}
        show_benchmark(results, form, given, details)
        return
    if gold is not None:  # every run whose weights can be read, whatever text it was trained on
        from ..questions.alignment import attends

        question = replace(question, suits=attends)
    folder = results or DEFAULT_OUT / (name if question.own_runs else preset or "lecture")
    _refuse_bundle(question, folder, gold is not None)
    finished = gold is not None or bool(_finished(folder, question))
    if finished and (assignments or seeds):
        raise UsageError(
            f"the study measures the finished runs of {str(folder)!r}: choose among them with "
            "--where, or train others into another folder with --results"
        )
    if not finished:
        chosen = {"preset": preset, "assignments": assignments, "seeds": seeds}
        _train(question, folder, chosen, jobs, dry_run, quiet)
        if dry_run:
            return
    runs = _selected(question, folder, where or [])
    if dry_run:
        names = ", ".join(run.name for run in runs)
        say(f"study {name} would measure {counted(len(runs), 'run')} of {folder}: {names}")
    elif gold is not None:
        page = _measure_gold(runs, folder, (gold, source, target), first_word, quiet)
        show([page], form, details)
    else:
        _measure(question, runs, folder, jobs or default_width(), force, quiet)
        show(study_pages(name, folder), form, details)


def _train(
    question: "Study", folder: Path, chosen: dict[str, Any], jobs: int | None, dry_run: bool,
    quiet: bool
) -> None:  # fmt: skip
    """Train the runs of the study's sweep; with ``dry_run`` only list them."""
    from ..results.discovery import find_runs
    from .train import sweep

    _check_untrained(question, folder, question.own_runs or any(chosen.values()))
    if not quiet:  # a misspelt folder should not pass unseen
        old = len(find_runs(folder).other_versions)
        others = f" ({counted(old, 'run')} by another version of this program)" if old else ""
        say(
            f"no finished run in {str(folder)!r} that study {question.name} can measure{others}: "
            f"{'would train' if dry_run else 'training'} its own there first",
            err=True,
        )
    # The study's own table alone goes to stdout, where it may be CSV.
    with nullcontext() if dry_run else redirect_stdout(sys.stderr):
        sweep(question.sweep, out=folder, **chosen, jobs=jobs, dry_run=dry_run, quiet=quiet)


def _measure(
    question: "Study", runs: Sequence[Path], folder: Path, width: int, force: bool, quiet: bool
) -> None:
    """Measure, and write the study's table."""
    from ..questions.probing import is_kept, probe_runs, read_kept, write_table
    from ..results.folders import read_settings
    from .progress import probe_lines

    check_writable(folder, "--results")
    waiting = [run for run in runs if force or not is_kept(run, question)]
    probe_runs(question, runs, probe_lines(waiting, quiet), width, force)
    probed = [read_kept(run, read_settings(run), question) for run in runs]
    path = write_table(question, probed, folder)
    if not quiet:
        say(f"{question.question} ({counted(len(runs), 'run')}; numbers: {path})", err=True)


def _measure_gold(
    runs: Sequence[Path], folder: Path, files: tuple[Path, Path, Path], first: int, quiet: bool
) -> "Page":
    """Measure the runs on the gold set, write the table, and give its page."""
    from ..questions.alignment_gold import QUESTION, probe_gold, read_gold
    from ..questions.probing import write_table
    from ..questions.question import Probed
    from ..questions.subject import open_subject
    from ..runs.environment import use_cache
    from ..tables.pages import study_pages

    def tell(words: str) -> None:
        if not quiet:
            say(f"{subject.folder.name}: {words}", err=True)

    sentences = read_gold(*files, first)
    check_writable(folder, "--results")
    use_cache()
    probed = []
    for run in runs:
        subject = open_subject(run)
        probed.append(Probed(run, subject.settings, probe_gold(subject, sentences, tell)))
    write_table(QUESTION, probed, folder)
    return study_pages(QUESTION.name, folder)[0]


def _check_gold_options(
    name: str, gold: Path | None, source: Path | None, target: Path | None
) -> None:
    """Refuse options that do not go together."""

    given = {"--gold": gold, "--source": source, "--target": target}
    missing = [option for option, path in given.items() if path is None]
    if len(missing) == len(given):
        return
    if name != "alignment":
        raise UsageError(
            f"--gold, --source and --target are for study alignment, not {name}; leave them out"
        )
    if missing:
        raise UsageError(f"{' and '.join(missing)} missing: --gold, --source, --target go together")


def _refuse_bundle(question: "Study", folder: Path, gold: bool) -> None:
    """Runs trained into a bundle without its store would take the place of its own.

    The way out is its table where that was measured, else runs: its own, or others elsewhere.
    """
    from ..results.folders import check_named, without_runs
    from ..results.probes import GOLD, has_probe

    check_named(folder)
    if not without_runs(folder):
        return
    table = GOLD if gold else question.name
    way = "name with --results the folder where its runs were trained"
    if has_probe(folder, table):
        way = f"`bottleneck table {table} --results {folder}` prints what was measured"
    elif not gold:
        preset = "" if question.own_runs else ", with --preset lecture"
        way += f", or a new one for runs of its own{preset}"
    raise UserError(
        f"{str(folder)!r} is a bundle without its run folders, which a study measures: {way}"
    )


def _check_untrained(question: "Study", folder: Path, chosen: bool) -> None:
    """Refuse a folder in which nobody means to train: of several sweeps, misspelt, of other texts.

    ``chosen`` says whether the user chose the runs to be trained.
    """
    from ..results.discovery import check_one, find_runs, finished_runs, results_inside
    from ..results.folders import read_settings

    if inside := [path.name for path in results_inside(folder)]:
        raise UserError(
            f"{str(folder)!r} holds folders of results ({', '.join(inside)}): name one of them"
        )
    if not chosen and folder != DEFAULT_OUT / "lecture":
        check_one(folder)
        others = len(find_runs(folder).other_versions)
        if others or not folder.exists():
            state = f"holds {counted(others, 'run')} by another version of this program"
            raise UserError(
                f"{str(folder)!r} {state if others else 'does not exist'}: name a folder of "
                "finished runs, or say which runs to train there, as by --preset lecture"
            )
    texts = {read_settings(run).corpus.name for run in finished_runs(folder)} - {"grammar"}
    if texts:
        gold = question.name == "alignment" and "files" in texts
        raise UserError(
            f"study {question.name} cannot measure the finished runs in {str(folder)!r} (corpus "
            f"{', '.join(sorted(texts))}); without --results it trains its own on the grammar"
            + (", --gold takes links of your own" if gold else "")
        )


def _finished(folder: Path, question: "Study") -> list[Path]:
    """The finished runs of a folder that the study can measure."""
    from ..questions.probing import suiting
    from ..results.discovery import finished_runs

    return suiting(question, finished_runs(folder))


def _selected(question: "Study", folder: Path, where: Sequence[str]) -> list[Path]:
    """Those that meet the conditions, too."""
    from ..results.bundle import load_results
    from ..tables.selection import meeting

    known = set(meeting(load_results(folder), where)["run"])
    runs = [run for run in _finished(folder, question) if run.name in known]
    if not runs:
        raise UserError(
            f"no finished run in {str(folder)!r} that study {question.name} can measure"
            + (f" with {' '.join(where)}" if where else "")
            + f"; `bottleneck runs --results {folder}` lists them all"
        )
    return runs
