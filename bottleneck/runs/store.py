"""The store: a folder of run folders, each named by its run's identity.

A run's folder holds ``status.json`` from its first moment: ``running``, ``done``, ``diverged``, or
``failed`` with the traceback. It is written last, so what it calls done is whole, and all files but
itself are listed in ``SHA256SUMS``.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ..results.folders import CHECKPOINT, ENDED, STATUS, json_text, read_status, runs_in
from ..settings.errors import UserError, unwritten
from ..settings.files import SUMS, seal, write_bytes, write_text

UNLISTED = (STATUS, CHECKPOINT)
"""Files of a run's folder that its sums leave out."""


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
        """As its file says, or ``stopped`` (no process trains it), ``missing`` or ``damaged``."""
        try:
            status = read_status(self.path).get("status")
        except UserError:
            return "damaged"
        if status is None:
            return "damaged" if self.path.exists() else "missing"
        if status == "running":
            with suppress(Timeout), self.alone(wait=0.0):
                return "stopped"
        return str(status)

    def write_status(self, status: str, reason: str = "") -> None:
        """Say how the run stands, and list the files of one that has ended."""
        if status in ENDED:
            seal(self.path, UNLISTED)
        self.write_json(STATUS, {"status": status, "reason": reason})
        if status not in ENDED:
            for path in (self.path / SUMS, *self.path.glob(".*.part")):  # of killed processes
                path.unlink(missing_ok=True)

    def write_json(self, name: str, values: Any) -> None:
        """Write one JSON file of the run."""
        write_text(self.path / name, json_text(values))

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Put these files, a status among them, in the place of the run, which is locked."""
        aside = self.store / f".{self.run}.aside"  # where no reader looks for a run
        if self.path.exists():
            os.replace(self.path, aside)
        shutil.rmtree(aside, ignore_errors=True)
        self.write_status("running")
        for name in files.keys() - {STATUS, SUMS}:
            write_bytes(self.path / name, files[name])
        self.write_status(**json.loads(files[STATUS]))

    @contextmanager
    def alone(self, wait: float = -1.0) -> Iterator[None]:
        """Lock the run, until the process ends: two sweeps never run one cell at once."""
        lock = FileLock(self.store / f".{self.run}.lock", timeout=wait)
        try:
            self.store.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:  # an OSError, too
            raise
        except OSError as error:
            raise unwritten(self.store, error) from None
        try:
            shutil.rmtree(self.store / f".{self.run}.aside", ignore_errors=True)
            yield
        finally:
            lock.release()


def run_folders(store: Path) -> list[RunFolder]:
    """Every run of a store, by name."""
    return [RunFolder(store, path.name) for path in runs_in(store)]
