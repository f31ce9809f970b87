"""``bottleneck runs``: list, show and remove the runs of a store."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.errors import UsageError, UserError, plain
from .console import output, print_names, say
from .options import Results, Where, folder_text, results_folder

if TYPE_CHECKING:
    from rich.table import Table

    from ..runs.store import RunFolder
    from ..settings.run import RunSettings


def runs(
    run: Annotated[
        str | None, typer.Argument(help="Show this run. The beginning of its name is enough.")
    ] = None,
    results: Results = None,
    where: Where = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Delete the run, after confirmation.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """List runs, show one, or remove it."""

    if remove and run is None:
        raise UsageError("--remove: say which run; `bottleneck runs` lists them")
    if yes and not remove:
        raise UsageError("--yes answers the question of --remove; give both")
    if run is None:
        _list(_filtered(_runs(results), where or []))
    elif remove:
        _remove(_find_run(results, run), yes)
    else:
        _show(_find_run(results, run))


def _runs(results: Path | None) -> "list[RunFolder]":
    from ..results.discovery import check_one
    from ..results.folders import STORE, without_runs
    from ..runs.store import run_folders

    folder = results_folder(results)
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
    from ..tables.selection import CONDITIONS, list_values, meeting

    groups = read_groups(runs[0].store)
    rows = [
        {"run": run.run, "group": groups.get(run.run, "")} | columns_known(run.path) for run in runs
    ]
    frame = pd.DataFrame(rows, columns=list(CONDITIONS), dtype=object)
    names = set(meeting(frame, where)["run"])
    if names:
        return [run for run in runs if run.run in names]
    known = frame[frame["attention"].notna()]  # a run whose settings cannot be read has nothing
    values = []
    for condition in dict.fromkeys(item.partition("=")[0].strip() for item in where):
        column = condition if condition in frame else condition.rpartition(".")[2]
        values += [f"{column} is {list_values(known[column])}"] if column in frame else []
    raise UserError(f"no run meets {' '.join(where)}; here {' and '.join(values)}")


def run_status(run: "RunFolder") -> str:
    """A run's status, ``stopped`` where no process trains it, ``damaged`` if it is unreadable."""
    from ..results.folders import is_lost

    try:
        status = run.status
    except UserError:
        return "damaged"
    if is_lost(run.path):
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
    from ..results.folders import read_groups
    from ..settings.run import NAMES
    from ..settings.sweep import Cell, varying

    always = "model.attention", "model.context_size", "training.seed"
    groups = read_groups(runs[0].store) if runs else {}
    known = {run.run: _settings(run) for run in runs}
    cells = {
        run: Cell(groups.get(run, ""), settings) for run, settings in known.items() if settings
    }
    parts: dict[str, set[str]] = {}
    for group in {cell.group for cell in cells.values()}:
        alike = [cell for cell in cells.values() if cell.group == group]
        parts[group] = {*varying(alike), *always}
    labels = {
        run: cell.label([name for name in NAMES if name in parts[cell.group]])
        for run, cell in cells.items()
    }
    return {run: labels.get(run, "(settings not known)") for run in known}


def _settings(run: "RunFolder") -> "RunSettings | None":
    from ..results.folders import read_settings

    with suppress(UserError):  # a file that is not there, is damaged or of another version
        return read_settings(run.path)
    return None


def _line(run: "RunFolder") -> str:
    """``0123456789ab  done  attention=additive context_size=256 seed=1``."""
    return f"{run.run}  {run_status(run)}  {_names([run])[run.run]}"


def _find_run(results: Path | None, name: str) -> "RunFolder":
    """The only run whose name begins so."""

    matching = [run for run in _runs(results) if run.run.startswith(name)]
    if len(matching) != 1:
        where = folder_text(results_folder(results), results)
        raise UserError(
            f"{len(matching)} runs of {where} begin with {name!r}: name one; `bottleneck runs` "
            "lists them"
        )
    return matching[0]


def _show(folder: "RunFolder") -> None:
    """Print a run's status, its scores, what it ran on and every setting."""
    from ..results.folders import ENVIRONMENT, SCORES, SETTINGS, read_object, was_written

    say(_line(folder))
    if reason := folder.read_status().get("reason"):
        say(reason)
    if was_written(folder.path / SCORES):
        output().print(_scores(folder.path / SCORES))
    if was_written(folder.path / SETTINGS):
        for concern, fields in read_object(folder.path / SETTINGS).items():
            _print_facts(concern, fields)
    if was_written(folder.path / ENVIRONMENT):
        _print_facts("environment", read_object(folder.path / ENVIRONMENT))


def _print_facts(head: str, facts: Mapping[str, object]) -> None:
    """A head and a line for each fact; lists and mappings have one for each of their entries."""
    from ..settings.sweep import toml_word

    def word(value: object) -> str:
        """A fact as a settings file has it; what holds others as JSON."""
        if isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        return toml_word(value)

    lines = [f"\n{head}"]
    for name, value in facts.items():
        entries = list(map(str, value)) if isinstance(value, list) else []
        if isinstance(value, dict):
            entries = [f"{key} = {word(item)}" for key, item in value.items()]
        lines.append(f"  {name}" if entries else f"  {name} = {word(value)}")
        lines += [f"    {entry}" for entry in entries]
    say("\n".join(lines))


def _scores(path: Path) -> "Table":
    """A run's scores by bucket."""
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
    return table


def _remove(folder: "RunFolder", yes: bool) -> None:
    """Delete a run, after confirmation, and take it out of the results bundle beside the store."""
    from ..runs.sweep import forget

    if not (yes or _confirmed(f"Delete {_line(folder)}?")):
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


def _confirmed(question: str) -> bool:
    refusal = UserError("refusing to delete without confirmation; pass --yes")
    if sys.stdin is None:  # closed by our caller (`<&-`)
        raise refusal
    try:
        return typer.confirm(plain(question))
    except typer.Abort:
        if sys.stdin.isatty():  # Ctrl-C
            raise
        raise refusal from None
