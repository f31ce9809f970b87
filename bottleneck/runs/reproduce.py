"""The main job: the arms of one comparison, side by side, into one bundle."""

from collections.abc import Sequence
from pathlib import Path

from ..corpus.corpus import REAL
from ..corpus.files import given_test_files, read_pairs, training_files
from ..results.folders import STORE
from ..settings.concerns import CorpusSettings
from ..settings.errors import UsageError, UserError
from ..settings.run import RunSettings
from .gathered import gather
from .pool import Job, Listener, Outcome, run_jobs


def plan(settings: RunSettings, seeds: int, check_schedule: bool) -> list[Job]:
    """The jobs: the attention of the settings and none, for every seed.

    Both arms get the same data, batches and updates. With ``check_schedule`` the first seed is
    trained once more, twice as long. Raises UsageError where the settings' attention is none.
    """
    if settings.model.attention == "none":
        raise UsageError(
            "model.attention=none: reproduce compares none with an attention; "
            "name one of dot, scaled-dot, general, additive, uniform"
        )
    first = settings.training.seed
    jobs = [
        _job(settings, attention, first + offset, 1)
        for offset in range(seeds)
        for attention in (settings.model.attention, "none")
    ]
    if check_schedule:
        jobs += [_job(settings, arm, first, 2) for arm in (settings.model.attention, "none")]
    return jobs


def _job(settings: RunSettings, attention: str, seed: int, times: int) -> Job:
    training = {"seed": seed, "updates": settings.training.updates * times}
    changed = settings.changed(model={"attention": attention}, training=training)
    return Job(f"{attention} seed {seed}" + (f" x{times}" if times > 1 else ""), changed)


def check_text(corpus: CorpusSettings) -> None:
    """Refuse files that are not given, not there or not pairs of lines, once, before any run.

    A drawn corpus has no files; those of a named one were checked when they were fetched.
    """
    if corpus.name in REAL:
        given = training_files(corpus), given_test_files(corpus)
        if corpus.name == "files":
            for files in filter(None, given):
                read_pairs(files, corpus.lowercase)


def reproduce(jobs: Sequence[Job], out: Path, listener: Listener, threads: int = 1) -> None:
    """Execute the jobs, on so many cores each; the bundle is left alone where one did not end.

    The bundle in ``out`` then holds every finished run of its store, of this comparison or another.
    """
    outcomes = run_jobs(jobs, out / STORE, listener, threads=threads)
    for outcome in outcomes:
        _raise_unless_done(outcome)
    gather(out, {})


def _raise_unless_done(outcome: Outcome) -> None:
    """Turn the first run that did not end well into an error that names it."""
    if outcome.phase == "done":
        return
    if outcome.by_user:
        raise (UsageError if outcome.exit_code == UsageError.exit_code else UserError)(
            outcome.reason
        )
    raise UserError(f"run {outcome.job.name!r} {outcome.phase}: {outcome.reason}")
