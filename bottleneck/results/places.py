"""Where results may be written: over no file of others, and among no runs."""

import os
from collections.abc import Collection
from pathlib import Path

from ..settings.errors import UsageError, UserError
from ..settings.files import SUMS, check_file, others_lines, read_sums
from .discovery import find_runs
from .folders import check_called, is_run, listed_as, read_object, runs_in, store_of
from .schema import ENVIRONMENT, FILES, PROBES

NEW = "name a new folder"
NOT_WRITTEN = ", which bottleneck did not write"


def check_output(path: Path) -> None:
    """A ``UserError`` at once where a file cannot be written later, or is one of results.

    Such a one is what the sums of its folder list, these sums, and all that is in a run's folder:
    its place is taken by what made it alone.
    """
    check_file(path)
    folder, name = listed_as(Path(os.path.realpath(path.parent)) / path.name)
    if name == SUMS:
        raise UserError(f"{str(path)!r}: {SUMS} lists results and nothing else: name another file")
    if is_run(folder):
        raise UserError(f"{str(path)!r} is in the folder of a run: name a file elsewhere")
    if name in (read_sums(folder) or ()):
        raise UserError(
            f"{str(path)!r} is one of the results there, which {SUMS} lists: name another file"
        )


def check_bundle(folder: Path, runs: Collection[str], store: Path | None = None) -> None:
    """A ``UsageError`` where a bundle of these runs would take the place of others.

    That is a folder for studies' tables, a run's own, a store, a folder with another store than the
    one that they are of, files of a bundle's names that are of none, and a bundle away from its
    store that has runs which are not in ``store`` either; one of which that cannot be known is a
    ``DamagedError``.
    """
    check_called(folder)
    if is_run(folder) or runs_in(folder):
        raise UsageError(f"{str(folder)!r} is a run or a store of runs: {NEW}")
    if find_runs(folder).any:
        if store is None or not store.samefile(store_of(folder)):
            raise UsageError(f"{str(folder)!r} has results of its own: {NEW}")
        return
    if others_lines(folder):
        raise UsageError(f"refusing to overwrite {str(folder / SUMS)!r}{NOT_WRITTEN}: {NEW}")
    tables = (f"{PROBES}/{path.name}" for path in sorted((folder / PROBES).glob("*.csv")))
    there = [name for name in (*FILES, *tables) if os.path.lexists(folder / name)]
    listed = read_sums(folder) or ()
    if others := [name for name in there if name not in listed]:
        raise UsageError(f"refusing to overwrite {str(folder / others[0])!r}{NOT_WRITTEN}: {NEW}")
    if set(FILES).isdisjoint(there):
        return
    described = read_object(folder / ENVIRONMENT, f"{NEW}, or delete that one").get("runs", {})
    known = {*runs, *(run.name for run in (runs_in(store) if store else ()))}
    if lost := sorted(set(described) - known):
        few = ", ".join(lost[:3]) + ", ..." * (len(lost) > 3)
        raise UsageError(
            f"{str(folder)!r} is a bundle with other runs ({few}): {NEW}, or delete it"
        )
