"""What a folder holds: the runs of a store, by state and version; arms to compare; more results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..settings.errors import UserError
from ..settings.files import SUMS, is_name
from ..settings.run import SCHEMA_VERSION
from .folders import (
    ENVIRONMENT,
    SETTINGS,
    STATUS,
    STORE,
    damaged,
    is_bundle,
    is_lost,
    is_run,
    read_object,
    read_status,
    removal,
    run_rows,
    runs_in,
    store_of,
    was_written,
    without_runs,
)
from .schema import BENCHMARK, PROBES, RUNS
from .study_files import tables


@dataclass(frozen=True)
class Described:
    """What a run is and what it ran on, as its files have it."""

    settings: Mapping[str, Any]
    environment: Mapping[str, Any]


@dataclass(frozen=True)
class StoredRuns:
    """The run folders of a store: done, in a fixed order; not done; done by another version.

    ``described`` are those that are done and have both files: what was read to find and order them.
    """

    done: tuple[Path, ...]
    unfinished: tuple[Path, ...]
    other_versions: tuple[Path, ...]
    described: Mapping[Path, Described]

    @property
    def any(self) -> bool:
        """Whether this is a store at all."""
        return bool(self.done or self.unfinished or self.other_versions)


def find_runs(folder: Path) -> StoredRuns:
    """What an output folder or a store holds. Numbers of two versions are never mixed."""
    runs = runs_in(store_of(folder))
    done = {run for run in runs if _status(run) == "done"}
    environments = {run: _environment(run) for run in runs}
    current = {run for run in runs if _is_current(environments[run])}
    settings = {run: read_object(run / SETTINGS) for run in current & done}
    ordered = sorted(settings, key=lambda run: _order(run, settings[run]))
    return StoredRuns(
        done=tuple(ordered),
        unfinished=tuple(sorted(current - done)),
        other_versions=tuple(sorted(done - current)),
        described={
            run: Described(settings[run], known) for run in ordered if (known := environments[run])
        },
    )


def any_finished(folder: Path) -> bool:
    """Whether `find_runs` has a run that is done; where the first is, no other is looked at."""
    runs = (run for run in runs_in(store_of(folder)) if _status(run) == "done")
    return any(_is_current(_environment(run)) for run in runs)


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    return list(find_runs(folder).done)


def describe(run: Path) -> Described:
    """Both files of a run; one that cannot be read is a ``UserError``."""
    return Described(read_object(run / SETTINGS), read_object(run / ENVIRONMENT))


def check_version(run: Path) -> None:
    """A run of another version is a ``UserError``: its weights may mean something else here."""
    if not _is_current(_environment(run)):
        raise UserError(
            f"the run {run.name!r} was made by another version of this program; train it again"
        )


def _status(run: Path) -> str:
    """How a run stands; empty where it has gone meanwhile.

    A ``UserError`` where that cannot be known.
    """
    status = read_status(run).get("status", "")
    if not status and is_lost(run):
        raise UserError(
            f"{str(run / STATUS)!r} is missing; run the command that trained it again to finish "
            f"the run, or delete it with {removal(run)}"
        )
    return str(status)


def _environment(run: Path) -> dict[str, Any] | None:
    """What a run ran on; None where it was stopped before it could say."""
    path = run / ENVIRONMENT
    return read_object(path) if path.is_file() else None


def _is_current(environment: Mapping[str, Any] | None) -> bool:
    """Whether this version made a run, or one that was stopped before it could say which did."""
    return environment is None or environment.get("schema") == SCHEMA_VERSION


def _order(run: Path, settings: Mapping[str, Any]) -> tuple[str, int, int, str]:
    """By attention, context size and seed, then by name."""
    try:
        model, seed = settings["model"], settings["training"]["seed"]
        return str(model["attention"]), int(model["context_size"]), int(seed), run.name
    except (KeyError, TypeError, ValueError, OverflowError):
        raise damaged(run / SETTINGS, "it has not all settings") from None


def results_inside(folder: Path) -> list[Path]:
    """The folders with results directly inside a folder, by name; its own store is none of them."""
    if not folder.is_dir():
        return []
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and not _is_store(path))
    return [
        path
        for path in inside
        if not is_run(path) and (is_bundle(path) or tables(path) or any_finished(path))
    ]


def _is_store(folder: Path) -> bool:
    """Whether it is a store by its name, and not results that somebody has called so."""
    return folder.name == STORE and not is_bundle(folder) and not (folder / STORE).is_dir()


def check_one(folder: Path) -> None:
    """Where the runs of one sweep are wanted: of several, or of a benchmark, a ``UserError``."""
    if is_bundle(folder) or find_runs(folder).any:
        return
    if inside := [path.name for path in results_inside(folder)]:
        raise UserError(
            f"{str(folder)!r} holds folders of results ({', '.join(inside)}): name one of them"
        )
    if was_written(folder / PROBES / f"{BENCHMARK}.csv"):
        raise UserError(
            f"{str(folder)!r} holds a benchmark and no runs: `bottleneck table cost` prints it, "
            "`bottleneck export --all` writes it out"
        )


def latest_output(results: Path) -> Path:
    """The output folder under ``results`` that was written last.

    A ``UserError`` where there is none.
    """

    def written(folder: Path) -> float:
        """When a bundle was written; where its table was lost, when its sums were."""
        table = folder / RUNS
        return (table if table.exists() else folder / SUMS).stat().st_mtime

    inside = results.iterdir() if results.is_dir() else ()
    outputs = [path for path in inside if was_written(path / RUNS)]
    if not outputs:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return max(outputs, key=written)


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: the one run, or of an output folder the runs that ended last.

    These are arms that differ in nothing else, the first seed of each. A translator whose source is
    hidden is no arm of a comparison: it is taken only where there is no other. A folder without
    runs, or of several sweeps, is a ``UserError``.
    """
    if (folder / SETTINGS).is_file():
        return {read_object(folder / SETTINGS)["model"]["attention"]: folder}
    check_one(folder)
    path, again = folder / RUNS, "the command that made the runs writes it anew"
    if not was_written(path):
        raise UserError(
            f"{str(folder)!r} holds no run; name a folder that `bottleneck reproduce` wrote"
        )
    rows = run_rows(path, again)
    if not all(is_name(row["run"]) for row in rows):  # folders are looked up by it
        raise damaged(path, "it has a row without a run's name", again)
    rows = [row for row in rows if row.get("source") != "hidden"] or rows
    known = {folder / STORE / row["run"]: row["attention"] for row in rows}

    def ended(run: Path) -> float:
        """When a run ended; of a bundle away from its store all are as old."""
        status = run / STATUS
        return status.stat().st_mtime if status.is_file() else 0.0

    comparison = _compared(max(known, key=ended))
    chosen: dict[str, Path] = {}
    for run, attention in known.items():
        if _compared(run) == comparison:
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


def _compared(run: Path) -> dict[str, Any]:
    """A run's settings but for its arm and seed; empty where its folder is not there."""
    settings = read_object(run / SETTINGS) if was_written(run / SETTINGS) else {}
    varied = {("model", "attention"), ("training", "seed")}
    return {
        f"{concern}.{field}": value
        for concern, fields in settings.items()
        for field, value in fields.items()
        if (concern, field) not in varied
    }
