"""``bottleneck runs``: list, show and remove the runs of a store."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .results import Results, Where, results_folder

if TYPE_CHECKING:
    from ..runs.store import RunFolder


def runs(
    run: Annotated[str | None, typer.Argument(help="Show this run: its name's beginning.")] = None,
    results: Results = None,
    where: Where = None,
    remove: Annotated[bool, typer.Option("--remove", help="Delete the run, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """List the runs of a store, show one, or remove it."""
    from ..settings.errors import UsageError

    if remove and run is None:
        raise UsageError("--remove: say which run; `bottleneck runs` lists them")
    if run is None:
        for folder in _filtered(_runs(results), where or []):
            typer.echo(_line(folder))
    elif remove:
        _remove(_one(results, run), yes)
    else:
        _show(_one(results, run))


def _runs(results: Path | None) -> "list[RunFolder]":
    from ..results.folders import STORE
    from ..runs.store import run_folders
    from ..settings.errors import UserError

    folder = results_folder(results)
    found = run_folders(folder / STORE) or run_folders(folder)
    if not found:
        raise UserError(f"{str(folder)!r} holds no run; make some with `bottleneck sweep`")
    return found


def _filtered(runs: "list[RunFolder]", where: list[str]) -> "list[RunFolder]":
    """The runs whose settings are as the filters say; a value is read as `table --where` does."""
    if not where:
        return runs
    import pandas as pd

    from ..results.folders import read_groups
    from ..tables.selection import CONDITIONS, meeting

    groups = read_groups(runs[0].store)
    rows = [{"group": groups.get(run.run, "")} | _columns(run) for run in runs]
    kept = set(meeting(pd.DataFrame(rows, columns=list(CONDITIONS), dtype=object), where)["run"])
    return [run for run in runs if run.run in kept]


def _columns(run: "RunFolder") -> dict[str, object]:
    """What the tidy table says of a run, as far as it was written before the run was stopped."""
    from ..results.columns import setting_columns
    from ..results.folders import read_json
    from ..settings.errors import UserError
    from ..settings.run import parse_settings

    known: dict[str, object] = {"run": run.run}
    with suppress(UserError):  # a file that is not there, or is of another version
        known |= setting_columns(parse_settings(read_json(run.path / "settings.json")))
        facts = read_json(run.path / "environment.json")
        known["corpus_fingerprint"] = facts.get("fingerprint", "")
    return known


def _setting(run: "RunFolder", name: str) -> object:
    """One setting of a run; None where a run was stopped before it wrote them."""
    from ..results.folders import read_json

    path = run.path / "settings.json"
    concern, _, field = name.partition(".")
    return read_json(path)[concern][field] if path.is_file() else None


def _line(run: "RunFolder") -> str:
    """``0123456789ab  done      additive context 256 seed 1``."""
    stopped = run.status == "running" and not run.in_use
    names = ("model.attention", "model.context_size", "training.seed")
    attention, context, seed = (_setting(run, name) for name in names)
    status = "stopped" if stopped else run.status
    return f"{run.run}  {status:<8}  {attention} context {context} seed {seed}"


def _one(results: Path | None, name: str) -> "RunFolder":
    """The one run whose name begins so."""
    from ..settings.errors import UserError

    found = [run for run in _runs(results) if run.run.startswith(name)]
    if len(found) != 1:
        raise UserError(f"{len(found)} runs begin with {name!r}; `bottleneck runs` lists them")
    return found[0]


def _show(folder: "RunFolder") -> None:
    """Print a run's status, settings and scores."""
    from ..results.folders import read_json

    typer.echo(_line(folder))
    reason = folder.read_status()["reason"]
    if reason:
        typer.echo(reason)
    for name in ("settings.json", "environment.json"):
        if (folder.path / name).is_file():
            typer.echo(f"{name}: {json.dumps(read_json(folder.path / name), ensure_ascii=False)}")
    if (folder.path / "scores.csv").is_file():
        typer.echo((folder.path / "scores.csv").read_text(encoding="utf8"), nl=False)


def _remove(folder: "RunFolder", yes: bool) -> None:
    """Delete a run, after asking, and take it out of the results bundle beside the store."""
    from ..runs.gathered import forget

    with _held(folder):
        pass
    if not (yes or typer.confirm(f"Delete {_line(folder)}?")):
        return
    # Held anew, for nobody is to wait for an answer; and meanwhile a sweep may have begun it.
    with _held(folder):
        folder.remove()
    forget(folder.store, folder.run)
    typer.echo(f"deleted {folder.run}", err=True)


@contextmanager
def _held(folder: "RunFolder") -> Iterator[None]:
    """Hold the run; refused where some process is at it."""
    from ..settings.errors import UserError

    lock = folder.claim(wait=False)
    if lock is None:
        raise UserError(f"run {folder.run} is under way; stop it first")
    try:
        yield
    finally:
        lock.release()
