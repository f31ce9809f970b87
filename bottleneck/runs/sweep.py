"""Jobs brought to their end in one store, then the bundle of all that the store holds.

They are a sweep's cells, or the arms of one comparison, which is the main job. One process at a
time writes the bundle, whoever else works in the folder.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from ..corpus.corpus import REAL
from ..corpus.files import pair_files, read_pairs
from ..results.export import write_bundle
from ..results.folders import GROUPS, STORE, drop_tables, finished_runs, json_text, read_groups
from ..results.schema import FILES, RUNS
from ..settings.concerns import CorpusSettings
from ..settings.errors import UsageError, UserError, unwritten
from ..settings.files import write_listed
from ..settings.run import RunSettings
from ..settings.sweep import Cell, labels
from .pool import Executor, Job, Listener, Outcome, run_jobs
from .store import sweep_up


def plan(cells: Sequence[Cell]) -> list[Job]:
    """One job a cell, in their order."""
    named = zip(labels(cells), cells, strict=True)
    return [Job(label, cell.settings, cell.group) for label, cell in named]


def plan_comparison(settings: RunSettings, seeds: int, check_schedule: bool) -> list[Job]:
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
        given = pair_files(corpus, "train"), pair_files(corpus, "test")
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


def run_sweep(
    jobs: Sequence[Job], out: Path, listener: Listener, execute: Executor
) -> list[Outcome]:
    """Execute what is missing; one run's failure does not stop the rest.

    The bundle in ``out`` then holds every finished run of its store, of this sweep or another;
    that of a sweep which was interrupted too.
    """
    groups: dict[str, str] = {}

    def listen(job: Job, event: dict[str, Any]) -> None:
        if job.group and "run" in event:
            groups[event["run"]] = job.group
        listener(job, event)

    try:
        return execute(jobs, out / STORE, listen)
    finally:
        gather(out, groups)


def gather(out: Path, groups: Mapping[str, str]) -> None:
    """Write the bundle of all finished runs in the store of ``out``; nothing where there is none.

    ``groups`` are those of one sweep, by run. A run that two sweeps share has one folder and one
    group, that of the sweep that ended last.
    """
    if not (out / STORE).is_dir():
        return
    sweep_up(out / STORE)
    with _alone(out):
        if groups:
            # A lost file is written from nothing: only the sweeps that write to it can mend it.
            known = read_groups(out) if (out / GROUPS).exists() else {}
            write_listed(out, [(GROUPS, json_text(known | groups).encode())])
        if runs := finished_runs(out):
            write_bundle(runs, out, read_groups(out))


def forget(store: Path, run: str) -> None:
    """Take a run that was removed from its store out of the bundle beside it, if there is one.

    With it goes every study's table that rests on it. The folder is not the latest for that, so its
    bundle keeps its age.
    """
    sweep_up(store)
    out = store.resolve().parent
    if store.resolve().name != STORE or not (out / RUNS).is_file():
        return
    with _alone(out):
        written = (out / RUNS).stat().st_mtime_ns
        groups = read_groups(out)
        if groups.pop(run, None):
            write_listed(out, [(GROUPS, json_text(groups).encode())])
        if runs := finished_runs(out):
            write_bundle(runs, out, groups)
            os.utime(out / RUNS, ns=(written, written))
        else:
            write_listed(out, (), FILES)
        drop_tables(out, {run})


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """What is read and written in the block is read and written by one process at a time."""
    try:
        lock = FileLock(out / STORE / ".bundle.lock")
        lock.acquire()
    except OSError as error:
        raise unwritten(out, error) from None
    try:
        yield
    finally:
        lock.release()
