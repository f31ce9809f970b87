"""The cells of a sweep: its lists and groups multiplied, flags on top, and what was left out.

Order of the cells: groups as the file has them; within a group the product of the lists, taken in
the order in which ``concerns.py`` declares the settings, the last of them varying fastest (so the
seeds of a cell stand together). A cell whose settings an earlier one has is left out; where the two
are of different groups, that is said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from .errors import UsageError, told
from .run import NAMES, RunSettings, override, parse_settings, preset_values
from .sweep import Group, Settings, Sweep, by_full_name, in_group

SEED = "training.seed"
MOST_CELLS = 100_000
"""Of one sweep: as many runs, each a folder; checking their settings takes seconds."""


@dataclass(frozen=True)
class Cell:
    """One point of the grid: the settings of one run, and the group they came from."""

    group: str
    settings: RunSettings

    def value(self, name: str) -> Any:
        """The value of a setting by its full name."""
        concern, _, key = name.partition(".")
        return getattr(getattr(self.settings, concern), key)

    def label(self, names: Sequence[str]) -> str:
        """The group and the named settings: ``reversed source: attention=none seed=1``."""
        values = " ".join(f"{short_name(name)}={toml_word(self.value(name))}" for name in names)
        return ": ".join(part for part in (self.group, values) if part) or "the only cell"


@dataclass(frozen=True)
class Grid:
    """The cells of a sweep, and what a person should know of those that were left out."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


def toml_word(value: Any) -> str:
    """A value as a sweep file has it, but text without its quotes; ``none`` where it is not set."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def short_name(name: str) -> str:
    """The setting's name without its concern where no other has it; the run's seed is ``seed``."""
    key = name.partition(".")[2]
    alone = sum(known.partition(".")[2] == key for known in NAMES) == 1
    return key if alone or name == SEED else name


def varying(cells: Sequence[Cell]) -> list[str]:
    """Full names of the settings that are not the same in all cells, in order of declaration."""
    return [name for name in NAMES if len({cell.value(name) for cell in cells}) > 1]


def labels(cells: Sequence[Cell]) -> list[str]:
    """A name for each cell: its group, and the settings that differ within the group."""
    groups = {cell.group: [other for other in cells if other.group == cell.group] for cell in cells}
    names = {group: varying(members) for group, members in groups.items()}
    return [cell.label(names[cell.group]) for cell in cells]


def make_grid(
    sweep: Sweep,
    assignments: Sequence[str] = (),
    seeds: int | None = None,
    given: Settings | None = None,
) -> Grid:
    """The cells of a sweep with ``--set`` assignments and ``--seeds`` on top, no cell twice.

    Under the assignments lies what was ``given`` as it is, by full name: a file may be called 1984.
    Notes say what was left out. Every cell is checked: the first fault is a ``UsageError`` with its
    place, as it is where no cell is left, or seeds are given twice.
    """
    flags = (given or {}) | _assigned(assignments)
    if seeds is not None and isinstance(flags.get(SEED), list):
        raise UsageError(f"--seeds {seeds}: --set {SEED} lists seeds already; give one of the two")
    preset = _preset(sweep)
    cells: dict[RunSettings, Cell] = {}
    notes: dict[str, None] = {}
    for group in sweep.groups:
        place = in_group(sweep.place, group.name)
        place += f", with --set {' '.join(assignments)}" if assignments else ""
        stated = preset | sweep.settings | group.settings | flags
        settings = stated | _multiplied(stated, group.times, place)
        settings = _seeded(settings, seeds)
        _check_count(settings, len(sweep.groups), place)
        for chosen in _points(settings):
            cell = Cell(group.name, _run_settings(chosen, place))
            if note := _left_out(cell, group, cells.get(cell.settings)):
                notes[note] = None
            else:
                cells.setdefault(cell.settings, cell)
    if not cells:
        raise UsageError(
            f"{sweep.place}: no cell is left: {'; '.join(notes)}; change what --set or the file "
            "gives that setting"
        )
    return Grid(tuple(cells.values()), tuple(notes))


def _check_count(settings: Settings, groups: int, place: str) -> None:
    """Refuse lists that multiply to more cells than anybody runs, before they are made."""
    count = prod(len(value) for value in settings.values() if isinstance(value, list))
    if count * groups > MOST_CELLS:
        raise UsageError(
            f"{place}: {count * groups:,} cells; a sweep has at most {MOST_CELLS:,}: make lists "
            "shorter, or several sweeps of it"
        )


def _left_out(cell: Cell, group: Group, earlier: Cell | None) -> str:
    """Why a cell is not one of the grid: it is not what its group is for, or another group's."""
    for name, wanted in group.needs.items():
        if cell.value(name) != wanted:
            found, needed = toml_word(cell.value(name)), toml_word(wanted)
            return f"group {group.name!r} is for {name}={needed}, not {found}: left out"
    if earlier and earlier.group != cell.group:
        return (
            f"group {group.name!r} has cells that are those of group {earlier.group!r} here: they "
            "are run once, as the latter"
        )
    return ""


def _multiplied(settings: Settings, times: Settings, place: str) -> Settings:
    """The settings that have factors, with them."""
    default = Cell("", RunSettings())
    stated = {name: settings.get(name, default.value(name)) for name in times}
    if unset := [name for name, value in stated.items() if value is None]:
        raise UsageError(f"{place}: times: setting {unset[0]!r} is not set; give it a value")
    return {name: _product(value, times[name]) for name, value in stated.items()}


def _product(value: Any, factor: int | float) -> Any:
    """A value, or each of a list, times the factor; what is no number is refused later."""
    if isinstance(value, list):
        return [_product(each, factor) for each in value]
    return value * factor if isinstance(value, int | float) else value


def _preset(sweep: Sweep) -> Settings:
    try:
        return by_full_name(preset_values(sweep.preset), f"preset {sweep.preset!r}")
    except UsageError as error:
        raise UsageError(f"{sweep.place}: {error}") from None


def _assigned(assignments: Sequence[str]) -> Settings:
    """``--set`` assignments by full name; commas make a list where the setting is not free text."""
    settings: Settings = {}
    for assignment in assignments:
        found = by_full_name(override({}, [assignment]), "--set")
        settings |= {name: _listed(name, value) for name, value in found.items()}
    return settings


def _listed(name: str, value: Any) -> Any:
    """``"64,128"`` as the list of 64 and 128; free text (bucket edges, files) stays whole."""
    if not isinstance(value, str) or "," not in value or NAMES[name] in (str, str | None):
        return value
    parts = [part.strip() for part in value.split(",")]
    if "" in parts:
        raise UsageError(
            f"--set {name}={value}: a value is missing beside a comma; write it, or take the comma "
            "away"
        )
    return [by_full_name(override({}, [f"{name}={part}"]), "--set")[name] for part in parts]


def _seeded(settings: Settings, seeds: int | None) -> Settings:
    """With ``--seeds``: as many seeds, from the first that the settings name."""
    if seeds is None:
        return settings
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: must be 1 or more")
    if seeds > MOST_CELLS:
        raise UsageError(f"--seeds {told(seeds)}: must be {MOST_CELLS:,} or fewer")
    stated = settings.get(SEED, RunSettings().training.seed)
    first = stated[0] if isinstance(stated, list) else stated
    if not isinstance(first, int):
        raise UsageError(f"setting {SEED!r}: should be a whole number, not {told(first)}")
    return settings | {SEED: list(range(first, first + seeds))}


def _points(settings: Settings) -> Iterator[Settings]:
    """Every combination of the lists' values, beside what is no list."""
    lists = {name: settings[name] for name in NAMES if isinstance(settings.get(name), list)}
    for values in product(*lists.values()):
        yield settings | dict(zip(lists, values, strict=True))


def _run_settings(settings: Settings, place: str) -> RunSettings:
    """One cell's settings, checked; a fault is named with its place."""
    nested: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        concern, _, key = name.partition(".")
        nested.setdefault(concern, {})[key] = value
    try:
        return parse_settings(nested)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
