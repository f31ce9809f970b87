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
from ..results import folders
from ..results.bundle import Results
from ..results.export import write_bundle
from ..scoring.bleu import bleu_metric
from ..settings.errors import UsageError, UserError
from ..settings.files import write_listed
from ..settings.run import RunSettings
from ..settings.sweep import LONGER, Cell, Member, declare
from .pool import Executor, Job, Listener, Outcome, run_jobs

VINDICATION = "vindication"
"""The experiment of ``bottleneck reproduce``: that of the sweep with its name."""


def plan(experiment: str, cells: Sequence[Cell]) -> list[Job]:
    """One job per cell, in their order."""
    return [
        Job(cell.label, cell.settings, Member(experiment, cell.arm, cell.baseline))
        for cell in cells
    ]


def plan_comparison(settings: RunSettings, seeds: int, check_schedule: bool) -> list[Job]:
    """The jobs of the experiment ``vindication``: none and the settings' attention, every seed.

    With ``check_schedule`` the first seed is trained once more, twice as long.
    """
    arms, training = ("none", settings.model.attention), settings.training
    if arms[1] == "none":
        raise UsageError(
            "model.attention=none: reproduce compares none with an attention; name one, as in "
            "--attention additive"
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
    """Refuse a bad tokenizer or bad files before any run; advice where the two do not fit."""
    corpus, tokenize = settings.corpus, settings.scoring.tokenize
    bleu_metric(tokenize)
    given = [pair_files(corpus, split) for split in ("train", "test") if not corpus.is_drawn]
    if corpus.name != "files":
        return []
    for files in filter(None, given):
        pairs = read_pairs(files, corpus.lowercase)
    side = "source" if corpus.reverse_direction else "target"
    references = [getattr(pair, side) for pair in pairs[:1000]]
    return tokenizer_advice(references, tokenize, "--set scoring.tokenize=")


def run_comparison(
    jobs: Sequence[Job], out: Path, listener: Listener, threads: int | None = None
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
    """Execute what is missing; then, also if it was interrupted, write the bundle in ``out``."""
    runs: dict[Job, str] = {}

    def listen(job: Job, event: dict[str, Any]) -> None:
        if "run" in event:
            runs[job] = event["run"]
        listener(job, event)

    try:
        return executor(jobs, out / folders.STORE, listen)
    finally:
        experiments: folders.Experiments = {}
        for job in (job for job in jobs if job in runs):
            experiment, *names = job.member
            experiments.setdefault(experiment, {})[runs[job]] = names
        gather(out, experiments)


def gather(out: Path, experiments: folders.Experiments) -> None:
    """Write the bundle of all finished runs in the store of ``out``; nothing where there is none.

    ``experiments`` are those of one sweep, whose arms come first unless more are known. A run with
    the arm and seed of an earlier one, of other settings or text, replaces all earlier runs.
    """
    if not (out / folders.STORE).is_dir():
        return
    with FileLock(out / folders.STORE / ".bundle.lock"):
        # A lost file is written from nothing: only the sweeps that write to it can mend it.
        known = folders.read_experiments(out) if (out / folders.EXPERIMENTS).exists() else {}
        replaced = known.pop(folders.REPLACED, {})
        for name, runs in experiments.items():
            earlier = known.get(name, {})
            before, now = (_arms_and_seeds(out / folders.STORE, part) for part in (earlier, runs))
            if any(before[run] in now.values() for run in before.keys() - runs.keys()):
                replaced, earlier = replaced | earlier, {}
            count, known_count = (len({arm for arm, _ in x.values()}) for x in (runs, earlier))
            known[name] = (runs if count >= known_count else {}) | earlier | runs
        current = set().union(*known.values())
        if gone := {run: names for run, names in replaced.items() if run not in current}:
            known[folders.REPLACED] = gone
        if experiments:
            write_listed(out, [(folders.EXPERIMENTS, folders.json_text(known).encode())])
        if folders.finished_runs(out):
            write_bundle(Results.open(out), out)


def _arms_and_seeds(store: Path, members: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Arm and seed by finished run: an experiment has one run of each."""
    done = [run for run in members if folders.read_status(store / run).get("status") == "done"]
    settings = {run: folders.read_object(store / run / folders.SETTINGS) for run in done}
    return {run: (members[run][0], settings[run]["training"]["seed"]) for run in done}
