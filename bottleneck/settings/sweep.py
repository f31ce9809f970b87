"""A sweep: one question as a TOML file, from which the cells of a grid are made.

A file opens with its question in a comment. ``preset`` names where the settings start; the tables
``[corpus] [model] [training] [decoding] [scoring]`` change them by the run settings' own names. A
setting may be a list, and lists multiply. ``[[group]]`` tables, each with a ``name`` and settings
of its own, multiply with them: every group is crossed with the lists of the tables, and where both
state a setting the group's counts. Flags come last: ``--set`` before ``--seeds``.

A group may also state what is relative to all that, flags among it: ``times.training.updates = 2``
makes it twice whatever the updates are. And it may say what its values were chosen for: with
``needs.model.context_size = 256`` cells of another context size are left out, and that is said.

Order of the cells: groups as the file has them; within a group the product of the lists, taken in
the order in which ``concerns.py`` declares the settings, the last of them varying fastest (so the
seeds of a cell stand together). A cell whose settings an earlier one has is left out; where the two
are of different groups, that is said.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from .errors import UsageError, did_you_mean
from .run import RunSettings, override, parse_settings, preset_values

DEFAULT_PRESET = "lecture"
SEED = "training.seed"
EDGES = "scoring.edges"

Settings = dict[str, Any]
"""Settings by their full names, ``model.context_size``; a list is the values to try."""

NAMES: dict[str, Any] = {
    f"{concern}.{key}": declared.annotation
    for concern, info in RunSettings.model_fields.items()
    for key, declared in info.annotation.model_fields.items()  # type: ignore[union-attr]
}
"""Every setting's full name, in the order of declaration, and its type."""


@dataclass(frozen=True)
class Group:
    """Settings that belong together; a sweep without groups has one, without a name.

    ``times`` are factors of settings, ``needs`` the values that a cell must have.
    """

    name: str
    settings: Settings
    times: Settings = field(default_factory=dict)
    needs: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """A sweep as its file has it; ``place`` is the file's name as a person knows it."""

    name: str
    place: str
    question: str
    preset: str
    settings: Settings
    groups: tuple[Group, ...]


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
        values = " ".join(f"{_short(name)}={toml_word(self.value(name))}" for name in names)
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


def _short(name: str) -> str:
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


def experiment_names() -> list[str]:
    """Names of the sweeps that are installed, sorted."""
    files = [entry.name for entry in _folder().iterdir()]
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def _folder() -> Traversable:
    return resources.files("seq2seq_bottleneck.experiments")


def load_sweep(name_or_path: str | Path) -> Sweep:
    """Read an installed sweep by its name, or a TOML file by its path."""
    name = str(name_or_path)
    if name in experiment_names():
        text = (_folder() / f"{name}.toml").read_text(encoding="utf8")
        return parse_sweep(text, f"experiments/{name}.toml")
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        hint = did_you_mean(name, experiment_names())
        raise UsageError(f"unknown sweep {name!r}{hint} (a file of your own ends in .toml)")
    return parse_sweep(_read(path), name)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read sweep {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}: not UTF-8 text (at line {line})") from None


def parse_sweep(text: str, place: str) -> Sweep:
    """Read a sweep from TOML text; every fault is named by ``place`` and its key."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place}: not TOML: {error}") from None
    _check_keys(table, ["preset", "group"], place)
    if not any(value != {} for value in table.values()):
        raise UsageError(
            f"{place} sets nothing; give settings to try, such as model.context_size = [64, 256]"
        )
    preset, groups = table.pop("preset", DEFAULT_PRESET), table.pop("group", [])
    _check_preset(preset, place)
    settings = _flat(table, place)
    members = _groups(groups, place)
    return Sweep(Path(place).stem, place, _question(text, place), preset, settings, members)


def _check_preset(preset: Any, place: str) -> None:
    """A preset is where all cells start, so there is one."""
    if isinstance(preset, list):
        raise UsageError(
            f"{place}: preset cannot be a list: write the name of one; a second one takes a "
            "second sweep, with --preset"
        )
    if not isinstance(preset, str):
        raise UsageError(f"{place}: preset is the name of one, not {preset!r}")


def _question(text: str, place: str) -> str:
    """The comment that a file opens with, as one paragraph; it may not be missing."""
    lines = takewhile(lambda line: line.startswith("#"), text.lstrip().splitlines())
    question = " ".join(line.lstrip("#").strip() for line in lines).strip()
    if not question:
        raise UsageError(
            f"{place}: no question; open the file with it, as a comment: "
            "# Does a larger context help long sentences?"
        )
    return question


def _check_keys(table: Mapping[str, Any], others: Sequence[str], place: str) -> None:
    """Refuse a key that is neither a table of settings nor one of the others that may stand."""
    known = [*RunSettings.model_fields, *others]
    for key in table:
        if key not in known:
            raise UsageError(f"{place}: unknown key {key!r}{did_you_mean(key, known)}")


_OF_GROUPS = ("name", "times", "needs")
"""Keys of a group beside its tables of settings."""


def _groups(tables: Any, place: str) -> tuple[Group, ...]:
    """The ``[[group]]`` tables, or the one nameless group of a sweep without any."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{place}: write each group as a table [[group]]")
    groups = tuple(_group(table, place, number) for number, table in enumerate(tables, 1))
    names = [group.name for group in groups]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{place}: two groups are named {name!r}")
    return groups or (Group("", {}),)


def _group(table: Mapping[str, Any], place: str, number: int) -> Group:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f'{place}: group {number} has no name; give it one: name = "..."')
    inside = _in_group(place, name)
    _check_keys(table, _OF_GROUPS, inside)
    settings = {key: value for key, value in table.items() if key not in _OF_GROUPS}
    times, needs = (_beside(table, key, inside) for key in ("times", "needs"))
    _check_factors(times, inside)
    return Group(name, _flat(settings, inside), times, needs)


def _beside(table: Mapping[str, Any], key: str, place: str) -> Settings:
    """A group's further table of settings, empty where it has none."""
    held = table.get(key, {})
    if not isinstance(held, dict):
        raise UsageError(f"{place}, {key}: {key!r} is a table of settings")
    return _flat(held, f"{place}, {key}")


def _check_factors(times: Settings, place: str) -> None:
    """Refuse factors that are no numbers, and of settings that are none."""
    for name, factor in times.items():
        if isinstance(factor, bool) or not isinstance(factor, int | float):
            raise UsageError(f"{place}, times: {name!r} takes one number, not {factor!r}")
        if NAMES[name] not in (int, float, int | None):
            raise UsageError(f"{place}, times: setting {name!r} is no number")


def _in_group(place: str, group: str) -> str:
    return f"{place}, group {group!r}" if group else place


def _flat(table: Mapping[str, Any], place: str) -> Settings:
    """Settings by full name; unknown names and empty lists are refused."""
    settings: Settings = {}
    for concern, fields in table.items():
        if not isinstance(fields, dict):
            raise UsageError(f"{place}: {concern!r} is a table of settings: write [{concern}]")
        for key, value in fields.items():
            name = f"{concern}.{key}"
            if name not in NAMES:
                raise UsageError(f"{place}: unknown setting {name!r}{did_you_mean(name, NAMES)}")
            _check_list(name, value, place)
            settings[name] = value
    return settings


def _check_list(name: str, value: Any, place: str) -> None:
    """Refuse an empty list, and the one list of edges where each value would be tried alone."""
    if value == []:
        raise UsageError(f"{place}: setting {name!r}: the list is empty")
    if name == EDGES and isinstance(value, list) and all(isinstance(edge, int) for edge in value):
        edges = ",".join(str(edge) for edge in value)
        raise UsageError(f'{place}: setting {name!r}: write all edges as one string, "{edges}"')


def expand(sweep: Sweep, assignments: Sequence[str] = (), seeds: int | None = None) -> list[Cell]:
    """The cells of a sweep with ``--set`` assignments and ``--seeds`` on top."""
    return list(make_grid(sweep, assignments, seeds).cells)


def make_grid(sweep: Sweep, assignments: Sequence[str] = (), seeds: int | None = None) -> Grid:
    """The same without duplicates, with notes on what was left out.

    Every cell is checked: the first fault stops with its place.
    """
    flags = _assigned(assignments)
    if seeds is not None and isinstance(flags.get(SEED), list):
        raise UsageError(f"--seeds {seeds}: --set {SEED} lists seeds already; give one of the two")
    preset = _preset(sweep)
    cells: dict[RunSettings, Cell] = {}
    notes: dict[str, None] = {}
    for group in sweep.groups:
        place = _in_group(sweep.place, group.name)
        place += f", with --set {' '.join(assignments)}" if assignments else ""
        stated = preset | sweep.settings | group.settings | flags
        settings = stated | _multiplied(stated, group.times, place)
        for chosen in _points(_seeded(settings, seeds)):
            cell = Cell(group.name, _run_settings(chosen, place))
            if note := _left_out(cell, group, cells.get(cell.settings)):
                notes[note] = None
            else:
                cells.setdefault(cell.settings, cell)
    if not cells:
        raise UsageError(f"{sweep.place}: no cell is left: {'; '.join(notes)}")
    return Grid(tuple(cells.values()), tuple(notes))


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
        return _flat(preset_values(sweep.preset), f"preset {sweep.preset!r}")
    except UsageError as error:
        raise UsageError(f"{sweep.place}: {error}") from None


def _assigned(assignments: Sequence[str]) -> Settings:
    """``--set`` assignments by full name; commas make a list where the setting is not free text."""
    settings: Settings = {}
    for assignment in assignments:
        found = _flat(override({}, [assignment]), "--set")
        settings |= {name: _listed(name, value) for name, value in found.items()}
    return settings


def _listed(name: str, value: Any) -> Any:
    """``"64,128"`` as the list of 64 and 128; free text (bucket edges, files) stays whole."""
    if not isinstance(value, str) or "," not in value or NAMES[name] in (str, str | None):
        return value
    parts = [part.strip() for part in value.split(",")]
    if "" in parts:
        raise UsageError(f"--set {name}={value}: a value is missing beside a comma")
    return [_flat(override({}, [f"{name}={part}"]), "--set")[name] for part in parts]


def _seeded(settings: Settings, seeds: int | None) -> Settings:
    """With ``--seeds``: as many seeds, from the first that the settings name."""
    if seeds is None:
        return settings
    if seeds < 1:
        raise UsageError(f"--seeds {seeds}: must be 1 or more")
    stated = settings.get(SEED, RunSettings().training.seed)
    first = stated[0] if isinstance(stated, list) else stated
    if not isinstance(first, int):
        raise UsageError(f"setting {SEED!r}: should be a whole number, not {first!r}")
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
