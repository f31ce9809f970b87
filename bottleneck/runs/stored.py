"""Finding finished runs on disk."""

from pathlib import Path
from typing import Any

from ..results.discovery import check_one
from ..results.folders import (
    SETTINGS,
    STATUS,
    STORE,
    damaged,
    read_object,
    run_rows,
    was_written,
    without_runs,
)
from ..results.schema import RUNS
from ..settings.errors import UserError
from ..settings.names import is_name
from ..settings.sums import SUMS

AGAIN = "the command that made the runs writes it anew"


def latest_output(results: Path) -> Path:
    """The output folder under ``results`` that was written last.

    A ``UserError`` where there is none.
    """
    inside = results.iterdir() if results.is_dir() else ()
    found = sorted((path for path in inside if was_written(path / RUNS)), key=_written)
    if not found:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return found[-1]


def _written(folder: Path) -> float:
    """When a bundle was written; where its table was lost, when its sums were."""
    table = folder / RUNS
    return (table if table.exists() else folder / SUMS).stat().st_mtime


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: the one run, or of an output folder the runs that ended last.

    These are arms that differ in nothing else, the first seed of each. A translator whose source is
    hidden is no arm of a comparison: it is taken only where there is no other. A folder without
    runs, or of several sweeps, is a ``UserError``.
    """
    if (folder / SETTINGS).is_file():
        return {_sections(folder)["model"].get("attention", ""): folder}
    check_one(folder)
    if not was_written(folder / RUNS):
        raise UserError(
            f"{str(folder)!r} holds no run; name a folder that `bottleneck reproduce` wrote"
        )
    rows = _rows(folder / RUNS)
    rows = [row for row in rows if row.get("source") != "hidden"] or rows
    found = {folder / STORE / row["run"]: row["attention"] for row in rows}
    comparison = _others(max(found, key=_ended))
    chosen: dict[str, Path] = {}
    for run, attention in found.items():
        if _others(run) == comparison:
            chosen.setdefault(attention, run)
    return chosen


def trained_arms(folder: Path) -> dict[str, Path]:
    """`arms` whose weights are wanted; a bundle without its run folders is a ``UserError``, too."""
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders, which hold the weights: name "
            "the folder where its runs were trained"
        )
    return arms(folder)


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a tidy table; each names a run and its attention."""
    rows = list(run_rows(path, AGAIN))
    if not all(is_name(row.get("run")) and row.get("attention") for row in rows):
        raise damaged(path, "it has a row without a run's name and attention", AGAIN)
    return rows


def _ended(run: Path) -> float:
    """When a run ended; of a bundle away from its store all are as old."""
    status = run / STATUS
    return status.stat().st_mtime if status.is_file() else 0.0


def _others(run: Path) -> dict[str, Any]:
    """A run's settings but for its arm and seed; empty where its folder is not there."""
    if not was_written(run / SETTINGS):
        return {}
    settings = _sections(run)
    apart = {"model": "attention", "training": "seed"}
    return {
        f"{concern}.{field}": value
        for concern, fields in settings.items()
        for field, value in fields.items()
        if apart.get(concern) != field
    }


def _sections(run: Path) -> dict[str, dict[str, Any]]:
    """A run's settings as they are written down, of whatever version; ``model`` among them."""
    held = read_object(run / SETTINGS)
    if "model" not in held or not all(isinstance(fields, dict) for fields in held.values()):
        raise damaged(run / SETTINGS, "it has not all settings")
    return held
