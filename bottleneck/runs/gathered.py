"""The results bundle of an output folder, kept to what the store in it holds.

One process at a time writes it, whoever else works in the folder.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from ..results.discovery import finished_runs
from ..results.export import write_bundle
from ..results.folders import GROUPS, STORE, json_text, read_groups
from ..results.schema import FILES, RUNS
from ..results.study_files import drop_tables
from ..settings.errors import unwritten
from ..settings.files import write_listed
from .store import sweep_up

_LOCK = ".bundle.lock"


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
            # A file that was lost is begun anew: the sweeps that write to it are all that mends it.
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
        lock = FileLock(out / STORE / _LOCK)
        lock.acquire()
    except OSError as error:
        raise unwritten(out, error) from None
    try:
        yield
    finally:
        lock.release()
