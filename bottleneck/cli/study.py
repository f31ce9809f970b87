"""``bottleneck study``: a question of the lecture, answered by measuring trained runs.

``study cost`` needs no trained runs: it measures the time of a training step (C9).
"""

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from ..results.schema import BENCHMARK, GOLD, QUESTIONS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_place
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import print_names, say, show


def study(
    name: options.Name = "",
    results: options.Results = None,
    where: options.Where = None,
    gold: Annotated[Path | None, Option(help="Gold links: i-j sure, i?j or ipj possible.")] = None,
    source: Annotated[Path | None, Option(help="Source sentences of --gold.")] = None,
    target: Annotated[Path | None, Option(help="Their translations, one per line.")] = None,
    first_word: Annotated[int | None, Option(min=0, max=1, help="Count links from 0 or 1.")] = None,
    quick: Annotated[bool, Option("--quick", help="For cost: few lengths, some minutes.")] = False,
    form: options.Form = "rich",
    details: options.Details = False,
    dry_run: options.DryRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Answer a question by measuring trained runs."""
    if not name:
        print_names(options.table_lines(QUESTIONS))
        return
    from ..questions.probing import probe_runs, write_table
    from ..questions.question import find_question
    from ..results import folders
    from ..results.bundle import Results
    from ..settings.run import toml_names
    from ..tables.pages import study_page
    from ..tables.selection import where as select

    name = options.find_name("study", name)
    question, files = find_question(name), (gold, source, target)
    if (any(files) or first_word is not None) and not (all(files) and name == "alignment"):
        raise UsageError("--gold, --source, --target go together, and are for study alignment")
    tell = str if quiet else partial(say, err=True)
    if name == BENCHMARK:
        options.refuse({"--where": where, "--dry-run": dry_run}, "study cost uses no trained runs")
        folder = results or DEFAULT_OUT / "bench"
        from ..questions.benchmark import measure

        check_place(folder)
        measure(folder, quick, tell)
        show(study_page(name, folder), form, details)
        return
    options.refuse({"--quick": quick}, "is for study cost")
    if gold is not None:  # every run whose weights can be read, whatever text it was trained on
        question = find_question(GOLD)
    own_runs = name in toml_names()  # trained by the sweep of that name
    latest = folders.latest_output(DEFAULT_OUT, DEFAULT_OUT / "lecture")
    folder = results or (DEFAULT_OUT / name if own_runs else latest)
    folders.check_named(folder)
    folders.check_trainable(folder)
    runs = folders.finished_runs(folder)
    if runs and where:
        chosen = select(Results.open(folder, sentences=False), where).names
        runs = [run for run in runs if run.name in chosen]
    runs = [run for run in runs if question.suits(folders.read_settings(run))]
    if not runs:
        if folder.exists():
            folders.check_one(folder)
        train = f"sweep {name}" if own_runs else "reproduce"
        raise UserError(
            f"no finished run in {str(folder)!r} that study {name} can measure: "
            f"`bottleneck {train}` trains some"
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
        tell(f"words counted from {first}; {linked} of {len(sentences)} have links, all are scored")
        probed = [probe_gold(run, sentences, tell) for run in runs]
    else:
        probed = probe_runs(question, runs, tell)
    path = write_table(question.name, question.summarise(probed), folder)
    tell(f"{question.question} ({counted(len(runs), 'run')}; numbers: {path})")
    show(study_page(question.name, folder), form, details)
