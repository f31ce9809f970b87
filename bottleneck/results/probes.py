"""Reading the studies' tables of a bundle: ``probes/NAME.csv``."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from ..settings.errors import UserError
from .bundle import UNREADABLE, read_table
from .discovery import check_one
from .folders import check_exists, damaged, was_written, without_runs
from .schema import PROBE_COLUMNS, PROBES
from .study_files import GOLD, command_of, way_back


def load_probe(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a study, columns as in ``schema.PROBE_COLUMNS``; without them a UserError."""
    path = probe_file(folder, study)
    if not has_probe(folder, study):
        check_exists(folder)
        check_one(folder)
        what = "gold set of your own" if study == GOLD else f"{study} study"
        own = ", without --results on runs of its own" if without_runs(folder) else ""
        told = measured_by(folder, command_of(study))
        raise UserError(f"no {what} in {told}{'' if study == GOLD else own}")
    return read_table(path, PROBE_COLUMNS)


@contextmanager
def made_of(folder: Path, study: str) -> Iterator[None]:
    """What cannot be made of a study's numbers in the block is told as the fault of their file.

    Its columns are of their types, but rows may lack, stand there twice, or have blanks: of a file
    that somebody wrote, or mended, by hand.
    """
    try:
        yield
    except (*UNREADABLE, LookupError) as error:
        path = probe_file(folder, study)
        raise damaged(path, error, way_back(path)) from error


def measured_by(folder: Path, command: str) -> str:
    """The folder and the command for numbers that it lacks, in words; of a bundle, for elsewhere.

    A study is put to run folders: where these are not, the command would be refused.
    """
    if without_runs(folder):
        where = f"`bottleneck {command} --results DIR` measures it where the runs were trained"
        return f"{str(folder)!r}, a bundle without its run folders: {where}"
    place = shlex.quote(str(folder))
    return f"{str(folder)!r}: `bottleneck {command} --results {place}` measures it"


def has_probe(folder: Path, study: str) -> bool:
    """Whether the bundle has the numbers of a study, or had them."""
    return was_written(probe_file(folder, study))


def probe_file(folder: Path, study: str) -> Path:
    """Where the numbers of a study lie."""
    return folder / PROBES / f"{study}.csv"
