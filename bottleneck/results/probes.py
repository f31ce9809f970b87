"""Reading the studies' tables of a bundle: ``probes/NAME.csv``."""

from pathlib import Path

import pandas as pd

from ..settings.errors import UserError
from .bundle import read_table
from .folders import was_written
from .schema import PROBE_COLUMNS, PROBES


def load_probe(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a study, columns as in ``schema.PROBE_COLUMNS``; without them a UserError."""
    if not has_probe(folder, study):
        raise UserError(
            f"no {study} study in {str(folder)!r}: `bottleneck study {study} --results {folder}` "
            "measures it"
        )
    return read_table(probe_file(folder, study), PROBE_COLUMNS)


def has_probe(folder: Path, study: str) -> bool:
    """Whether the bundle has the numbers of a study, or had them."""
    return was_written(probe_file(folder, study))


def probe_file(folder: Path, study: str) -> Path:
    """Where the numbers of a study lie."""
    return folder / PROBES / f"{study}.csv"
