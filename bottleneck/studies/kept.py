"""What a probe found on one run, kept in the run's folder: a CSV file, and what made it."""

import csv
from pathlib import Path

import numpy as np

from ..results.folders import damaged, read_object
from ..results.schema import PROBES
from ..runs.csvtext import csv_text, json_text
from ..settings.atomic import write_text
from ..settings.run import RunSettings
from .study import Columns, Probed, Study


def is_kept(run: Path, study: Study) -> bool:
    """Whether this version of the study has been measured on a run."""
    made = _file(run, study, "json")
    known = made.is_file() and _file(run, study, "csv").is_file()
    return known and read_object(made).get("version") == study.version


def keep(run: Path, study: Study, found: Columns) -> None:
    """Write what was found; the file that says so comes last."""
    _file(run, study, "json").unlink(missing_ok=True)
    write_text(_file(run, study, "csv"), csv_text(found))
    write_text(
        _file(run, study, "json"), json_text({"study": study.name, "version": study.version})
    )


def read_kept(run: Path, settings: RunSettings, study: Study) -> Probed:
    """What was found, as arrays; a column that is not all numbers is text.

    A missing or damaged file is a UserError.
    """
    path = _file(run, study, "csv")
    try:
        with path.open(encoding="utf8", newline="") as file:
            names, *rows = csv.reader(file)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise damaged(
            path, error, f"`bottleneck study {study.name} --force` makes it anew"
        ) from None
    return Probed(run, settings, {name: _array(column) for name, column in columns.items()})


def _array(texts: list[str]) -> np.ndarray:
    """Numbers, nan where there is none; or text."""
    try:
        return np.array([float(text) if text else np.nan for text in texts], dtype=np.float64)
    except ValueError:
        return np.array(texts, dtype=np.str_)


def _file(run: Path, study: Study, suffix: str) -> Path:
    return run / PROBES / f"{study.name}.{suffix}"
