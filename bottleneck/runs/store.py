"""The store: a folder of run folders, each named by its run's identity.

A run's folder holds ``status.json`` from its first moment: ``running`` (or stopped, if nobody holds
its lock), ``done``, ``diverged``, or ``failed`` with the traceback. It is written last, so what it
calls done is whole, and all files but itself are listed in ``SHA256SUMS``.

What is deleted lies in ``.RUN.aside`` first, where no reader looks: a run is there as a whole or
not at all. What a killed process left there is cleared away by whoever holds the run next.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout

from ..results.folders import CHECKPOINT, ENDED, STATUS, json_text, read_status, runs_in
from ..results.schema import PROBES
from ..settings.errors import UserError, unwritten
from ..settings.files import SUMS, is_name, remove_parts, seal, write_bytes, write_text

UNLISTED = (STATUS, CHECKPOINT)
"""Files of a run's folder that its sums leave out."""
_ASIDE = ".aside"


@dataclass(frozen=True)
class RunFolder:
    """One run's place in a store."""

    store: Path
    run: str

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.store / self.run

    @property
    def status(self) -> str:
        """``missing``, ``running`` (perhaps stopped), ``done``, ``diverged`` or ``failed``."""
        return str(self.read_status().get("status", "missing"))

    def read_status(self) -> dict[str, Any]:
        """The whole of ``status.json``; empty where there is none."""
        return read_status(self.path)

    def write_status(self, status: str, reason: str = "") -> None:
        """Say how the run stands; the files of one that has ended are listed before."""
        if status in ENDED:
            seal(self.path, UNLISTED)
        self.write_json(STATUS, {"status": status, "reason": reason})
        if status not in ENDED:
            with _writing(self.store):
                (self.path / SUMS).unlink(missing_ok=True)

    def write_json(self, name: str, values: Any) -> None:
        """Write one JSON file of the run."""
        write_text(self.path / name, json_text(values))

    def remove(self) -> None:
        """Delete the run, which is locked: for all who look it is there as a whole or gone."""
        aside = self.store / f".{self.run}{_ASIDE}"
        with _writing(self.store):
            shutil.rmtree(aside, ignore_errors=True)
            if self.path.exists():
                os.replace(self.path, aside)
        shutil.rmtree(aside, ignore_errors=True)

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Put these files, a status among them, in the place of the run, which is locked.

        Killed at any moment this leaves the run as it was, gone, one that is not done, or as it is
        to be. The names may come from another machine: one that leads out of the folder is a
        ``UserError``.
        """
        if strange := [name for name in files if not is_name(name)]:
            raise UserError(f"run {self.run} came back with a file {strange[0]!r}: not kept")
        self.remove()
        self.write_status("running")
        for name in sorted(files, key=lambda name: name == STATUS):  # the status last
            write_bytes(self.path / name, files[name])

    @property
    def in_use(self) -> bool:
        """Whether some process is at this run now."""
        lock = self.claim(wait=False)
        if lock is not None:
            lock.release()
        return lock is None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for the run and lock it: two sweeps on one store never run one cell at once."""
        lock = self.claim()
        try:
            yield
        finally:
            lock.release()

    def claim(self, wait: bool = True) -> BaseFileLock | None:
        """Lock the run until the lock is released; None if another has it and we do not wait.

        The lock is the operating system's: it goes with the process, however that ends. What killed
        processes left of the run is cleared away.
        """
        with _writing(self.store):
            self.store.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.store / f".{self.run}.lock")
            try:
                lock.acquire(timeout=-1 if wait else 0)
            except Timeout:
                return None
            shutil.rmtree(self.store / f".{self.run}{_ASIDE}", ignore_errors=True)
            remove_parts(self.path)
            remove_parts(self.path / PROBES)
        return lock


@contextmanager
def _writing(store: Path) -> Iterator[None]:
    """What the system refuses in the block is an ``UnwrittenError`` of the store."""
    try:
        yield
    except OSError as error:
        raise unwritten(store, error) from None


def run_folders(store: Path) -> list[RunFolder]:
    """Every run of a store, by name."""
    return [RunFolder(store, path.name) for path in runs_in(store)]


def sweep_up(store: Path) -> None:
    """Clear away what killed processes left of removals."""
    names = (path.name[1:].removesuffix(_ASIDE) for path in store.glob(f".*{_ASIDE}"))
    for name in filter(is_name, names):
        _ = RunFolder(store, name).in_use  # who asks claims the run, and clears it away
    remove_parts(store)
