"""``bottleneck runs``: list, show and remove the runs of a store."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    folder = results_folder(results)
    stored = _runs(folder)
    if run is None:
        _list(_filtered(stored, where or []))
        return
    matching = [item for item in stored if item.run.startswith(run)]
    if len(matching) != 1:
        raise UserError(
            f"{len(matching)} runs of {folder} begin with {run!r}: name one; `bottleneck runs` "
            "lists them, and --results names another folder"
        )
    if remove:
        _remove(matching[0], yes)
    else:
        _show(matching[0])


def _runs(folder: Path) -> "list[RunFolder]":
    from ..results.folders import STORE, check_one, without_runs
    from ..runs.store import run_folders

    matching = run_folders(folder / STORE) or run_folders(folder)
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders: `bottleneck export` prints what "
            "its runs were and had"
        )
    if not matching:
        check_one(folder)
        raise UserError(f"{str(folder)!r} holds no run; make some with `bottleneck sweep`")
    return matching


def _filtered(runs: "list[RunFolder]", where: list[str]) -> "list[RunFolder]":
    """The runs whose settings are as the filters say; a value is read as `table --where` does."""
    if not where:
        return runs
    import pandas as pd

    from ..results.bundle import columns_known
    from ..results.folders import read_groups
    from ..tables.selection import CONDITIONS, meeting

    groups = read_groups(runs[0].store)
    rows = [
        {"run": run.run, "group": groups.get(run.run, "")} | columns_known(run.path) for run in runs
    ]
    names = set(meeting(pd.DataFrame(rows, columns=list(CONDITIONS), dtype=object), where)["run"])
    if not names:
        raise UserError(f"no run meets {' '.join(where)}; without --where all are listed")
    return [run for run in runs if run.run in names]


def run_status(run: "RunFolder") -> str:
    """A run's status, ``stopped`` where no process trains it, ``damaged`` if it is unreadable."""
    from ..results.folders import is_lost

    try:
        status = "damaged" if is_lost(run.path) else run.status
    except UserError:
        return "damaged"
    return "stopped" if status == "running" and not run.in_use else status


def _list(runs: "Sequence[RunFolder]") -> None:
    """One line per run, below a head; on a terminal names are folded into their column."""
    names = {"run": "settings"} | _names(runs)
    statuses = {"run": "status"} | {run.run: run_status(run) for run in runs}
    first, second = max(map(len, statuses)), max(map(len, statuses.values()))
    lines = {f"{run:<{first}}  {status:<{second}}": names[run] for run, status in statuses.items()}
    if output().is_terminal:
        print_names(lines, None)
    else:
        say("\n".join(f"{line}  {name}" for line, name in lines.items()))


def _names(runs: "Sequence[RunFolder]") -> dict[str, str]:
    """Each run's group, and the settings that differ among the runs of that group; by run.

    Attention, context size and seed are named whether they differ or not.
    """
    from ..results.folders import read_groups, read_settings
    from ..settings.run import NAMES
    from ..settings.sweep import Cell, varying

    always = {"model.attention", "model.context_size", "training.seed"}
    groups, cells = read_groups(runs[0].store), {}
    for run in runs:
        with suppress(UserError):  # a file that is not there, is damaged or of another version
            cells[run.run] = Cell(groups.get(run.run, ""), read_settings(run.path))
    parts: dict[str, list[str]] = {}
    for group in {cell.group for cell in cells.values()}:
        differing = varying([cell for cell in cells.values() if cell.group == group])
        parts[group] = [name for name in NAMES if name in {*differing, *always}]
    labels = {run: cell.label(parts[cell.group]) for run, cell in cells.items()}
    return {run.run: labels.get(run.run, "(settings not known)") for run in runs}


def _line(run: "RunFolder") -> str:
    """``0123456789ab  done  attention=additive context_size=256 seed=1``."""
    return f"{run.run}  {run_status(run)}  {_names([run])[run.run]}"


def _show(folder: "RunFolder") -> None:
    """Print a run's status, its scores, what it ran on and every setting."""
    from ..results.folders import ENVIRONMENT, SCORES, SETTINGS, read_object, was_written

    say(_line(folder))
    if reason := folder.read_status().get("reason"):
        say(reason)
    if was_written(folder.path / SCORES):
        _print_scores(folder.path / SCORES)
    if was_written(folder.path / SETTINGS):
        for concern, fields in read_object(folder.path / SETTINGS).items():
            _print_facts(concern, fields)
    if was_written(folder.path / ENVIRONMENT):
        _print_facts("environment", read_object(folder.path / ENVIRONMENT))


def _print_facts(head: str, facts: Mapping[str, Any]) -> None:
    """A head and a line for each fact; lists and mappings have one for each of their entries."""
    from ..settings.sweep import toml_word

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


def _remove(folder: "RunFolder", yes: bool) -> None:
    """Delete a run, after confirmation, and take it out of the results bundle beside the store."""
    from ..runs.sweep import forget

    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UserError(
                "refusing to delete without confirmation (standard input is no terminal); pass "
                "--yes"
            )
        if not typer.confirm(plain(f"Delete {_line(folder)}?")):
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
