"""The command that trains the runs of a bundle again, and the folder that has them then."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..results.bundle import Bundle
from ..results.folders import without_runs
from ..settings.grid import make_grid
from ..settings.names import DEFAULT_OUT
from ..settings.run import RunSettings, preset_names, resolve
from ..settings.sweep import experiment_names, load_sweep
from ..tables.comparison import NONE

APART = frozenset({"model.attention", "training.seed"})
"""Settings that the runs of two arms and several seeds do not share."""
ATTENTION = "additive"
"""What `bottleneck reproduce` compares with none unless it is told otherwise."""

LECTURE = "lecture"
"""The preset of `bottleneck reproduce`, and the name of its folder."""


@dataclass(frozen=True)
class Training:
    """A command, and the folder of its runs."""

    command: str
    folder: Path


def training(bundle: Bundle) -> Training | None:
    """What trains the runs of a bundle: a pair of arms, or a whole sweep that is installed.

    Into the bundle's own folder where this has its runs, to go on with; else new ones would be
    refused, and the command's default is taken. None where no command says so: other seeds than 1,
    2, ..., a preset's value that is not set, a sweep of somebody's own.
    """
    seeds = sorted(map(int, set(bundle.runs["seed"])))
    if seeds != list(range(1, len(seeds) + 1)):
        return None
    again = ["--seeds", str(len(seeds))] if len(seeds) > 1 else []
    runs = [bundle.settings(run) for run in bundle.runs["run"].unique()]
    if (pair := _reproduced(runs)) is not None:
        preset, changes = pair
        return into(bundle.folder, preset, ["reproduce", "--preset", preset, *changes, *again])
    name = _swept(runs)
    return into(bundle.folder, name, ["sweep", name, *again]) if name else None


def into(folder: Path, default: str, words: list[str]) -> Training:
    """The command with the folder that it trains into; ``default`` is its own folder's name."""
    place = DEFAULT_OUT / default
    if not without_runs(folder):
        place, words = folder, [*words, "--out", str(folder)]
    elif place == folder:
        place = DEFAULT_OUT / f"{default}_again"  # the bundle lies where runs would go
        words = [*words, "--out", str(place)]
    return Training(shlex.join(["bottleneck", *words]), place)


def _swept(runs: list[RunSettings]) -> str | None:
    """The installed sweep whose cells these are, all of them and no others."""
    cells = {settings.without_seed() for settings in runs}
    return next((name for name in experiment_names() if _cells(name) == cells), None)


@cache
def _cells(name: str) -> frozenset[RunSettings]:
    return frozenset(cell.settings.without_seed() for cell in make_grid(load_sweep(name)).cells)


def _reproduced(runs: list[RunSettings]) -> tuple[str, list[str]] | None:
    """The preset that is nearest to a pair of arms, or to one of them, and ``--set`` for the rest.

    None where these are no such runs, or no flags make them.
    """
    flat = [_flat(settings.model_dump()) for settings in runs]
    shared = [{name: one[name] for name in one if name not in APART} for one in flat]
    others = sorted({one["model.attention"] for one in flat} - {NONE})
    if len(others) > 1 or any(one != shared[0] for one in shared):
        return None
    apart = {name: _apart(shared[0], name) for name in preset_names()}
    preset = min(apart, key=lambda name: (len(apart[name]), name))
    changes = {} if others in ([], [ATTENTION]) else {"model.attention": others[0]}
    changes |= apart[preset]
    if None in changes.values():
        return None
    sets = [("--set", f"{name}={_written(value)}") for name, value in changes.items()]
    return preset, [word for pair in sets for word in pair]


def _apart(settings: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """In what settings differ from a preset."""
    known = _flat(resolve(preset).model_dump())
    return {name: value for name, value in settings.items() if value != known[name]}


def _flat(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """``section.key`` and value."""
    return {
        f"{section}.{key}": value
        for section, fields in settings.items()
        for key, value in fields.items()
    }


def _written(value: Any) -> str:
    """A value as ``--set`` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
