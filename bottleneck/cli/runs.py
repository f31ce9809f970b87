"""``bottleneck runs``: list, show and remove the runs of a store."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.errors import plain
from .console import output, say
from .results import Results, Where, results_folder, told_folder

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from ..runs.store import RunFolder
    from ..settings.run import RunSettings

ALWAYS = ("model.attention", "model.context_size", "training.seed")
"""Settings by which a run is named, whether another has them too or not."""


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
    from ..settings.errors import UsageError

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
    from ..settings.errors import UserError

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
    from ..settings.errors import UserError
    from ..tables.selection import CONDITIONS, meeting

    groups = read_groups(runs[0].store)
    rows = [
        {"run": run.run, "group": groups.get(run.run, "")} | columns_known(run.path) for run in runs
    ]
    frame = pd.DataFrame(rows, columns=list(CONDITIONS), dtype=object)
    kept = set(meeting(frame, where)["run"])
    if not kept:
        raise UserError(f"no run meets {' '.join(where)}; here {_there_are(frame, where)}")
    return [run for run in runs if run.run in kept]


def _there_are(frame: "pd.DataFrame", where: list[str]) -> str:
    """``attention is additive, none``: what the runs have in each column of a condition."""
    from ..tables.selection import list_values

    known = frame[frame["attention"].notna()]  # a run whose settings cannot be read has nothing
    parts = []
    for condition in dict.fromkeys(item.partition("=")[0].strip() for item in where):
        column = condition if condition in frame else condition.rpartition(".")[2]
        parts += [f"{column} is {list_values(known[column])}"] if column in frame else []
    return " and ".join(parts)


def _settings(run: "RunFolder") -> "RunSettings | None":
    """The settings of a run; None where they are not written yet, or damaged."""
    from ..results.folders import read_settings
    from ..settings.errors import UserError

    with suppress(UserError):  # a file that is not there, or is of another version
        return read_settings(run.path)
    return None


def run_status(run: "RunFolder") -> str:
    """A run's status, ``stopped`` where nobody is at it, ``damaged`` where that cannot be read."""
    from ..results.folders import is_lost
    from ..settings.errors import UserError

    try:
        status = run.status
    except UserError:
        return "damaged"
    if is_lost(run.path):
        return "damaged"
    return "stopped" if status == "running" and not run.in_use else status


def _list(runs: "Sequence[RunFolder]") -> None:
    """One line per run, below a head; on a terminal names are folded into their column."""
    names = _names(runs)
    rows = [("run", "status", "settings")]
    rows += [(run.run, run_status(run), names[run.run]) for run in runs]
    console = output()
    if console.is_terminal:
        console.print(_grid(rows))
        return
    widths = [max(len(row[place]) for row in rows) for place in range(2)]
    for run, status, name in rows:
        say(f"{run:<{widths[0]}}  {status:<{widths[1]}}  {name}")


def _grid(rows: Sequence[tuple[str, str, str]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _names(runs: "Sequence[RunFolder]") -> dict[str, str]:
    """Each run's group, and what tells it from the others of that group; by run."""
    from ..results.folders import read_groups
    from ..settings.run import NAMES
    from ..settings.sweep import Cell, varying

    groups = read_groups(runs[0].store) if runs else {}
    known = {run.run: _settings(run) for run in runs}
    cells = {
        run: Cell(groups.get(run, ""), settings) for run, settings in known.items() if settings
    }
    parts: dict[str, set[str]] = {}
    for group in {cell.group for cell in cells.values()}:
        alike = [cell for cell in cells.values() if cell.group == group]
        parts[group] = {*varying(alike), *ALWAYS}
    labels = {
        run: cell.label([name for name in NAMES if name in parts[cell.group]])
        for run, cell in cells.items()
    }
    return {run: labels.get(run, "(settings not known)") for run in known}


def _line(run: "RunFolder") -> str:
    """``0123456789ab  done  attention=additive context_size=256 seed=1``."""
    return f"{run.run}  {run_status(run)}  {_names([run])[run.run]}"


def _find_run(results: Path | None, name: str) -> "RunFolder":
    """The one run whose name begins so."""
    from ..settings.errors import UserError

    matching = [run for run in _runs(results) if run.run.startswith(name)]
    if len(matching) != 1:
        where = told_folder(results_folder(results), results)
        raise UserError(
            f"{len(matching)} runs of {where} begin with {name!r}: name one; `bottleneck runs` "
            "lists them"
        )
    return matching[0]


def _show(folder: "RunFolder") -> None:
    """Print how a run stands, its scores, what it ran on and every setting."""
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
    say(f"\n{head}")
    for name, value in facts.items():
        entries: Sequence[str] = ()
        if isinstance(value, list):
            entries = list(map(str, value))
        elif isinstance(value, dict):
            entries = [f"{key} = {_word(item)}" for key, item in value.items()]
        say(f"  {name}" if entries else f"  {name} = {_word(value)}")
        for entry in entries:
            say(f"    {entry}")


def _word(value: object) -> str:
    """A fact as a settings file has it; what holds others as JSON."""
    from ..settings.sweep import toml_word

    inside = isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False) if inside else toml_word(value)


def _scores(path: Path) -> "Table":
    """A run's scores by bucket."""
    from ..results.folders import run_rows
    from ..tables.render import count, new_table

    heads = ["source\nwords", "n", "BLEU", "95 % range", "BP", "chrF", "nats per\ntoken"]
    table = new_table("Scores by source words", heads)
    for row in run_rows(path):
        bleu, low, high, chrf = (
            _rounded(row.get(name), 1) for name in ("bleu", "bleu_low", "bleu_high", "chrf")
        )
        brevity, nll = (
            _rounded(row.get("brevity_penalty"), 2),
            _rounded(row.get("nll_per_token"), 3),
        )
        table.add_row(
            row["bucket"], count(int(row["n"])), bleu, low and f"{low}..{high}", brevity, chrf, nll
        )
    return table


def _rounded(text: str | None, digits: int) -> str:
    return f"{float(text):.{digits}f}" if text else ""


def _remove(folder: "RunFolder", yes: bool) -> None:
    """Delete a run, after asking, and take it out of the results bundle beside the store."""
    from ..runs.sweep import forget

    with _locked(folder):
        pass
    if not (yes or _confirmed(f"Delete {_line(folder)}?")):
        return
    # Held anew, for nobody is to wait for an answer; and meanwhile a sweep may have begun it.
    with _locked(folder):
        folder.remove()
    forget(folder.store, folder.run)
    say(f"deleted {folder.run}", err=True)


def _confirmed(question: str) -> bool:
    from ..settings.errors import UserError

    nobody = UserError("nothing deleted: nobody answers here; --yes deletes unasked")
    if sys.stdin is None:  # closed by our caller (`<&-`)
        raise nobody
    try:
        return typer.confirm(plain(question))
    except typer.Abort:
        if sys.stdin.isatty():  # Ctrl-C
            raise
        raise nobody from None


@contextmanager
def _locked(folder: "RunFolder") -> Iterator[None]:
    """Hold the run; refused where some process is at it."""
    from ..settings.errors import UserError

    lock = folder.claim(wait=False)
    if lock is None:
        raise UserError(f"run {folder.run} is under way; stop the command that it belongs to first")
    try:
        yield
    finally:
        lock.release()
