"""Measuring a question: each run is probed in a process of its own, one per core.

What a probe found on a run is kept in the run's folder, ``probes/NAME-VERSION.csv``.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..results.bundle import tidy_csv
from ..results.folders import read_checked, read_settings, reading
from ..results.schema import PROBE_COLUMNS, PROBES
from ..runs.pool import Event, divide, run_workers
from ..settings.errors import UserError
from ..settings.files import write_listed
from ..settings.run import RunSettings
from .question import Columns, Probed, Question, Tell, find_question


def probe_runs(study: Question, runs: Sequence[Path], tell: Tell) -> list[Probed]:
    """What the study's probe finds on runs; those that lack it now are measured, one per core.

    A failure is a UserError.
    """
    missing = [run for run in runs if not kept_file(run, study).is_file()]

    def listen(run: Path, event: Event) -> None:
        if event["phase"] == "failed":
            raise UserError(f"study {study.name} of run {run.name}: {event['reason']}")
        number = missing.index(run) + 1
        tell(f"{run.name} ({number} of {len(missing)}): {event['phase']}")

    orders = [([run], {"study": study.name, "run": str(run.resolve())}) for run in missing]
    run_workers("questions.probing:probe_run", orders, listen, divide(1, threads=1)[0])
    return [read_kept(run, read_settings(run), study) for run in runs]


def probe_run(emit: Callable[[int, dict[str, Any]], None], study: str, run: str) -> None:
    """The task of a worker process: measure a question on a run, and keep what was measured."""
    from ..runs.run import cache_programs
    from .subject import open_subject

    cache_programs()
    question, subject = find_question(study), open_subject(Path(run))
    columns = question.probe(subject, lambda words: emit(0, {"phase": words}))
    keep(Path(run), question, columns)
    emit(0, {"phase": "done"})


def kept_file(run: Path, study: Question) -> Path:
    """Where this version of the study is kept, if it has been measured on a run."""
    return run / PROBES / f"{study.name}-{study.version}.csv"


def keep(run: Path, study: Question, columns: Columns) -> None:
    """Write what was found."""
    name = kept_file(run, study).relative_to(run).as_posix()
    write_listed(run, [(name, tidy_csv(pd.DataFrame(columns)).encode())])


def read_kept(run: Path, settings: RunSettings, study: Question) -> Probed:
    """What was found, as arrays; a column that is not all numbers is text."""
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


def write_table(study: Question, probed: Sequence[Probed], folder: Path) -> Path:
    """Write the study's table of what was found on runs, ``probes/NAME.csv`` of the folder."""
    table = pd.DataFrame(study.summarise(probed), columns=list(PROBE_COLUMNS), dtype=object)
    name = f"{PROBES}/{study.name}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name
