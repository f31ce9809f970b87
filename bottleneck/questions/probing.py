"""Probes runs for a question: each run in its own process, on CPUs one per core.

A probe's result is stored in the run's folder, ``probes/NAME-VERSION.csv``.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..results.bundle import tidy_csv
from ..results.folders import read_checked, read_settings, reading
from ..results.schema import PROBE_COLUMNS
from ..runs.pool import Event, has_accelerator, run_workers
from ..settings.errors import UserError
from ..settings.files import write_listed
from ..settings.machine import cores
from ..settings.run import RunSettings
from .question import Probed, Question, Row, Tell, find_question


def probe_runs(study: Question, runs: Sequence[Path], tell: Tell) -> list[Probed]:
    """The results of the study's probe; runs that lack them are probed now.

    A failure is a ``UserError``.
    """
    missing = [run for run in runs if not kept_file(run, study).is_file()]

    def listen(run: Path, event: Event) -> None:
        if event["phase"] == "failed":
            raise UserError(f"study {study.name} of run {run.name}: {event['reason']}")
        number = missing.index(run) + 1
        tell(f"{run.name} ({number} of {len(missing)}): {event['phase']}")

    orders = [([run], {"study": study.name, "run": str(run.resolve())}) for run in missing]
    width = 1 if has_accelerator() else cores()
    run_workers("questions.probing:probe_run", orders, listen, width)
    return [read_kept(run, read_settings(run), study) for run in runs]


def probe_run(emit: Callable[[int, dict[str, Any]], None], study: str, run: str) -> None:
    """The task of a worker process: probe a run for a question, and store the result."""
    from .subject import Subject

    question, folder = find_question(study), Path(run)
    subject = Subject(folder, tell=lambda words: emit(0, {"phase": words}))
    columns = question.probe(subject)
    content = tidy_csv(pd.DataFrame(columns)).encode()
    write_listed(folder, [(f"probes/{kept_file(folder, question).name}", content)])
    emit(0, {"phase": "done"})


def kept_file(run: Path, study: Question) -> Path:
    """The file of this version's result on a run; it exists once the run is probed."""
    return run / "probes" / f"{study.name}-{study.version}.csv"


def read_kept(run: Path, settings: RunSettings, study: Question) -> Probed:
    """A stored result as arrays; a column that is not all numbers is text."""
    path = kept_file(run, study)
    with reading(path):
        frame = pd.read_csv(io.BytesIO(read_checked(path)), dtype=str, keep_default_na=False)
    columns: dict[str, np.ndarray] = {}
    for name, texts in frame.items():
        try:
            columns[name] = texts.replace("", "nan").to_numpy(np.float64)
        except ValueError:
            columns[name] = texts.to_numpy(np.str_)
    return Probed(run, settings, columns)


def write_table(study: str, rows: Sequence[Row], folder: Path) -> Path:
    """Write the rows of a study's table, ``probes/NAME.csv`` of the folder."""
    table = pd.DataFrame(rows, columns=list(PROBE_COLUMNS), dtype=object)
    name = f"probes/{study}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name
