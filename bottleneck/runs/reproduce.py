"""The main job: the arms of one comparison, side by side, into one bundle."""

from collections.abc import Sequence
from pathlib import Path

from ..corpus.corpus import REAL
from ..corpus.files import given_test_files, read_pairs, training_files
from ..results.folders import STORE
from ..settings.concerns import CorpusSettings
from ..settings.errors import UsageError, UserError
from ..settings.run import RunSettings
from .pool import Job, Listener, run_jobs
from .sweep import gather


def plan(settings: RunSettings, seeds: int, check_schedule: bool) -> list[Job]:
    """The jobs: the attention of the settings and none, for every seed.

    Both arms get the same data, batches and updates. With ``check_schedule`` the first seed is
    trained once more, twice as long. Raises UsageError where the settings' attention is none.
    """
    arms, training = (settings.model.attention, "none"), settings.training
    if arms[0] == "none":
        raise UsageError(
            "model.attention=none: reproduce compares none with an attention; "
            "name one of dot, scaled-dot, general, additive, uniform"
        )
    cells = [(arm, training.seed + offset, 1) for offset in range(seeds) for arm in arms]
    cells += [(arm, training.seed, 2) for arm in arms if check_schedule]
    jobs = []
    for arm, seed, times in cells:
        schedule = {"seed": seed, "updates": training.updates * times}
        name = f"{arm} seed {seed}" + (f" x{times}" if times > 1 else "")
        jobs.append(Job(name, settings.changed(model={"attention": arm}, training=schedule)))
    return jobs


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

    The first that did not end well is a ``UserError``. The bundle in ``out`` then holds every
    finished run of its store, of this comparison or another.
    """
    for outcome in run_jobs(jobs, out / STORE, listener, threads=threads):
        if outcome.phase != "done":
            error = UsageError if outcome.exit_code == UsageError.exit_code else UserError
            reason = "" if outcome.exit_code else f"run {outcome.job.name!r} {outcome.phase}: "
            raise error(f"{reason}{outcome.reason}")
    gather(out, {})
