"""What a folder holds: the runs of a store, by state and version; arms to compare; more results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..settings.errors import UserError
from ..settings.files import SUMS
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
    runs_in,
    store_of,
    was_written,
    without_runs,
)
from .probes import tables
from .schema import BENCHMARK, PROBES, RUNS


class Described(NamedTuple):
    """What a run is and what it ran on, as its files have it; None where the latter is missing."""

    settings: Mapping[str, Any]
    environment: Mapping[str, Any] | None


@dataclass(frozen=True)
class StoredRuns:
    """The runs of a store: done, in a fixed order; not done; done by another version."""

    described: Mapping[Path, Described]
    unfinished: tuple[Path, ...]
    other_versions: tuple[Path, ...]

    @property
    def done(self) -> tuple[Path, ...]:
        """The folders of the finished runs."""
        return tuple(self.described)

    @property
    def any(self) -> bool:
        """Whether this is a store at all."""
        return bool(self.described or self.unfinished or self.other_versions)


def find_runs(folder: Path) -> StoredRuns:
    """What an output folder or a store holds. Numbers of two versions are never mixed."""
    done, unfinished, other_versions = {}, [], []
    for run in runs_in(store_of(folder)):
        ended, environment = _is_done(run), _environment(run)
        if not _is_current(environment):
            other_versions += [run] if ended else []
        elif ended:
            done[run] = Described(read_object(run / SETTINGS), environment)
        else:
            unfinished.append(run)
    ordered = dict(sorted(done.items(), key=_order))
    return StoredRuns(ordered, tuple(unfinished), tuple(other_versions))


def any_finished(folder: Path) -> bool:
    """Whether `find_runs` has a run that is done; where the first is, no other is looked at."""
    runs = runs_in(store_of(folder))
    return any(_is_done(run) and _is_current(_environment(run)) for run in runs)


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    return list(find_runs(folder).done)


def check_version(run: Path) -> None:
    """A run of another version is a ``UserError``: its weights may mean something else here."""
    if not _is_current(_environment(run)):
        raise UserError(
            f"the run {run.name!r} was made by another version of this program; train it again"
        )


def _is_done(run: Path) -> bool:
    """Whether a run is done; a ``UserError`` where that cannot be known."""
    status = read_status(run).get("status")
    if not status and is_lost(run):
        raise UserError(
            f"{str(run / STATUS)!r} is missing; run the command that trained it again to finish "
            f"the run, or delete it with {removal(run)}"
        )
    return status == "done"


def _environment(run: Path) -> dict[str, Any] | None:
    """What a run ran on; None where it was stopped before it could say."""
    path = run / ENVIRONMENT
    return read_object(path) if path.is_file() else None


def _is_current(environment: Mapping[str, Any] | None) -> bool:
    """Whether this version made a run, or one that was stopped before it could say which did."""
    return environment is None or environment.get("schema") == SCHEMA_VERSION


def _order(item: tuple[Path, Described]) -> tuple[str, int, int, str]:
    """By attention, context size and seed, then by name."""
    run, (settings, _) = item
    try:
        model, seed = settings["model"], settings["training"]["seed"]
        return str(model["attention"]), int(model["context_size"]), int(seed), run.name
    except (KeyError, TypeError, ValueError, OverflowError):
        raise damaged(run / SETTINGS, "it has not all settings") from None


def results_inside(folder: Path) -> list[Path]:
    """The folders with results directly inside a folder, by name; its own store is none of them.

    A store is one by its name, unless somebody has called other results so.
    """
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [
        path
        for path in inside
        if (path.name != STORE or is_bundle(path) or (path / STORE).is_dir())
        and not is_run(path)
        and (is_bundle(path) or tables(path) or any_finished(path))
    ]


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
    """The output folder under ``results`` that was written last; a ``UserError`` without one.

    Where its table was lost, its age is that of its sums.
    """
    inside = results.iterdir() if results.is_dir() else ()
    dated = {
        path: path / RUNS if (path / RUNS).exists() else path / SUMS
        for path in inside
        if was_written(path / RUNS)
    }
    if not dated:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return max(dated, key=lambda path: dated[path].stat().st_mtime)


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: the one run, or of an output folder the runs that ended last.

    These are arms that differ in nothing else, the first seed of each. A translator whose source is
    hidden is no arm of a comparison: it is taken only where there is no other. None of a bundle
    without run folders; a folder without results, or of several sweeps, is a ``UserError``.
    """
    if (folder / SETTINGS).is_file():
        return {read_object(folder / SETTINGS)["model"]["attention"]: folder}
    check_one(folder)
    stored = find_runs(folder)
    runs = {run: known.settings for run, known in stored.described.items()}
    if not runs and stored.other_versions:
        check_version(stored.other_versions[0])
    if not runs and not is_bundle(folder):
        raise UserError(
            f"{str(folder)!r} holds no run; name a folder that `bottleneck reproduce` wrote"
        )
    seen = [run for run, settings in runs.items() if settings["model"].get("source") != "hidden"]
    candidates = seen or list(runs)
    if not candidates:
        return {}
    latest = max(candidates, key=lambda run: (run / STATUS).stat().st_mtime)
    chosen: dict[str, Path] = {}
    for run in candidates:
        if _compared(runs[run]) == _compared(runs[latest]):
            chosen.setdefault(runs[run]["model"]["attention"], run)
    return chosen


def _compared(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A run's settings but for its arm and seed."""
    varied = {("model", "attention"), ("training", "seed")}
    return {
        f"{concern}.{field}": value
        for concern, fields in settings.items()
        for field, value in fields.items()
        if (concern, field) not in varied
    }


def trained_arms(folder: Path) -> dict[str, Path]:
    """`arms` whose weights are wanted; a bundle without its run folders is a ``UserError``, too."""
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders, which hold the weights: name "
            "the folder where its runs were trained"
        )
    return arms(folder)
