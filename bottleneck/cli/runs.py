"""``bottleneck table runs``: the runs of a folder, finished or not."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..settings.errors import UserError
from .console import say

if TYPE_CHECKING:
    from ..runs.store import RunFolder


def print_runs(folder: Path) -> None:
    """Print a line per run of a folder's store: name, status, settings, and why it failed."""
    from ..results import bundle
    from ..results.folders import STORE, check_one, read_status, without_runs
    from ..runs.store import run_folders
    from ..tables.comparison import describe

    stored = run_folders(folder / STORE) or run_folders(folder)
    if not stored:
        check_one(folder)
        if without_runs(folder):
            known = describe(bundle.Results.open(folder, sentences=False).runs)
            say(f"{folder} is a bundle without run folders ({known})")
            return
        raise UserError(f"{str(folder)!r} holds no run; make some with `bottleneck sweep`")
    names, rows = _names(stored), [("run", "status", "settings")]
    for item in stored:
        status = run_status(item)
        reason = "" if status == "damaged" else read_status(item.path).get("reason", "")
        last = "".join(f": {line}" for line in reason.splitlines()[-1:])  # of a traceback
        rows.append((item.run, status, f"{names[item.run]}{last}"))
    first, second = (max(len(row[place]) for row in rows) for place in (0, 1))
    for run, status, text in rows:
        say(f"{run:<{first}}  {status:<{second}}  {text}")
    say(f"Their files: {stored[0].store}")


def run_status(run: "RunFolder") -> str:
    """A run's status, ``stopped`` where no process trains it, ``damaged`` if it is unreadable."""
    try:
        status = run.status
    except UserError:
        return "damaged"
    if status == "running" and not run.in_use:
        return "stopped"
    return "damaged" if status == "missing" and run.path.exists() else status


def _names(stored: "Sequence[RunFolder]") -> dict[str, str]:
    """Each run's experiment, arm and seed, or those of its settings that differ; by run."""
    from ..results.folders import read_experiments, read_settings
    from ..settings.sweep import Cell, declare

    cells = {}
    for run in stored:
        with suppress(UserError):  # a file that is not there, is damaged or of another version
            cells[run.run] = Cell("", read_settings(run.path))
    names = {run: cell.label for run, cell in zip(cells, declare(cells.values()), strict=True)}
    for experiment, members in read_experiments(stored[0].store).items():
        for run in members.keys() & cells.keys():
            arm, seed = members[run][0], cells[run].settings.training.seed
            names[run] = f"{experiment or 'replaced'}: {arm} seed {seed}"
    return {run.run: names.get(run.run, "(settings not known)") for run in stored}
