"""The runs of a store: which are done, by which version, what they are, in which order."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..settings.errors import UserError
from ..settings.run import SCHEMA_VERSION
from .folders import (
    ENVIRONMENT,
    FIRST_VERSION,
    SETTINGS,
    STATUS,
    damaged,
    is_lost,
    read_object,
    read_status,
    removal,
    runs_in,
    store_of,
)


@dataclass(frozen=True)
class Described:
    """What a run is and what it ran on, as its files have it."""

    settings: Mapping[str, Any]
    environment: Mapping[str, Any]


@dataclass(frozen=True)
class Found:
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


def _check_status(run: Path) -> str:
    """How a run stands; empty where it has gone meanwhile.

    A ``UserError`` where that cannot be known.
    """
    status = read_status(run).get("status", "")
    if not status and is_lost(run):
        raise UserError(
            f"{str(run / STATUS)!r} is gone, and with it how the run ended: the command that made "
            f"it does it again, {removal(run)} takes it away"
        )
    return str(status)


def find_runs(folder: Path) -> Found:
    """What an output folder or a store holds. Numbers of two versions are never mixed."""
    runs = runs_in(store_of(folder))
    done = {run for run in runs if _check_status(run) == "done"}
    environments = {run: _environment(run) for run in runs}
    mine = {run for run, held in environments.items() if _made_by(run, held) == SCHEMA_VERSION}
    settings = {run: read_object(run / SETTINGS) for run in mine & done}
    ours = sorted(settings, key=lambda run: _order(run, settings[run]))
    both = {run: (settings[run], environments[run]) for run in ours}
    return Found(
        done=tuple(ours),
        unfinished=tuple(sorted(mine - done)),
        other_versions=tuple(sorted(done - mine)),
        described={run: Described(own, held) for run, (own, held) in both.items() if held},
    )


def any_finished(folder: Path) -> bool:
    """Whether `find_runs` has a run that is done; where the first is, no other is looked at."""
    runs = runs_in(store_of(folder))
    return any(_check_status(run) == "done" and _version(run) == SCHEMA_VERSION for run in runs)


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    return list(find_runs(folder).done)


def describe(run: Path) -> Described:
    """Both files of a run; one that cannot be read is a ``UserError``."""
    return Described(read_object(run / SETTINGS), read_object(run / ENVIRONMENT))


def _environment(run: Path) -> dict[str, Any] | None:
    """What a run ran on; None where it was stopped before it could say."""
    path = run / ENVIRONMENT
    return read_object(path) if path.is_file() else None


def _version(run: Path) -> int:
    """Which version made a run."""
    return _made_by(run, _environment(run))


def _made_by(run: Path, environment: Mapping[str, Any] | None) -> int:
    """The same by what the run ran on; this version where that is not there."""
    if environment is None:
        return SCHEMA_VERSION
    found = environment.get("schema", FIRST_VERSION)
    if not isinstance(found, int):
        raise damaged(run / ENVIRONMENT, "its schema is no number")
    return found


def check_version(run: Path) -> None:
    """A run of another version is a ``UserError``: its weights may mean something else here."""
    if _version(run) != SCHEMA_VERSION:
        raise UserError(
            f"the run {run.name!r} was made by another version of this program; the command that "
            "made it makes it anew"
        )


def _order(run: Path, settings: Mapping[str, Any]) -> tuple[str, int, int, str]:
    """By attention, context size and seed, then by name."""
    try:
        model, seed = settings["model"], settings["training"]["seed"]
        return str(model["attention"]), int(model["context_size"]), int(seed), run.name
    except (KeyError, TypeError, ValueError, OverflowError):
        raise damaged(run / SETTINGS, "it has not all settings") from None
