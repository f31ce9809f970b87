"""A folder of results folders: a study of many sweeps, each in a folder of its own."""

from pathlib import Path

from ..settings.errors import UserError
from .folders import STORE, is_bundle, is_run, was_written
from .found import any_finished, find_runs
from .schema import BENCHMARK, PROBES
from .study_files import tables


def results_inside(folder: Path) -> list[Path]:
    """The folders with results directly inside a folder, by name; its own store is none of them."""
    if not folder.is_dir():
        return []
    inside = sorted(path for path in folder.iterdir() if path.is_dir() and not _is_store(path))
    return [path for path in inside if not is_run(path) and _has_results(path)]


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


def _has_results(folder: Path) -> bool:
    return is_bundle(folder) or bool(tables(folder)) or any_finished(folder)
