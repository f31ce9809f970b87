"""The studies' tables of a results folder, as files: they travel with a bundle, and go with a run.

A study's table has means over its runs, so that it cannot be narrowed: it is there for all of them
or not at all. What a study found on each run is kept in the run's own folder, from which
`bottleneck study NAME` writes the table anew in seconds. The benchmark's files rest on no run.
"""

import csv
from collections.abc import Collection
from pathlib import Path

from ..settings.atomic import write_bytes
from .folders import damaged
from .schema import PROBES


def tables(folder: Path) -> list[Path]:
    """The tables of a results folder, by name."""
    return sorted((folder / PROBES).glob("*.csv"))


def rests_on(table: Path) -> frozenset[str]:
    """The runs whose numbers a table has; a fault is a ``UserError`` with the file."""
    try:
        with table.open(encoding="utf8", newline="") as file:
            return frozenset(row.get("run") or "" for row in csv.DictReader(file)) - {""}
    except (OSError, ValueError, csv.Error) as error:
        way = f"`bottleneck study {table.stem}` makes it again"
        raise damaged(table, error, way) from None


def drop_tables(folder: Path, runs: Collection[str]) -> list[str]:
    """Delete the tables that rest on one of these runs, and name them."""
    dropped = [table for table in tables(folder) if not rests_on(table).isdisjoint(runs)]
    for table in dropped:
        table.unlink()
    return [table.stem for table in dropped]


def copy_tables(folder: Path, bundle: Path, left_out: Collection[str]) -> list[str]:
    """Copy the tables of a folder into a bundle; name those that rest on a run that is left out.

    These are not copied, and not left in the bundle from an earlier time either.
    """
    if folder.resolve() == bundle.resolve():
        return []
    held = {table: rests_on(table).isdisjoint(left_out) for table in tables(folder)}
    for table, whole in held.items():
        if whole:
            write_bytes(bundle / PROBES / table.name, table.read_bytes())
    drop_tables(bundle, left_out)
    return [table.stem for table, whole in held.items() if not whole]
