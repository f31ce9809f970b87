"""``bottleneck runs``: list, show and remove the runs of a store."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..settings.errors import UsageError, UserError, plain
from .console import output, print_names, say
from .options import Results, Where, results_folder

if TYPE_CHECKING:
    from ..runs.store import RunFolder


def runs(
    run: Annotated[
        str | None, Argument(help="Show this run. The beginning of its name is enough.")
    ] = None,
    results: Results = None,
    where: Where = None,
    remove: Annotated[bool, Option("--remove", help="Delete the run, after confirmation.")] = False,
    yes: Annotated[bool, Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """List runs, show one, or remove it."""
    if remove and run is None:
        raise UsageError("--remove: say which run; `bottleneck runs` lists them")
    if yes and not remove:
        raise UsageError("--yes answers the question of --remove; give both")
    from ..results.folders import STORE, check_one, without_runs
    from ..runs.store import run_folders

    folder = results_folder(results)
    stored = run_folders(folder / STORE) or run_folders(folder)
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders: `bottleneck export` prints what "
            "its runs were and had"
        )
    if not stored:
        check_one(folder)
        raise UserError(f"{str(folder)!r} holds no run; make some with `bottleneck sweep`")
    if run is None:
        _list(stored, where or [])
        return
    matching = [item for item in stored if item.run.startswith(run)]
    if len(matching) != 1:
        raise UserError(
            f"{len(matching)} runs of {folder} begin with {run!r}: name one; `bottleneck runs` "
            "lists them, and --results names another folder"
        )
    line = f"{matching[0].run}  {run_status(matching[0])}  {_names(matching)[matching[0].run]}"
    if remove:
        _remove(matching[0], line, yes)
    else:
        say(line)
        _show(matching[0])


def run_status(run: "RunFolder") -> str:
    """A run's status, ``stopped`` where no process trains it, ``damaged`` if it is unreadable."""
    from ..results.folders import is_lost

    try:
        status = "damaged" if is_lost(run.path) else run.status
    except UserError:
        return "damaged"
    return "stopped" if status == "running" and not run.in_use else status


def _list(stored: "Sequence[RunFolder]", where: Sequence[str]) -> None:
    """One line per run below a head, of those that meet the conditions as tables read them.

    On a terminal settings are folded into their column.
    """
    if where:
        import pandas as pd

        from ..results.bundle import columns_known
        from ..results.folders import read_experiments
        from ..tables.selection import CONDITIONS, meeting

        declared = {
            run: {"experiment": name, "arm": arm}
            for name, members in read_experiments(stored[0].store).items()
            for run, (arm, _) in members.items()
        }
        rows = [
            {"run": item.run} | declared.get(item.run, {}) | columns_known(item.path)
            for item in stored
        ]
        known = pd.DataFrame(rows, columns=list(CONDITIONS), dtype=object)
        names = set(meeting(known, where)["run"])
        if not names:
            raise UserError(f"no run meets {' '.join(where)}; without --where all are listed")
        stored = [item for item in stored if item.run in names]
    settings = {"run": "settings"} | _names(stored)
    statuses = {"run": "status"} | {item.run: run_status(item) for item in stored}
    first, second = max(map(len, statuses)), max(map(len, statuses.values()))
    lines = {f"{run:<{first}}  {text:<{second}}": settings[run] for run, text in statuses.items()}
    if output().is_terminal:
        print_names(lines, None)
    else:
        say("\n".join(f"{line}  {name}" for line, name in lines.items()))


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
            names[run] = f"{experiment}: {arm} seed {seed}"
    return {run.run: names.get(run.run, "(settings not known)") for run in stored}


def _show(folder: "RunFolder") -> None:
    """Print a run's scores, every setting and what it ran on.

    A list or a mapping has a line for each of its entries.
    """
    from ..results.folders import ENVIRONMENT, SCORES, SETTINGS, read_object, was_written
    from ..settings.sweep import toml_word

    if reason := folder.read_status().get("reason"):
        say(reason)
    if was_written(folder.path / SCORES):
        _print_scores(folder.path / SCORES)
    for file in (SETTINGS, ENVIRONMENT):
        if not was_written(folder.path / file):
            continue
        read = read_object(folder.path / file)
        for head, facts in (read if file == SETTINGS else {"environment": read}).items():
            say(f"\n{head}")
            for name, value in facts.items():
                entries = [str(entry) for entry in value] if isinstance(value, list) else []
                if isinstance(value, dict):
                    entries = [f"{key} = {toml_word(item)}" for key, item in value.items()]
                fact = "\n    ".join(["", *entries]) if entries else f" = {toml_word(value)}"
                say(f"  {name}{fact}")


def _print_scores(path: Path) -> None:
    """Print a run's scores by bucket."""
    from ..results.folders import run_rows
    from ..tables.render import count, new_table

    forms = {"bleu": ".1f", "bleu_low": ".1f", "bleu_high": ".1f", "brevity_penalty": ".2f",
             "chrf": ".1f", "nll_per_token": ".3f"}  # fmt: skip
    heads = ["source\nwords", "n", "BLEU", "95 % range", "BP", "chrF", "nats per\ntoken"]
    table = new_table("Scores by source words", heads)
    for row in run_rows(path):
        bleu, low, high, *others = (
            f"{float(row[name]):{form}}" if row.get(name) else "" for name, form in forms.items()
        )
        interval = low and f"{low}..{high}"
        table.add_row(row["bucket"], count(int(row["n"])), bleu, interval, *others)
    output().print(table)


def _remove(folder: "RunFolder", line: str, yes: bool) -> None:
    """Delete a run, after confirmation, and take it out of the results bundle beside the store."""
    from ..runs.sweep import forget

    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UserError(
                "refusing to delete without confirmation (standard input is no terminal); pass "
                "--yes"
            )
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
