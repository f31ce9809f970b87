"""The store: a folder of run folders, each named by its run's identity.

A run's folder holds ``status.json`` from its first moment: ``running`` (or stopped, if nobody holds
its lock), ``done``, ``diverged``, or ``failed`` with the traceback. It is written last, so what it
calls done is whole.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout

from ..results.folders import STATUS, read_json
from ..settings.atomic import write_text
from ..settings.errors import UserError
from .csvtext import json_text

ENDED = ("done", "diverged")


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
        if not (self.path / STATUS).is_file():
            return {}
        return dict(read_json(self.path / STATUS))

    def write_status(self, status: str, reason: str = "") -> None:
        """Say how the run stands."""
        self.write_json(STATUS, {"status": status, "reason": reason})

    def write_json(self, name: str, values: Any) -> None:
        """Write one JSON file of the run."""
        write_text(self.path / name, json_text(values))

    def remove(self) -> None:
        """Delete the run."""
        if self.path.exists():
            shutil.rmtree(self.path)

    @property
    def in_use(self) -> bool:
        """Whether some process is at this run now."""
        lock = self.claim(wait=False)
        if lock is not None:
            lock.release()
        return lock is None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for, then hold, the run: two sweeps on one store never run the same cell at once."""
        lock = self.claim()
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def claim(self, wait: bool = True) -> BaseFileLock | None:
        """Hold the run until the lock is released; None if another has it and we do not wait.

        The lock is the operating system's: it goes with the process, however that ends.
        """
        try:
            self.store.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.store / f".{self.run}.lock")
            lock.acquire(timeout=-1 if wait else 0)
        except Timeout:
            return None
        except OSError as error:
            raise UserError(f"cannot write {str(self.store)!r}: {error.strerror}") from None
        return lock


def run_folders(store: Path) -> list[RunFolder]:
    """Every run of a store, by name."""
    if not store.is_dir():
        return []
    return [RunFolder(store, path.parent.name) for path in sorted(store.glob(f"*/{STATUS}"))]
