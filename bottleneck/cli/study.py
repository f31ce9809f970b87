"""``bottleneck study``: a question of the lecture, answered by measuring trained runs.

``study cost`` trains none: it measures what a training step costs (C9).
"""

import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..results.schema import BENCHMARK, GOLD, QUESTIONS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_place
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import print_names, say, show

if TYPE_CHECKING:
    from ..questions.question import Question


def study(
    name: options.Name = "",
    results: options.Results = None,
    preset: options.OtherPreset = None,
    where: options.Where = None,
    gold: Annotated[Path | None, Option(help="Gold links: i-j sure, i?j or ipj possible.")] = None,
    source: Annotated[Path | None, Option(help="Source sentences of --gold.")] = None,
    target: Annotated[Path | None, Option(help="Their translations, one per line.")] = None,
    first_word: Annotated[int | None, Option(min=0, max=1, help="Count links from 0 or 1.")] = None,
    quick: Annotated[bool, Option("--quick", help="Of cost: few lengths, some minutes.")] = False,
    form: options.Form = "rich",
    details: options.Details = False,
    dry_run: options.DryRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a question of runs; train them first if there are none."""
    if not name:
        print_names(options.table_lines(QUESTIONS))
        return
    from ..questions.probing import probe_runs, write_table
    from ..questions.question import find_question
    from ..results.folders import check_named, check_trainable, has_probe, latest_output
    from ..tables.pages import study_page

    name = options.find_name("study", name)
    question, files = find_question(name), (gold, source, target)
    if (any(files) or first_word is not None) and not (all(files) and name == "alignment"):
        raise UsageError("--gold, --source, --target go together, and are for study alignment")
    tell = str if quiet else partial(say, err=True)
    if name == BENCHMARK:
        given = {"--preset": preset, "--where": where, "--dry-run": dry_run}
        options.refuse(given, "study cost uses no trained runs")
        folder = results or DEFAULT_OUT / "bench"
        if quick or not has_probe(folder, name):
            from ..questions.benchmark import measure

            check_place(folder)
            measure(folder, quick, tell)
        show(study_page(name, folder), form, details)
        return
    options.refuse({"--quick": quick}, "for study cost")
    if gold is not None:  # every run whose weights can be read, whatever text it was trained on
        question = find_question(GOLD)
    folder = results or DEFAULT_OUT / (name if question.own_runs else preset or "lecture")
    if not (results or question.own_runs or preset):
        folder = latest_output(DEFAULT_OUT, folder)
    check_named(folder)
    check_trainable(folder)
    if gold is None and not _suiting(question, folder, []):
        _train(question, folder, preset, results is not None, dry_run, quiet)
        if dry_run:
            return
    runs = _suiting(question, folder, where or [])
    if not runs:
        raise UserError(
            f"no finished run in {str(folder)!r} that study {name} can measure; `bottleneck table "
            f"runs --results {folder}` lists them all"
        )
    if dry_run:
        names = ", ".join(run.name for run in runs)
        say(f"study {name} would measure {counted(len(runs), 'run')} of {folder}: {names}")
        return
    check_place(folder)
    if gold is not None:
        from ..questions.alignment_gold import probe_gold, read_gold

        sentences, first = read_gold(*files, first_word)
        linked = counted(sum(bool(item.possible) for item in sentences), "sentence")
        tell(f"links counted from {first}, in {linked} of {len(sentences)}, all of which count")
        probed = probe_gold(runs, sentences, tell)
    else:
        probed = probe_runs(question, runs, tell)
    path = write_table(question.name, question.summarise(probed), folder)
    tell(f"{question.question} ({counted(len(runs), 'run')}; numbers: {path})")
    show(study_page(question.name, folder), form, details)


def _suiting(question: "Question", folder: Path, where: Sequence[str]) -> list[Path]:
    """The finished runs of a folder that the study can measure, and that meet the conditions."""
    from ..results.bundle import Results
    from ..results.folders import finished_runs, read_settings
    from ..tables.selection import where as select

    runs = [run for run in finished_runs(folder) if question.suits(read_settings(run))]
    if runs and where:
        known = set(select(Results.open(folder, sentences=False), where).names)
        runs = [run for run in runs if run.name in known]
    return runs


def _train(
    question: "Question", folder: Path, preset: str | None, named: bool, dry_run: bool, quiet: bool
) -> None:
    """Train the runs of the study's sweep, or list them; without a preset only in a new folder."""
    from ..results.folders import check_one, finished_runs
    from .train import sweep

    if folder.exists():
        check_one(folder)
    lacking = f"no finished run in {str(folder)!r} that study {question.name} can measure"
    if not (preset or question.own_runs) and (named or finished_runs(folder)):
        raise UserError(
            f"{lacking}: name a folder of finished runs, or say which runs to train in a new one, "
            "as by --preset lecture"
        )
    if not quiet:  # so that a misspelt folder is noticed
        say(f"{lacking}: {'would train' if dry_run else 'training'} them there first", err=True)
    # The study's own table alone goes to stdout, where it may be CSV.
    with nullcontext() if dry_run else redirect_stdout(sys.stderr):
        name = question.name if question.own_runs else "vindication"
        sweep(name, out=folder, preset=preset, dry_run=dry_run, quiet=quiet)
