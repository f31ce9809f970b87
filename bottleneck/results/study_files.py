"""The studies' tables of a results folder, as files: they travel with a bundle, and go with a run.

A study's table has means over its runs, so that it cannot be narrowed: it is there for all of them
or not at all. What a study found on each run is kept in the run's own folder, from which
`bottleneck study NAME` writes the table anew in seconds. The benchmark's numbers rest on no run.
"""

import csv
import io
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..settings.files import SUMS, read_sums, write_listed
from .folders import damaged, read_checked, runs_in, store_of
from .schema import BENCHMARK, PROBES, STUDIES

GOLD = "alignment_gold"
"""The table of the study ``alignment`` put to a gold set of the user's own."""


def tables(folder: Path) -> list[Path]:
    """The tables of a results folder by name, those among them that are gone and still listed.

    Such a one was lost, which is told where it is read.
    """
    listed = (folder / name for name in read_sums(folder) or ())
    lost = (path for path in listed if path.parent == folder / PROBES and path.suffix == ".csv")
    return sorted({*(folder / PROBES).glob("*.csv"), *lost})


def rests_on(table: Path) -> frozenset[str]:
    """The runs whose numbers a table has; a fault is a ``UserError`` with the file."""
    try:
        text = read_checked(table, way_back(table)).decode()
        rows = csv.DictReader(io.StringIO(text, newline=""))
        return frozenset(row.get("run") or "" for row in rows) - {""}
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(table, error, way_back(table)) from None


def way_back(table: Path) -> str:
    """What makes a table again that cannot be read, in words: a command where there is one.

    A study is put to runs, so that a bundle without its store cannot make one itself.
    """
    folder = table.parent.parent
    where = shlex.quote(str(folder))
    if table.stem == BENCHMARK:
        return f"`bottleneck bench --out {where}` measures it again"
    if not runs_in(store_of(folder)):
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


@dataclass(frozen=True)
class Travel:
    """What becomes of a results folder's tables where a bundle is made of its runs.

    ``whole`` are copied, those ``left_out`` (stems) rest on a run that is; what is ``gone`` (names)
    is not left in the bundle from an earlier time.
    """

    whole: Sequence[Path] = ()
    left_out: Sequence[str] = ()
    gone: Sequence[str] = ()

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """The tables that are copied, by their names in a bundle."""
        for table in self.whole:
            yield f"{PROBES}/{table.name}", read_checked(table, way_back(table))


def travelling(folder: Path, bundle: Path, left_out: Collection[str]) -> Travel:
    """Which tables of a folder go into a bundle whose runs are all but those left out.

    Gone from the bundle are the others there that rest on runs, and those that were lost.
    """
    if folder.resolve() == bundle.resolve():
        return Travel()
    known = tables(folder)
    whole = [table for table in known if rests_on(table).isdisjoint(left_out)]
    names = {table.name for table in whole}
    others = [table for table in tables(bundle) if table.name not in names]
    gone = [table.name for table in others if not table.exists() or rests_on(table)]
    return Travel(
        whole,
        [table.stem for table in known if table.name not in names],
        [f"{PROBES}/{name}" for name in gone],
    )
