"""What a folder holds: the runs of a store, by state and version; arms to compare; more results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..settings.errors import UserError
from ..settings.run import SCHEMA_VERSION
from .folders import (
    ENVIRONMENT,
    SETTINGS,
    STATUS,
    STORE,
    WRITTEN,
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

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class StoredRuns:
    """The runs of a store: done, in a fixed order; not done; done by another version.

    Of those that are done the settings and what they ran on, as their files have it.
    """

    described: Mapping[Path, tuple[Facts, Facts]]
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
    described, order, unfinished, other_versions = {}, {}, [], []
    for run in runs_in(store_of(folder)):
        if is_lost(run):
            raise UserError(
                f"{str(run / STATUS)!r} is missing; run the command that trained it again to "
                f"finish the run, or delete it with {removal(run)}"
            )
        done = read_status(run).get("status") == "done"
        if not _is_current(run):
            other_versions += [run] if done else []
        elif done:
            settings = read_object(run / SETTINGS)
            try:
                model, seed = settings["model"], int(settings["training"]["seed"])
                order[run] = str(model["attention"]), int(model["context_size"]), seed, run.name
            except (KeyError, TypeError, ValueError, OverflowError):
                raise damaged(run / SETTINGS, "it has not all settings") from None
            described[run] = settings, read_object(run / ENVIRONMENT)
        else:
            unfinished.append(run)
    ordered = {run: described[run] for run in sorted(described, key=lambda run: order[run])}
    return StoredRuns(ordered, tuple(unfinished), tuple(other_versions))


def any_finished(folder: Path) -> bool:
    """Whether `find_runs` has a run that is done."""
    return bool(find_runs(folder).done)


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    return list(find_runs(folder).done)


def check_version(run: Path) -> None:
    """A run of another version is a ``UserError``: its weights may mean something else here."""
    if not _is_current(run):
        raise UserError(
            f"the run {run.name!r} was made by another version of this program; train it again"
        )


def _is_current(run: Path) -> bool:
    """Whether this version made a run, or one that was stopped before it could say which did."""
    path = run / ENVIRONMENT
    return not path.is_file() or read_object(path).get("schema") == SCHEMA_VERSION


def results_inside(folder: Path) -> list[Path]:
    """The folders with results directly inside a folder, by name; its own store is none of them.

    A store is one by its name, unless somebody has called other results so.
    """
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [
        path
        for path in inside
        if not (path.name == STORE and runs_in(path))
        and not is_run(path)
        and (is_bundle(path) or tables(path) or any_finished(path))
    ]


def check_one(folder: Path) -> None:
    """Where the runs of one sweep are wanted: of several, or of a benchmark, a ``UserError``."""
    if not folder.exists():
        raise UserError(f"no folder {str(folder)!r}: {WRITTEN}")
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
    """The output folder under ``results`` that was written last; a ``UserError`` without one."""
    inside = results.iterdir() if results.is_dir() else ()
    written = [path for path in inside if (path / RUNS).exists()]
    if not written:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return max(written, key=lambda path: (path / RUNS).stat().st_mtime)


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
    if not stored.done and stored.other_versions:
        check_version(stored.other_versions[0])
    if not stored.done and not is_bundle(folder):
        raise UserError(
            f"{str(folder)!r} holds no run; name a folder that `bottleneck reproduce` wrote"
        )
    runs = {run: settings for run, (settings, _) in stored.described.items()}
    seeing = {run: known for run, known in runs.items() if known["model"].get("source") != "hidden"}
    candidates = seeing or runs
    latest = max(candidates, key=lambda run: (run / STATUS).stat().st_mtime, default=None)

    def compared(run: Path) -> dict[str, Any]:
        """A run's settings but for its arm and seed."""
        others = dict(candidates[run])
        others["model"] = others["model"] | {"attention": None}
        others["training"] = others["training"] | {"seed": None}
        return others

    chosen: dict[str, Path] = {}
    for run, settings in candidates.items():
        if compared(run) == compared(latest):
            chosen.setdefault(settings["model"]["attention"], run)
    return chosen


def trained_arms(folder: Path) -> dict[str, Path]:
    """`arms` whose weights are wanted; a bundle without its run folders is a ``UserError``, too."""
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders, which hold the weights: name "
            "the folder where its runs were trained"
        )
    return arms(folder)
