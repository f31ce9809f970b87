"""The store: a folder of run folders, each named by its run's identity.

A run's folder has ``status.json`` from the start: ``running``, ``done``, ``diverged``, or
``failed`` with the traceback. The final status is written last, so a run that is ``done`` is
complete; ``SHA256SUMS`` lists all its other files but the checkpoint.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ..results.folders import ENDED, json_text, read_status
from ..settings.errors import UserError, unwritten
from ..settings.files import seal, write_file


def status_of(run: Path) -> str:
    """The status in the file, or ``stopped`` (no process trains it), ``missing``, ``damaged``."""
    try:
        status = read_status(run).get("status")
    except UserError:
        return "damaged"
    if status is None:
        return "damaged" if run.exists() else "missing"
    if status == "running":
        with suppress(Timeout), locked(run, wait=0.0):
            return "stopped"
    return str(status)


def write_status(run: Path, status: str, reason: str = "") -> None:
    """Write the status of a run; if it has ended, list its files first."""
    if status in ENDED:
        seal(run, ["status.json", "checkpoint.safetensors"])
    write_file(run / "status.json", json_text({"status": status, "reason": reason}))
    if status not in ENDED:
        for path in (run / "SHA256SUMS", *run.glob(".*.part")):  # left by killed processes
            path.unlink(missing_ok=True)


@contextmanager
def locked(run: Path, wait: float = -1.0) -> Iterator[None]:
    """Lock a run, so that two sweeps never execute it at the same time."""
    lock = FileLock(run.with_name(f".{run.name}.lock"), timeout=wait)
    try:
        run.parent.mkdir(parents=True, exist_ok=True)
        acquired = lock.acquire()
    except Timeout:  # which is an OSError, too
        raise
    except OSError as error:
        raise unwritten(run.parent, error) from None
    with acquired:
        shutil.rmtree(run.with_name(f".{run.name}.aside"), ignore_errors=True)
        yield
