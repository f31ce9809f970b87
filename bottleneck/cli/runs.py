"""``bottleneck runs``: list, show and remove the runs of a store."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..settings.errors import UsageError, UserError, plain
from .console import say
from .options import Results, results_folder

if TYPE_CHECKING:
    from ..runs.store import RunFolder


def runs(
    run: Annotated[
        str | None, Argument(help="Show this run. The beginning of its name is enough.")
    ] = None,
    results: Results = None,
    remove: Annotated[bool, Option("--remove", help="Delete the run, after confirmation.")] = False,
    yes: Annotated[bool, Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """List runs, show one, or remove it."""
    if remove and run is None:
        raise UsageError("--remove: say which run; `bottleneck runs` lists them")
    from ..results.folders import STORE, check_one, check_trainable, without_runs
    from ..runs.store import run_folders

    folder = results_folder(results)
    stored = run_folders(folder / STORE) or run_folders(folder)
    if not stored:
        check_one(folder)
        if run is None and without_runs(folder):
            from ..results import bundle
            from ..tables.comparison import describe

            known = describe(bundle.Results.open(folder, sentences=False).runs)
            say(f"{folder} is a bundle without run folders ({known})")
            return
        check_trainable(folder)
        raise UserError(f"{str(folder)!r} holds no run; make some with `bottleneck sweep`")
    matching = [item for item in stored if item.run.startswith(run or "")]
    if run is not None and len(matching) != 1:
        raise UserError(f"{len(matching)} runs of {folder} begin with {run!r}: name one of them")
    names, statuses = _names(matching), {item.run: run_status(item) for item in matching}
    if run is None:
        rows = [("run", "status", "settings")]
        rows += [(item.run, statuses[item.run], names[item.run]) for item in stored]
        first, second = (max(len(row[place]) for row in rows) for place in (0, 1))
        say(
            "\n".join(f"{name:<{first}}  {status:<{second}}  {text}" for name, status, text in rows)
        )
        return
    (item,) = matching
    line = f"{item.run}  {statuses[item.run]}  {names[item.run]}"
    if remove:
        _remove(item, line, yes)
    else:
        reason = item.read_status().get("reason")
        say("\n".join(filter(None, [line, reason, f"its files: {item.path}"])))


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


def _remove(folder: "RunFolder", line: str, yes: bool) -> None:
    """Delete a run, after confirmation, and take it out of the results bundle beside the store."""
    from ..runs.sweep import forget

    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UserError("refusing to delete without confirmation; pass --yes")
        if not typer.confirm(plain(f"Delete {line}?")):
            return
    lock = folder.claim(wait=False)
    if lock is None:
        raise UserError(f"run {folder.run} is under way; stop the command that it belongs to first")
    try:
        folder.remove()
    finally:
        lock.release()
    forget(folder.store, folder.run)
    say(f"deleted {folder.run}", err=True)
