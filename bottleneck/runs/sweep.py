"""Jobs brought to their end in one store, then the bundle of all that the store holds.

They are a sweep's cells, or the arms of one comparison, which is the main job.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from ..corpus.files import pair_files, read_pairs
from ..corpus.vocabulary import tokenizer_advice
from ..results.export import write_bundle
from ..results.folders import (
    EXPERIMENTS,
    REPLACED,
    SETTINGS,
    STORE,
    Experiments,
    finished_runs,
    json_text,
    read_experiments,
    read_object,
    read_status,
)
from ..scoring.bleu import bleu_metric
from ..settings.errors import UsageError, UserError, unwritten
from ..settings.files import write_listed
from ..settings.run import RunSettings
from ..settings.sweep import LONGER, Cell, Member, declare
from .pool import Executor, Job, Listener, Outcome, run_jobs

VINDICATION = "vindication"
"""The experiment of ``bottleneck reproduce``: that of the sweep with its name."""


def plan(experiment: str, cells: Sequence[Cell]) -> list[Job]:
    """One job a cell, in their order."""
    return [
        Job(cell.label, cell.settings, Member(experiment, cell.arm, cell.baseline))
        for cell in cells
    ]


def plan_comparison(settings: RunSettings, seeds: int, check_schedule: bool) -> list[Job]:
    """The jobs of the experiment ``vindication``: none and the settings' attention, every seed.

    Both arms get the same data, batches and updates. With ``check_schedule`` the first seed is
    trained once more, twice as long. Raises UsageError where the settings' attention is none.
    """
    arms, training = ("none", settings.model.attention), settings.training
    if arms[1] == "none":
        raise UsageError(
            "model.attention=none: reproduce compares none with an attention; "
            "name one of dot, scaled-dot, general, additive, uniform"
        )
    points = [(arm, training.seed + offset, 1) for offset in range(seeds) for arm in arms]
    points += [(arm, training.seed, 2) for arm in arms if check_schedule]
    cells = []
    for arm, seed, times in points:
        schedule = {"seed": seed, "updates": training.updates * times}
        changed = settings.changed(model={"attention": arm}, training=schedule)
        cells.append(Cell(LONGER if times > 1 else "", changed))
    return plan(VINDICATION, declare(cells))


def check_text(settings: RunSettings) -> list[str]:
    """Refuse files that are not given, not there or not pairs of lines, once, before any run.

    And a tokenizer that BLEU has not; a line says if it does not fit the user's target.
    """
    corpus, tokenize = settings.corpus, settings.scoring.tokenize
    bleu_metric(tokenize)
    splits = () if corpus.is_drawn else ("train", "test")
    given = [pair_files(corpus, split) for split in splits]
    if corpus.name != "files":
        return []
    for files in filter(None, given):
        pairs, _ = read_pairs(files, corpus.lowercase)
    side = "source" if corpus.reverse_direction else "target"
    references = [getattr(pair, side) for pair in pairs[:1000]]
    return tokenizer_advice(references, tokenize, "--set scoring.tokenize=")


def run_comparison(
    jobs: Sequence[Job], out: Path, listener: Listener, threads: int = 1
) -> list[str]:
    """`run_sweep` on so many cores a run; the first that did not end well is a ``UserError``."""
    outcomes = run_sweep(jobs, out, listener, partial(run_jobs, threads=threads))
    for outcome in outcomes:
        if outcome.phase != "done":
            error = UsageError if outcome.exit_code == UsageError.exit_code else UserError
            reason = "" if outcome.exit_code else f"run {outcome.job.name!r} {outcome.phase}: "
            raise error(f"{reason}{outcome.reason}")
    return [outcome.run for outcome in outcomes]


def run_sweep(
    jobs: Sequence[Job], out: Path, listener: Listener, executor: Executor
) -> list[Outcome]:
    """Execute what is missing; one run's failure does not stop the rest.

    Then, also if the sweep was interrupted, the bundle in ``out`` holds every finished run of its
    store, of this sweep or another.
    """
    runs: dict[Job, str] = {}

    def listen(job: Job, event: dict[str, Any]) -> None:
        if "run" in event:
            runs[job] = event["run"]
        listener(job, event)

    try:
        return executor(jobs, out / STORE, listen)
    finally:
        experiments: Experiments = {}
        for job in (job for job in jobs if job in runs):
            experiment, *names = job.member
            experiments.setdefault(experiment, {})[runs[job]] = names
        gather(out, experiments)


def gather(out: Path, experiments: Experiments) -> None:
    """Write the bundle of all finished runs in the store of ``out``; nothing where there is none.

    ``experiments`` are those of one sweep. Its arms come first from now on, unless more are known:
    then their order stays. A run that two of them share has one folder, and is in both. Where a run
    has the arm and seed of another one, of other settings or text, it replaces all earlier runs.
    One process at a time does so, whoever else works in the folder.
    """
    if not (out / STORE).is_dir():
        return
    lock = FileLock(out / STORE / ".bundle.lock")
    try:
        lock.acquire()
    except OSError as error:
        raise unwritten(out, error) from None
    try:
        if experiments:
            _declare(out, experiments)
        if runs := finished_runs(out):
            write_bundle(runs, out)
    finally:
        lock.release()


def _declare(out: Path, experiments: Experiments) -> None:
    """Add the experiments of one sweep to those that are known."""
    # A lost file is written from nothing: only the sweeps that write to it can mend it.
    known = read_experiments(out) if (out / EXPERIMENTS).exists() else {}
    replaced = known.pop(REPLACED, {})
    for name, runs in experiments.items():
        earlier = known.get(name, {})
        before, now = (_arms_and_seeds(out / STORE, part) for part in (earlier, runs))
        if any(before[run] in now.values() for run in before.keys() - runs.keys()):
            replaced, earlier = replaced | earlier, {}
        count, known_count = (len({arm for arm, _ in x.values()}) for x in (runs, earlier))
        known[name] = (runs if count >= known_count else {}) | earlier | runs
    current = set().union(*known.values())
    gone = {run: names for run, names in replaced.items() if run not in current}
    known |= {REPLACED: gone} if gone else {}
    write_listed(out, [(EXPERIMENTS, json_text(known).encode())])


def _arms_and_seeds(store: Path, members: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Arm and seed by finished run: an experiment has one run of each."""
    done = [run for run in members if read_status(store / run).get("status") == "done"]
    settings = {run: read_object(store / run / SETTINGS) for run in done}
    return {run: (members[run][0], settings[run]["training"]["seed"]) for run in done}
