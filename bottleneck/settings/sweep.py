"""A sweep: one question as a TOML file, from which ``grid.py`` makes the cells.

A file opens with its question in a comment. ``preset`` names where the settings start; the tables
``[corpus] [model] [training] [decoding] [scoring]`` change them by the run settings' own names. A
setting may be a list, and lists multiply. ``[[group]]`` tables, each with a ``name`` and settings
of its own, multiply with them: every group is crossed with the lists of the tables, and where both
state a setting the group's counts. Flags come last: ``--set`` before ``--seeds``.

A group may also state what is relative to all that, flags among it: ``times.training.updates = 2``
makes it twice whatever the updates are. And it may say what its values were chosen for: with
``needs.model.context_size = 256`` cells of another context size are left out, and that is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any

from . import toml
from .errors import UsageError, did_you_mean, told
from .run import NAMES, RunSettings, check_setting
from .text import plain

DEFAULT_PRESET = "lecture"
EDGES = "scoring.edges"

Settings = dict[str, Any]
"""Settings by their full names, ``model.context_size``; a list is the values to try."""


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


def experiment_names() -> list[str]:
    """Names of the sweeps that are installed, sorted."""
    files = [entry.name for entry in _folder().iterdir()]
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def _folder() -> Traversable:
    return resources.files("seq2seq_bottleneck.experiments")


def load_sweep(name_or_path: str | Path) -> Sweep:
    """Read an installed sweep by its name, or a TOML file by its path.

    Raises UsageError where there is none, or as `parse_sweep`.
    """
    name = str(name_or_path)
    if name in experiment_names():
        text = (_folder() / f"{name}.toml").read_text(encoding="utf8")
        return parse_sweep(text, f"experiments/{name}.toml")
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        hint = did_you_mean(name, experiment_names())
        raise UsageError(f"unknown sweep {name!r}{hint} (a file of your own ends in .toml)")
    return parse_sweep(toml.read_file(path, f", or one of {', '.join(experiment_names())}"), name)


def parse_sweep(text: str, place: str) -> Sweep:
    """Read a sweep from TOML text; a fault is a UsageError that names ``place`` and its key."""
    table = toml.parse(text, place)
    _check_keys(table, ["preset", "group"], place)
    if not any(value != {} for value in table.values()):
        raise UsageError(
            f"{place} sets nothing; give settings to try, such as model.context_size = [64, 256]"
        )
    preset, groups = table.pop("preset", DEFAULT_PRESET), table.pop("group", [])
    _check_preset(preset, place)
    settings = by_full_name(table, place)
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
        raise UsageError(
            f'{place}: preset is the name of one, not {told(preset)}; write preset = "lecture"'
        )


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


FORMULAS = ("=", "+", "-", "@")
"""Signs that a spreadsheet takes the rest of a cell of a CSV file for a formula after."""
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
            raise UsageError(f"{place}: two groups are named {name!r}; rename one")
    return groups or (Group("", {}),)


def _group(table: Mapping[str, Any], place: str, number: int) -> Group:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f'{place}: group {number} has no name; give it one: name = "..."')
    inside = in_group(place, name)
    if plain(name) != name or not name.isprintable():
        raise UsageError(f"{inside}: a name is one line of visible signs; write it without others")
    if name.startswith(FORMULAS):
        raise UsageError(
            f"{inside}: a spreadsheet would take that for a formula; name it otherwise"
        )
    _check_keys(table, _OF_GROUPS, inside)
    settings = {key: value for key, value in table.items() if key not in _OF_GROUPS}
    times, needs = (_beside(table, key, inside) for key in ("times", "needs"))
    _check_factors(times, inside)
    _check_needs(needs, inside)
    return Group(name, by_full_name(settings, inside), times, needs)


def _beside(table: Mapping[str, Any], key: str, place: str) -> Settings:
    """A group's further table of settings, empty where it has none."""
    held = table.get(key, {})
    if not isinstance(held, dict):
        raise UsageError(
            f"{place}, {key}: {key!r} is a table of settings; write {key}.SECTION.KEY = VALUE"
        )
    return by_full_name(held, f"{place}, {key}")


def _check_factors(times: Settings, place: str) -> None:
    """Refuse factors that are no numbers, and of settings that are none."""
    for name, factor in times.items():
        if isinstance(factor, bool) or not isinstance(factor, int | float):
            raise UsageError(f"{place}, times: {name!r} takes one number, not {told(factor)}")
        if NAMES[name] not in (int, float, int | None):
            raise UsageError(
                f"{place}, times: setting {name!r} is no number; set it by its own name"
            )


def _check_needs(needs: Settings, place: str) -> None:
    """Refuse values that no cell can have: its group would be left out of every sweep."""
    for name, value in needs.items():
        try:
            check_setting(name, value)
        except UsageError as error:
            raise UsageError(f"{place}, needs: {error}") from None


def in_group(place: str, group: str) -> str:
    """The place of a fault: the file, and the group where it has a name."""
    return f"{place}, group {group!r}" if group else place


def by_full_name(table: Mapping[str, Any], place: str) -> Settings:
    """The settings of a nested table; ``UsageError`` for unknown names and empty lists."""
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
        raise UsageError(f"{place}: setting {name!r}: the list is empty; give it a value")
    if name == EDGES and isinstance(value, list) and all(isinstance(edge, int) for edge in value):
        edges = ",".join(str(edge) for edge in value)
        raise UsageError(f'{place}: setting {name!r}: write all edges as one string, "{edges}"')
