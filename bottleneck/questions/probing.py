"""Measuring a question: each run is probed in a process of its own, one per core.

What a probe found on a run is kept in the run's folder, as a CSV file and a JSON file that says
what made it; the question's table is made of what was found on all runs.
"""

import csv
import io
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread

import numpy as np
import pandas as pd

from ..results.bundle import tidy_csv
from ..results.folders import damaged, json_text, read_checked, read_object, read_settings
from ..results.schema import PROBE_COLUMNS, PROBES
from ..runs.pool import held_processes, last_words, start_worker
from ..settings.errors import UserError
from ..settings.files import write_listed
from ..settings.run import RunSettings
from .question import Columns, Probed, Study

Listener = Callable[[Path, str], None]
"""Called with a run and what is being measured on it; ``done`` at the end."""


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


def _start(study: Study, run: Path, events: Queue) -> subprocess.Popen:
    errors = tempfile.TemporaryFile("w+", encoding="utf8", errors="replace")  # noqa: SIM115 (the reader closes it)
    order = {"study": study.name, "run": str(run.resolve())}
    process = start_worker("questions", order, errors)
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


def is_kept(run: Path, study: Study) -> bool:
    """Whether this version of the study has been measured on a run."""
    made = _file(run, study, "json")
    known = made.is_file() and _file(run, study, "csv").is_file()
    return known and read_object(made, _again(study)).get("version") == study.version


def keep(run: Path, study: Study, found: Columns) -> None:
    """Write what was found; the file that says so comes last."""
    made = json_text({"study": study.name, "version": study.version})
    files = {"csv": tidy_csv(pd.DataFrame(found)), "json": made}
    write_listed(
        run, [(f"{PROBES}/{study.name}.{suffix}", text.encode()) for suffix, text in files.items()]
    )


def read_kept(run: Path, settings: RunSettings, study: Study) -> Probed:
    """What was found, as arrays; a column that is not all numbers is text.

    A missing or damaged file is a UserError.
    """
    path = _file(run, study, "csv")
    try:
        text = read_checked(path, _again(study)).decode()
        names, *rows = csv.reader(io.StringIO(text, newline=""))
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise damaged(path, error, _again(study)) from None
    return Probed(run, settings, {name: _array(column) for name, column in columns.items()})


def _array(texts: list[str]) -> np.ndarray:
    """Numbers, nan where there is none; or text."""
    try:
        return np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=np.str_)


def _file(run: Path, study: Study, suffix: str) -> Path:
    return run / PROBES / f"{study.name}.{suffix}"


def _again(study: Study) -> str:
    return f"`bottleneck study {study.name} --force` measures it again"


def write_table(study: Study, probed: Sequence[Probed], folder: Path) -> Path:
    """Write the study's table of what was found on runs, ``probes/NAME.csv`` of the folder."""
    rows = study.summarise(probed)
    table = pd.DataFrame(rows, columns=list(PROBE_COLUMNS), dtype=object)
    name = f"{PROBES}/{study.name}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name
