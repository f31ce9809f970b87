"""Probes runs for a question: each run in its own process, on CPUs one per core."""

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
from .question import Probed, Question, Row, Tell, find_question


def probe_runs(study: Question, runs: Sequence[Path], tell: Tell) -> list[Probed]:
    """The results of the study's probe, made now where missing; a failure is a ``UserError``."""
    kept = f"probes/{study.name}-{study.version}.csv"
    missing = [run for run in runs if not (run / kept).is_file()]

    def listen(run: Path, event: Event) -> None:
        if event["phase"] == "failed":
            raise UserError(f"study {study.name} of run {run.name}: {event['reason']}")
        number = missing.index(run) + 1
        tell(f"{run.name} ({number} of {len(missing)}): {event['phase']}")

    orders = [
        ([run], {"study": study.name, "run": str(run.resolve()), "kept": kept}) for run in missing
    ]
    run_workers("questions.probing:probe_run", orders, listen, 1 if has_accelerator() else cores())
    probed = []
    for run in runs:
        with reading(run / kept):
            content = io.BytesIO(read_checked(run / kept))
            frame = pd.read_csv(content, dtype=str, keep_default_na=False)
        columns = {}
        for name, texts in frame.items():
            try:
                columns[name] = texts.replace("", "nan").to_numpy(np.float64)
            except ValueError:  # not all are numbers
                columns[name] = texts.to_numpy(np.str_)
        probed.append(Probed(run, read_settings(run), columns))
    return probed


def probe_run(emit: Callable[[int, dict[str, Any]], None], study: str, run: str, kept: str) -> None:
    """The task of a worker process: probe a run, and store the result in its file ``kept``."""
    from .subject import Subject

    subject = Subject(Path(run), tell=lambda words: emit(0, {"phase": words}))
    columns = pd.DataFrame(find_question(study).probe(subject))
    write_listed(Path(run), [(kept, tidy_csv(columns).encode())])
    emit(0, {"phase": "done"})


def write_table(study: str, rows: Sequence[Row], folder: Path) -> Path:
    """Write the rows of a study's table, ``probes/NAME.csv`` of the folder."""
    table = pd.DataFrame(rows, columns=list(PROBE_COLUMNS), dtype=object)
    name = f"probes/{study}.csv"
    write_listed(folder, [(name, tidy_csv(table).encode())])
    return folder / name
