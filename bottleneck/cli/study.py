"""``bottleneck study``: a question of the lecture, answered by measuring trained runs.

``study cost`` trains none: it measures what a training step costs (C9).
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..results.schema import BENCHMARK, GOLD, QUESTIONS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_place
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import print_names, say, show, time_left

if TYPE_CHECKING:
    from ..questions.benchmark import Row
    from ..questions.question import Question

Lengths = Annotated[
    str | None, Option(metavar="N,..", help="Of cost, tokens per side [default: 10 to 200].")
]
Arms = Annotated[
    str | None,
    Option(
        metavar="ARM,..",
        help="Of cost, attentions, with -output for Luong's placement "
        "[default: none, additive, dot, dot-output].",
    ),
]
Quick = Annotated[bool, Option("--quick", help="Of cost, few lengths: in a few minutes.")]
Gold = Annotated[
    Path | None,
    Option(help="Gold links, line by line: i-j sure, i?j or ipj possible, source first."),
]


def study(
    name: options.Name = "",
    results: Annotated[
        Path | None, Option(help="Folder of finished runs [default: PRESET's, else the latest].")
    ] = None,
    preset: options.OtherPreset = None,
    assignments: options.Assignments = None,
    seeds: options.Seeds = None,
    where: options.Where = None,
    gold: Gold = None,
    source: Annotated[Path | None, Option(help="Source sentences of --gold.")] = None,
    target: Annotated[Path | None, Option(help="Their translations, one per line.")] = None,
    first_word: Annotated[int | None, Option(min=0, max=1, help="Count links from 0 or 1.")] = None,
    lengths: Lengths = None,
    arms: Arms = None,
    quick: Quick = False,
    form: options.Form = "rich",
    details: options.Details = False,
    jobs: options.Jobs = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a question of runs; train them first if there are none."""
    if not name:
        print_names(options.table_lines(QUESTIONS))
        return
    from ..questions.question import find_question
    from ..results.folders import check_named, check_trainable, has_probe, latest_output
    from ..tables.pages import study_page

    name = options.find_name("study", name)
    question, files = find_question(name), (gold, source, target)
    if (any(files) or first_word is not None) and not (all(files) and name == "alignment"):
        raise UsageError("--gold, --source, --target go together, and are for study alignment")
    if question.probe is None:
        refuse({"--preset": preset, "--set": assignments, "--seeds": seeds, "--where": where,
                "--dry-run": dry_run, "--jobs": jobs})  # fmt: skip
        folder = results or DEFAULT_OUT / "bench"
        if force or lengths or arms or quick or not has_probe(folder, name):
            _measure_cost(folder, lengths, arms, quick, quiet)
        show(study_page(name, folder), form, details)
        return
    if lengths or arms or quick:
        raise UsageError("--lengths, --arms, --quick are for study cost")
    if gold is not None:  # every run whose weights can be read, whatever text it was trained on
        question = find_question(GOLD)
    chosen = {"preset": preset, "assignments": assignments, "seeds": seeds}
    folder = results or DEFAULT_OUT / (name if question.own_runs else preset or "lecture")
    if not (results or question.own_runs or any(chosen.values())):
        folder = latest_output(DEFAULT_OUT, folder)
    check_named(folder)
    check_trainable(folder)
    if gold is None and not _suiting(question, folder, []):
        _train(question, folder, chosen, jobs, dry_run, quiet)
        if dry_run:
            return
    elif assignments or seeds:
        raise UsageError(
            f"{str(folder)!r} has finished runs: choose among them with --where, or train others "
            "into another folder with --results"
        )
    runs = _suiting(question, folder, where or [])
    if not runs:
        raise UserError(
            f"no finished run in {str(folder)!r} that study {name} can measure"
            + (f" with {' '.join(where)}" if where else "")
            + f"; `bottleneck table runs --results {folder}` lists them all"
        )
    if dry_run:
        names = ", ".join(run.name for run in runs)
        say(f"study {name} would measure {counted(len(runs), 'run')} of {folder}: {names}")
        return
    check_place(folder)
    tell = str if quiet else partial(say, err=True)
    if gold is not None:
        name = _measure_gold(runs, folder, files, first_word, tell)
    else:
        _measure(question, runs, folder, jobs, force, tell)
    show(study_page(name, folder), form, details)


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
    question: "Question", folder: Path, chosen: dict[str, Any], jobs: int | None, dry_run: bool,
    quiet: bool
) -> None:  # fmt: skip
    """Train the runs of the study's sweep; with ``dry_run`` only list them.

    Not in a folder where nobody means to: of several sweeps, misspelt, of other texts.
    """
    from ..results.folders import check_one, find_runs
    from .train import sweep

    if folder.exists():
        check_one(folder)
    stored = find_runs(folder)
    names = {known["settings"]["corpus"]["name"] for known in stored.done.values()}
    lacking = f"no finished run in {str(folder)!r} that study {question.name} can measure"
    lacking += f" (corpus {', '.join(sorted(names))})" if names else ""
    any_chosen = question.own_runs or any(chosen.values()) or folder == DEFAULT_OUT / "lecture"
    if names - {"grammar"} or not (any_chosen or stored.done or stored.unfinished):
        raise UserError(
            f"{lacking}: name a folder of finished runs, or say which runs to train in a new one, "
            "as by --preset lecture"
        )
    if not quiet:  # a misspelt folder should not pass unseen
        say(f"{lacking}: {'would train' if dry_run else 'training'} its own there first", err=True)
    # The study's own table alone goes to stdout, where it may be CSV.
    with nullcontext() if dry_run else redirect_stdout(sys.stderr):
        name = question.name if question.own_runs else "vindication"
        sweep(name, out=folder, **chosen, jobs=jobs, dry_run=dry_run, quiet=quiet)


def _measure(
    question: "Question", runs: Sequence[Path], folder: Path, jobs: int | None, force: bool,
    tell: Callable[[str], object]
) -> None:  # fmt: skip
    """Measure, and write the study's table."""
    from ..questions.probing import kept_file, probe_runs, read_kept, write_table
    from ..results.folders import read_settings
    from ..runs.pool import default_width

    waiting = [run for run in runs if force or not kept_file(run, question).is_file()]

    def listen(run: Path, phase: str) -> None:
        tell(f"{run.name} ({waiting.index(run) + 1} of {len(waiting)}): {phase}")

    probe_runs(question, waiting, listen, jobs or default_width())
    probed = [read_kept(run, read_settings(run), question) for run in runs]
    path = write_table(question, probed, folder)
    tell(f"{question.question} ({counted(len(runs), 'run')}; numbers: {path})")


def _measure_gold(
    runs: Sequence[Path],
    folder: Path,
    files: Sequence[Path],
    first_word: int | None,
    tell: Callable[[str], object],
) -> str:
    """Measure the runs on the gold set, and write the table; its name."""
    from ..questions.alignment import GOLD_QUESTION, probe_gold, read_gold
    from ..questions.probing import write_table
    from ..questions.question import Probed
    from ..questions.subject import open_subject
    from ..runs.run import use_cache

    (sentences, first), probed = read_gold(*files, first_word), []
    use_cache()
    for run in runs:
        subject = open_subject(run)
        measured = probe_gold(
            subject, sentences, first, lambda words, run=run: tell(f"{run.name}: {words}")
        )
        probed.append(Probed(run, subject.settings, measured))
    write_table(GOLD_QUESTION, probed, folder)
    return GOLD_QUESTION.name


def _measure_cost(
    folder: Path, lengths: str | None, arms: str | None, quick: bool, quiet: bool
) -> None:
    """Time a training step of each arm at each length, and write the table."""
    from ..questions import benchmark

    usual = benchmark.QUICK_ARMS if quick else benchmark.DEFAULT_ARMS
    names = benchmark.parse_arms(arms or usual)
    sizes = list(benchmark.QUICK_LENGTHS if quick else benchmark.LENGTHS)
    sizes = benchmark.parse_lengths(lengths) if lengths else sizes
    start, done = time.monotonic(), []

    def listen(length: int, rows: "Sequence[Row]") -> None:
        done.append(length)
        left = time_left(time.monotonic() - start, len(done), len(sizes))
        steps = ", ".join(f"{row['arm']} {1e3 * row['seconds']:,.1f} ms" for row in rows)
        if not quiet:
            say(f"length {length}: {steps} ({len(done)} of {len(sizes)}{left})", err=True)

    check_place(folder)
    rows, failed = benchmark.measure(sizes, names, 3 if quick else 5, listen)
    benchmark.write(folder, rows)
    for length, reason in failed.items():
        say(f"length {length} could not be measured: {reason}", err=True)
    say(f"Written to {folder / 'probes' / f'{BENCHMARK}.csv'}", err=True)


def refuse(given: Mapping[str, Any]) -> None:
    """Refuse options that choose or train runs, where the benchmark is asked for."""
    if named := [name for name, value in given.items() if value]:
        raise UsageError(f"{BENCHMARK} uses no trained runs: leave out {named[0]}")
