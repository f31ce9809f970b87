"""The studies' tables of a results folder, as files: they travel with a bundle, and go with a run.

A study's table has means over its runs, so that it cannot be narrowed: it is there for all of them
or not at all. What a study found on each run is kept in the run's own folder, from which
`bottleneck study NAME` writes the table anew in seconds. The benchmark's files rest on no run.
"""

import csv
import shlex
from collections.abc import Collection
from pathlib import Path

from ..settings.atomic import write_bytes
from .cost import COST, COST_EXPONENTS
from .folders import STATUS, damaged, store_of
from .schema import PROBES, STUDIES

GOLD = "alignment_gold"
"""The table of the study ``alignment`` put to a gold set of the user's own."""


def tables(folder: Path) -> list[Path]:
    """The tables of a results folder, by name."""
    return sorted((folder / PROBES).glob("*.csv"))


def rests_on(table: Path) -> frozenset[str]:
    """The runs whose numbers a table has; a fault is a ``UserError`` with the file."""
    try:
        with table.open(encoding="utf8", newline="") as file:
            return frozenset(row.get("run") or "" for row in csv.DictReader(file)) - {""}
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(table, error, way_back(table)) from None


def way_back(table: Path) -> str:
    """What makes a table again that cannot be read, in words: a command where there is one.

    A study is put to runs, so that a bundle without its store cannot make one itself.
    """
    folder = table.parent.parent
    where = shlex.quote(str(folder))
    if table.name in (Path(COST).name, Path(COST_EXPONENTS).name):
        return f"`bottleneck bench --out {where}` measures it again"
    if not any(store_of(folder).glob(f"*/{STATUS}")):
        return "delete it, or export the bundle again"
    if table.stem == GOLD:
        files = "--gold FILE --source FILE --target FILE"
        return f"`bottleneck study alignment {files} --results {where}` makes it again"
    if table.stem in STUDIES:
        return f"`bottleneck study {table.stem} --results {where}` makes it again"
    return "no command of bottleneck makes it: take it away"


def drop_tables(folder: Path, runs: Collection[str]) -> list[str]:
    """Delete the tables that rest on one of these runs, and name them."""
    dropped = [table for table in tables(folder) if not rests_on(table).isdisjoint(runs)]
    for table in dropped:
        table.unlink()
    return [table.stem for table in dropped]


def copy_tables(folder: Path, bundle: Path, left_out: Collection[str]) -> list[str]:
    """Copy the tables of a folder into a bundle; name those that rest on a run that is left out.

    These are not copied, and not left in the bundle from an earlier time either; nor is one there
    that rests on runs and that the folder no longer has.
    """
    if folder.resolve() == bundle.resolve():
        return []
    held = {table: rests_on(table).isdisjoint(left_out) for table in tables(folder)}
    for table, whole in held.items():
        if whole:
            write_bytes(bundle / PROBES / table.name, table.read_bytes())
    drop_tables(bundle, left_out)
    for table in tables(bundle):
        if table.name not in {each.name for each in held} and rests_on(table):
            table.unlink()
    return [table.stem for table, whole in held.items() if not whole]
