"""Measuring a question: each run is probed in a process of its own, one per core.

What a probe found on a run is kept in the run's folder, as a CSV file and a JSON file.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..results.bundle import tidy_csv
from ..results.folders import json_text, read_checked, read_object, reading
from ..results.schema import PROBE_COLUMNS, PROBES
from ..runs.pool import worker_processes
from ..settings.errors import UserError
from ..settings.files import write_listed
from ..settings.run import RunSettings
from .question import Columns, Probed, Question, find_study

Listener = Callable[[Path, str], None]
"""Called with a run and what is being measured on it; ``done`` at the end."""


def probe_runs(study: Question, runs: Sequence[Path], listener: Listener, width: int) -> None:
    """Measure the study on runs, ``width`` at once; a failure is a UserError."""
    waiting, left, free = [*reversed(runs)], len(runs), width
    with worker_processes() as (start, events):
        while left:
            while waiting and free:
                run = waiting.pop()
                order = {"study": study.name, "run": str(run.resolve())}
                start(run, "questions.probing:probe_run", order)
                free -= 1
            run, event = events.get()
            if event["phase"] == "failed":
                raise UserError(f"study {study.name} of run {run.name}: {event['reason']}")
            listener(run, event["phase"])
            if event["phase"] == "done":
                left, free = left - 1, free + 1


def probe_run(emit: Callable[[int, dict[str, Any]], None], study: str, run: str) -> None:
    """The task of a worker process: measure a question on a run, and keep what was measured."""
    from ..runs.run import use_cache
    from .subject import open_subject

    use_cache()
    question, subject = find_study(study), open_subject(Path(run))
    columns = question.probe(subject, lambda words: emit(0, {"phase": words}))
    keep(Path(run), question, columns)
    emit(0, {"phase": "done"})


def is_kept(run: Path, study: Question) -> bool:
    """Whether this version of the study has been measured on a run."""
    table = run / PROBES / f"{study.name}.csv"
    made = table.with_suffix(".json")
    if not (made.is_file() and table.is_file()):
        return False
    return read_object(made).get("version") == study.version


def keep(run: Path, study: Question, columns: Columns) -> None:
    """Write what was found; the file that says so comes last."""
    made = json_text({"study": study.name, "version": study.version})
    files = {"csv": tidy_csv(pd.DataFrame(columns)), "json": made}
    names = {f"{PROBES}/{study.name}.{suffix}": text.encode() for suffix, text in files.items()}
    write_listed(run, [*names.items()])


def read_kept(run: Path, settings: RunSettings, study: Question) -> Probed:
    """What was found, as arrays; a column that is not all numbers is text."""
    path = run / PROBES / f"{study.name}.csv"
    with reading(path):
        content = io.BytesIO(read_checked(path))
        frame = pd.read_csv(content, dtype=str, keep_default_na=False)
    columns: dict[str, np.ndarray] = {}
    for name, texts in frame.items():
        try:
            columns[name] = np.array([text or "nan" for text in texts], np.float64)
        except ValueError:
            columns[name] = np.array(texts, np.str_)
    return Probed(run, settings, columns)


def write_table(study: Question, probed: Sequence[Probed], folder: Path) -> Path:
    """Write the study's table of what was found on runs, ``probes/NAME.csv`` of the folder."""
    table = pd.DataFrame(study.summarise(probed), columns=list(PROBE_COLUMNS), dtype=object)
    name = f"{PROBES}/{study.name}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name
