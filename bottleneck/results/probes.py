"""Reading the studies' tables of a bundle: ``probes/NAME.csv``."""

from pathlib import Path

import pandas as pd

from ..settings.errors import UserError
from .bundle import read_table
from .schema import PROBE_COLUMNS, PROBES


def load_probe(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a study, columns as in ``schema.PROBE_COLUMNS``; without them a UserError."""
    path = probe_file(folder, study)
    if not path.is_file():
        raise UserError(
            f"no {study} study in {str(folder)!r}: `bottleneck study {study} --results {folder}` "
            "measures it"
        )
    return read_table(path, PROBE_COLUMNS)


def has_probe(folder: Path, study: str) -> bool:
    """Whether the bundle has the numbers of a study."""
    return probe_file(folder, study).is_file()


def probe_file(folder: Path, study: str) -> Path:
    """Where the numbers of a study lie."""
    return folder / PROBES / f"{study}.csv"
