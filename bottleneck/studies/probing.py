"""Probing runs in processes of their own, one a core, and the study's table of all of them."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread

import pandas as pd

from ..questions.question import Study
from ..results.bundle import tidy_csv
from ..results.folders import read_settings
from ..results.schema import PROBE_COLUMNS, PROBES
from ..runs.pool import held_processes, last_words, start_worker
from ..settings.errors import UserError
from ..settings.sums import write_listed
from .kept import is_kept, read_kept

Listener = Callable[[Path, str], None]
"""Told of a run what is being measured on it; ``done`` at the end."""


def suiting(study: Study, runs: Sequence[Path]) -> list[Path]:
    """The runs that the study can probe."""
    return [run for run in runs if study.suits(read_settings(run))]


def probe_runs(
    study: Study, runs: Sequence[Path], listener: Listener, width: int, force: bool = False
) -> None:
    """Measure what is not yet measured, ``width`` runs at once; a failure is a UserError."""
    waiting = [run for run in runs if force or not is_kept(run, study)]
    waiting.reverse()
    events: Queue[tuple[Path, dict]] = Queue()
    with held_processes() as processes:
        left = len(waiting)
        for _ in range(min(width, len(waiting))):
            processes.append(_start(study, waiting.pop(), events))
        while left:
            run, event = events.get()
            if "failed" in event:
                raise UserError(f"study {study.name} of run {run.name}: {event['failed']}")
            listener(run, event["phase"])
            if event["phase"] != "done":
                continue
            left -= 1
            if waiting:
                processes.append(_start(study, waiting.pop(), events))


def write_table(study: Study, runs: Sequence[Path], folder: Path) -> Path:
    """Sum up what was found on these runs into ``probes/NAME.csv`` of the bundle."""
    rows = study.summarise([read_kept(run, read_settings(run), study) for run in runs])
    table = pd.DataFrame(rows, columns=list(PROBE_COLUMNS), dtype=object)
    name = f"{PROBES}/{study.name}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name


def _start(study: Study, run: Path, events: Queue) -> subprocess.Popen:
    errors = tempfile.TemporaryFile("w+", encoding="utf8", errors="replace")  # noqa: SIM115 (the reader closes it)
    order = {"study": study.name, "run": str(run.resolve())}
    process = start_worker("studies", order, errors)
    Thread(target=_read, args=(run, process, errors, events), daemon=True).start()
    return process


def _read(run: Path, process: subprocess.Popen, errors: object, events: Queue) -> None:
    """Pass a worker's lines on, then how it ended."""
    failed = False
    with errors, process.stdout:
        for line in process.stdout:
            event = json.loads(line)
            failed = failed or "failed" in event
            events.put((run, event))
        if process.wait() and not failed:
            events.put((run, {"failed": last_words(process, errors)}))
        elif not failed:
            events.put((run, {"phase": "done"}))
