"""The studies' tables of a results folder, ``probes/NAME.csv``: they travel with a bundle.

A study's table has means over its runs, so that it cannot be narrowed: it is there for all of them
or not at all. What a study found on each run is kept in the run's own folder, from which
`bottleneck study NAME` writes the table anew in seconds. The benchmark's numbers rest on no run.
"""

import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..settings.errors import UserError
from ..settings.files import SUMS, read_sums, write_listed
from .folders import damaged, run_rows, runs_in, store_of, was_written, without_runs
from .schema import BENCHMARK, PROBE_COLUMNS, PROBES, STUDIES

if TYPE_CHECKING:
    import pandas as pd

GOLD = "alignment_gold"
"""The table of the study ``alignment`` put to a gold set of the user's own."""


def probe_file(folder: Path, study: str) -> Path:
    """Where the numbers of a study lie."""
    return folder / PROBES / f"{study}.csv"


def has_probe(folder: Path, study: str) -> bool:
    """Whether a folder has the numbers of a study, or had them."""
    return was_written(probe_file(folder, study))


def tables(folder: Path) -> list[Path]:
    """The tables of a results folder by name, those among them that are gone and still listed."""
    listed = (folder / name for name in read_sums(folder) or ())
    lost = (path for path in listed if path.parent == folder / PROBES and path.suffix == ".csv")
    return sorted({*(folder / PROBES).glob("*.csv"), *lost})


def load_probe(folder: Path, study: str) -> "pd.DataFrame":
    """The numbers of a study, columns as in ``schema.PROBE_COLUMNS``; without them a UserError.

    A study is put to run folders: of a bundle without them, the command is for elsewhere.
    """
    from .bundle import read_table
    from .discovery import check_one

    if has_probe(folder, study):
        return read_table(probe_file(folder, study), PROBE_COLUMNS)
    check_one(folder)
    what = "gold set of your own" if study == GOLD else f"{study} study"
    command = f"bottleneck {command_of(study)} --results"
    message = f"no {what} in {str(folder)!r}"
    if not without_runs(folder):
        raise UserError(f"{message}: `{command} {shlex.quote(str(folder))}` measures it")
    raise UserError(
        f"{message}, a bundle without its run folders: `{command} DIR` measures it where the runs "
        "were trained"
    )


@contextmanager
def made_of(folder: Path, study: str) -> Iterator[None]:
    """Reports rows that do not fit together, of a table edited by hand, as damage of its file."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, LookupError) as error:
        path = probe_file(folder, study)
        raise damaged(path, error, way_back(path)) from error


def rests_on(table: Path) -> frozenset[str]:
    """The runs whose numbers a table has; a fault is a ``UserError`` with the file."""
    return frozenset(row.get("run") or "" for row in run_rows(table, way_back(table))) - {""}


def way_back(table: Path) -> str:
    """What makes a table again that cannot be read, in words: a command where there is one."""
    folder = table.parent.parent
    where = shlex.quote(str(folder))
    if table.stem == BENCHMARK:
        return f"`bottleneck bench --out {where}` measures it again"
    if not runs_in(store_of(folder)):  # a study is put to runs
        return f"delete it and its line in {SUMS}, or export the bundle again"
    if table.stem in (*STUDIES, GOLD):
        return f"`bottleneck {command_of(table.stem)} --results {where}` makes it again"
    return f"no command of bottleneck makes it: delete it and its line in {SUMS}"


def command_of(study: str) -> str:
    """The words of the command that makes a study's table, without the folder."""
    if study == GOLD:
        return "study alignment --gold FILE --source FILE --target FILE"
    return f"study {study}"


def drop_tables(folder: Path, runs: Collection[str]) -> list[str]:
    """Delete the tables that rest on one of these runs, and name them."""
    dropped = [table for table in tables(folder) if not rests_on(table).isdisjoint(runs)]
    if dropped:
        write_listed(folder, (), [f"{PROBES}/{table.name}" for table in dropped])
    return [table.stem for table in dropped]
