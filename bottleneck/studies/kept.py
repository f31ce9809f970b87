"""What a probe found on one run, kept in the run's folder: a CSV file, and what made it."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

from ..questions.question import Columns, Probed, Study
from ..results.bundle import tidy_csv
from ..results.folders import damaged, json_text, read_checked, read_object
from ..results.schema import PROBES
from ..settings.run import RunSettings
from ..settings.sums import write_listed


def is_kept(run: Path, study: Study) -> bool:
    """Whether this version of the study has been measured on a run."""
    made = _file(run, study, "json")
    known = made.is_file() and _file(run, study, "csv").is_file()
    return known and read_object(made, _anew(study)).get("version") == study.version


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
        text = read_checked(path, _anew(study)).decode()
        names, *rows = csv.reader(io.StringIO(text, newline=""))
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise damaged(path, error, _anew(study)) from None
    return Probed(run, settings, {name: _array(column) for name, column in columns.items()})


def _anew(study: Study) -> str:
    return f"`bottleneck study {study.name} --force` makes it anew"


def _array(texts: list[str]) -> np.ndarray:
    """Numbers, nan where there is none; or text."""
    try:
        return np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=np.str_)


def _file(run: Path, study: Study, suffix: str) -> Path:
    return run / PROBES / f"{study.name}.{suffix}"
