"""A sweep: one question as a TOML file, and the cells of its grid.

A file opens with its question in a comment. ``preset`` names where the settings start; the tables
``[corpus] [model] [training] [decoding] [scoring]`` change them by the run settings' own names. A
setting may be a list, and lists multiply. ``[[group]]`` tables, each with a ``name`` and settings,
multiply with them: every group is crossed with the lists of the tables, and where both state a
setting the group's counts. Flags come last: ``--set`` before ``--seeds``.

A group may also state what is relative to all that, flags included: ``times.training.updates = 2``
doubles the updates, whatever they are. And it may say what its values were chosen for: with
``needs.model.context_size = 256`` cells of a different context size are left out, with a note.

Cells are in this order: groups as in the file; within a group the product of the lists, in the
order in which ``concerns.py`` declares the settings, the last of them varying fastest (so the seeds
of a cell are next to each other).

The file declares an experiment, which has its name unless ``experiment`` names it. Its arms are the
cells that differ in their seed alone, called by their attention, the other settings that vary
within their group, and their group: ``none context_size=64, twice the training``. Each arm is
compared with the one that differs from it in the ``baseline`` alone, by default
``baseline.model.attention = "none"``. Tables and claims take the arms in the order of the file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import product, takewhile
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UsageError, did_you_mean, quoted
from .run import (
    NAMES,
    RunSettings,
    override,
    parse_settings,
    parse_toml,
    preset_values,
)

SEED = "training.seed"
MOST_CELLS = 100_000
"""Of one sweep: each is a run with a folder of its own."""
LONGER = "twice the training"
"""The group of arms that show whether the schedule is long enough."""

Settings = dict[str, Any]
"""Settings by their full names, ``model.context_size``; a list is the values to try."""
BASELINE: Settings = {"model.attention": "none"}


class Member(NamedTuple):
    """What an experiment calls a run: its arm, and the arm that it is compared with, if any."""

    experiment: str
    arm: str
    baseline: str


@dataclass(frozen=True)
class Group:
    """Settings that belong together; a sweep without groups has one, without a name."""

    name: str
    settings: Settings
    times: Settings = field(default_factory=dict)
    needs: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """A sweep as its file has it: ``name`` is the experiment, ``place`` the file in messages."""

    name: str
    place: str
    question: str
    preset: str
    settings: Settings
    groups: tuple[Group, ...]
    baseline: Settings = field(default_factory=BASELINE.copy)


@dataclass(frozen=True)
class Cell:
    """One point of the grid: the settings of one run, their group, and what `declare` adds."""

    group: str
    settings: RunSettings
    arm: str = ""
    baseline: str = ""

    def value(self, name: str) -> Any:
        """The value of a setting by its full name."""
        concern, _, key = name.partition(".")
        return getattr(getattr(self.settings, concern), key)

    @property
    def label(self) -> str:
        """``none context_size=64 seed 1``."""
        return f"{self.arm} seed {self.settings.training.seed}"


@dataclass(frozen=True)
class Grid:
    """The cells of a sweep, and notes on those that were left out."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


def experiment_names() -> list[str]:
    """Names of the sweeps that are installed, sorted."""
    files = (entry.name for entry in resources.files("seq2seq_bottleneck.experiments").iterdir())
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def load_sweep(name_or_path: str | Path) -> Sweep:
    """Read an installed sweep by its name, or a TOML file by its path.

    Raises UsageError if there is none, if it cannot be read, or as `parse_sweep`.
    """
    name = str(name_or_path)
    if name in experiment_names():
        file = resources.files("seq2seq_bottleneck.experiments") / f"{name}.toml"
        return parse_sweep(file.read_text(encoding="utf8"), f"experiments/{name}.toml")
    if not name.endswith(".toml") and not Path(name).exists():
        hint = did_you_mean(name, experiment_names())
        raise UsageError(f"unknown sweep {name!r}{hint} (a file of your own ends in .toml)")
    try:
        return parse_sweep(Path(name).read_text(encoding="utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except OSError as error:
        raise UsageError(
            f"cannot read {name!r} ({error.strerror}); name an existing TOML file, or one of "
            f"{', '.join(experiment_names())}"
        ) from None


def parse_sweep(text: str, place: str) -> Sweep:
    """Read a sweep from TOML text; a fault is a UsageError that names ``place`` and its key."""
    table = parse_toml(text, place)
    if not any(value != {} for value in table.values()):
        raise UsageError(
            f"{place} sets nothing; give settings to try, such as model.context_size = [64, 256]"
        )
    comment = takewhile(lambda line: line.startswith("#"), text.lstrip().splitlines())
    question = " ".join(line.lstrip("#").strip() for line in comment).strip()
    if not question:
        raise UsageError(
            f"{place}: no question; open the file with it, as a comment: "
            "# Does a larger context help long sentences?"
        )
    preset = table.get("preset", "lecture")
    if not isinstance(preset, str):
        raise UsageError(
            f'{place}: preset is one name, not {quoted(preset)}; write preset = "lecture" '
            "(a second preset is a second sweep, with --preset)"
        )
    name, baseline = table.get("experiment", Path(place).stem), table.get("baseline", {})
    if "experiment" in table:
        _check_word(name, f"{place}, experiment")
    if not isinstance(baseline, dict):
        raise UsageError(f"{place}: 'baseline' is a table; write baseline.SECTION.KEY = VALUE")
    baseline = _by_full_name(baseline, f"{place}, baseline") or BASELINE
    settings = _by_full_name(table, place, ("experiment", "baseline", "preset", "group"))
    groups = _parse_groups(table.get("group", []), place)
    return Sweep(name, place, question, preset, settings, groups, baseline)


def _check_word(name: Any, place: str) -> None:
    """A ``UsageError`` where a name is not one that a spreadsheet shows as it is."""
    plain_text = isinstance(name, str) and name and name.isprintable()
    if not plain_text or name.startswith(("=", "+", "-", "@")):
        raise UsageError(
            f"{place}: a name is one line of printable characters that a spreadsheet does not take "
            "for a formula; rename it"
        )


def _parse_groups(tables: Any, place: str) -> tuple[Group, ...]:
    """The ``[[group]]`` tables, or the one nameless group of a sweep without any."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{place}: write each group as a table [[group]]")
    groups: dict[str, Group] = {}
    for number, table in enumerate(tables, 1):
        name = table.get("name")
        if not isinstance(name, str) or not name:
            raise UsageError(f'{place}: group {number} has no name; give it one: name = "..."')
        if name in groups:
            raise UsageError(f"{place}: two groups are named {name!r}; rename one")
        here, relative = f"{place}, group {name!r}", {}
        _check_word(name, here)
        for key in ("times", "needs"):
            if not isinstance(table.get(key, {}), dict):
                raise UsageError(f"{here}: {key!r} is a table; write {key}.SECTION.KEY = VALUE")
            relative[key] = _by_full_name(table.get(key, {}), f"{here}, {key}")
        for setting, value in relative["needs"].items():
            try:
                parse_settings(_nested({setting: value}))
            except UsageError as error:
                if str(error).startswith(f"setting {setting!r}"):  # the value, whatever others are
                    raise UsageError(f"{here}, needs: {error}") from None
        settings = _by_full_name(table, here, ("name", *relative))
        groups[name] = Group(name, settings, **relative)
    return tuple(groups.values()) or (Group("", {}),)


def _by_full_name(table: Mapping[str, Any], place: str, others: Sequence[str] = ()) -> Settings:
    """The settings of a nested table, but for its ``others``.

    A UsageError for unknown names and empty lists.
    """
    settings: Settings = {}
    known = [*RunSettings.model_fields, *others]
    for concern, fields in table.items():
        if concern not in known:
            raise UsageError(f"{place}: unknown key {concern!r}{did_you_mean(concern, known)}")
        if concern in others:
            continue
        if not isinstance(fields, dict):
            raise UsageError(f"{place}: {concern!r} is a table of settings: write [{concern}]")
        for key, value in fields.items():
            name = f"{concern}.{key}"
            if name not in NAMES:
                raise UsageError(f"{place}: unknown setting {name!r}{did_you_mean(name, NAMES)}")
            if value == []:
                raise UsageError(f"{place}: setting {name!r}: the list is empty; give it a value")
            settings[name] = value
    return settings


def make_grid(
    sweep: Sweep,
    assignments: Sequence[str] = (),
    seeds: int | None = None,
    given: Settings | None = None,
) -> Grid:
    """The cells of a sweep with ``--set`` assignments and ``--seeds`` on top, no cell twice.

    ``given`` are settings by full name, below the assignments, whose text is not parsed: a file may
    be called 1984. Every cell is checked: the first fault is a ``UsageError`` with its place, and
    so are a grid without cells and seeds that are given twice.
    """
    flags = (given or {}) | _parse_assignments(assignments)
    if seeds is not None and isinstance(flags.get(SEED), list):
        raise UsageError(f"--seeds {seeds}: --set {SEED} lists seeds already; give one of the two")
    try:
        preset = _by_full_name(preset_values(sweep.preset), f"preset {sweep.preset!r}")
    except UsageError as error:
        raise UsageError(f"{sweep.place}: {error}") from None
    cells: dict[RunSettings, Cell] = {}
    notes: dict[str, None] = {}
    for group in sweep.groups:
        place = f"{sweep.place}, group {group.name!r}" if group.name else sweep.place
        place += f", with --set {' '.join(assignments)}" if assignments else ""
        settings = preset | sweep.settings | group.settings | flags
        for cell in _cells(group, settings, seeds, len(sweep.groups), place):
            earlier = cells.get(cell.settings, cell)
            actual = {name: cell.value(name) for name in group.needs}
            unmet = next((name for name in actual if actual[name] != group.needs[name]), None)
            if unmet:
                needed, other = toml_word(group.needs[unmet]), toml_word(actual[unmet])
                note = f"group {group.name!r} is for {unmet}={needed}, not {other}: left out"
            elif earlier.group != cell.group:
                note = (
                    f"group {group.name!r} has the same cells as group {earlier.group!r} here: "
                    "they are run once, as the latter"
                )
            else:
                cells.setdefault(cell.settings, cell)
                continue
            notes[note] = None
    if not cells:
        raise UsageError(
            f"{sweep.place}: no cell is left: {'; '.join(notes)}; change what --set or the file "
            "gives that setting"
        )
    return Grid(declare(cells.values(), sweep.baseline, sweep.place), tuple(notes))


def declare(
    cells: Iterable[Cell], baseline: Settings = BASELINE, place: str = "the sweep"
) -> tuple[Cell, ...]:
    """The cells with the names of their arms and of the arms that these are compared with.

    Two arms of one name are a ``UsageError``.
    """
    known, arms = list(cells), dict[str, str]()
    for group in dict.fromkeys(cell.group for cell in known):
        members = [cell for cell in known if cell.group == group]
        names = [name for name in varying(members) if name not in (SEED, "model.attention")]
        for cell in members:
            attention = cell.settings.model.attention
            words = [f"{short_name(name)}={toml_word(cell.value(name))}" for name in names]
            ending = "" if group in ("", attention) else f", {group}"
            arms[_key(cell.settings)] = " ".join([attention, *words]) + ending
    if twice := [name for name, count in Counter(arms.values()).items() if count > 1]:
        raise UsageError(f"{place}: two arms are called {twice[0]!r}; rename a group")
    declared = []
    for cell in known:
        arm, base = arms[_key(cell.settings)], arms.get(_key(cell.settings, baseline), "")
        declared.append(replace(cell, arm=arm, baseline="" if base == arm else base))
    return tuple(declared)


def _key(settings: RunSettings, changes: Settings | None = None) -> str:
    """Settings but for the seed, with some changed."""
    values = settings.model_dump()
    for name, value in ((changes or {}) | {SEED: 0}).items():
        concern, _, key = name.partition(".")
        values[concern][key] = value
    return repr(values)


def _cells(
    group: Group, settings: Settings, seeds: int | None, groups: int, place: str
) -> Iterator[Cell]:
    """The cells of one of so many groups: factors, then seeds, then the product of the lists."""
    for name, factor in group.times.items():
        value = settings.get(name, Cell("", RunSettings()).value(name))
        values = value if isinstance(value, list) else [value]
        for number in (*values, factor):
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise UsageError(
                    f"{place}: times: setting {name!r} is {quoted(value)}, which cannot be "
                    f"multiplied by {quoted(factor)}; give the group its value"
                )
        scaled = [number * factor for number in values]
        settings = settings | {name: scaled if isinstance(value, list) else scaled[0]}
    if seeds is not None:
        if not 1 <= seeds <= MOST_CELLS:
            raise UsageError(f"--seeds {quoted(seeds)}: must be from 1 to {MOST_CELLS:,}")
        stated = settings.get(SEED, RunSettings().training.seed)
        first = stated[0] if isinstance(stated, list) else stated
        if not isinstance(first, int):
            raise UsageError(f"setting {SEED!r}: should be a whole number, not {quoted(first)}")
        settings = settings | {SEED: list(range(first, first + seeds))}
    lists = {name: settings[name] for name in NAMES if isinstance(settings.get(name), list)}
    count = groups * prod(map(len, lists.values()))
    if count > MOST_CELLS:
        raise UsageError(
            f"{place}: {count:,} cells; a sweep has at most {MOST_CELLS:,}: make lists "
            "shorter, or several sweeps of it"
        )
    for values in product(*lists.values()):
        chosen = settings | dict(zip(lists, values, strict=True))
        try:
            yield Cell(group.name, parse_settings(_nested(chosen)))
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None


def _parse_assignments(assignments: Sequence[str]) -> Settings:
    """``--set`` assignments by full name; commas make a list unless the setting is free text."""
    settings: Settings = {}
    for assignment in assignments:
        for name, value in _by_full_name(override({}, [assignment]), "--set").items():
            settings[name] = value
            if isinstance(value, str) and "," in value and NAMES[name] not in (str, str | None):
                parts = [f"{name}={part}" for part in value.split(",")]
                if any(part.endswith("=") for part in map(str.strip, parts)):
                    raise UsageError(
                        f"--set {name}={value}: a value is missing next to a comma; write it, or "
                        "delete the comma"
                    )
                settings[name] = [_by_full_name(override({}, [p]), "--set")[name] for p in parts]
    return settings


def _nested(settings: Settings) -> dict[str, dict[str, Any]]:
    """The same settings by concern and key."""
    nested: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        concern, _, key = name.partition(".")
        nested.setdefault(concern, {})[key] = value
    return nested


def toml_word(value: Any) -> str:
    """A value as in a sweep file, but text without its quotes; ``none`` if it is not set."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def short_name(name: str) -> str:
    """The setting's name without its concern unless two share it; the run's seed is ``seed``."""
    if name == "corpus.name":
        return "corpus"
    key = name.partition(".")[2]
    alone = sum(known.partition(".")[2] == key for known in NAMES) == 1
    return key if alone or name == SEED else name


def varying(cells: Sequence[Cell]) -> list[str]:
    """Full names of the settings that are not the same in all cells, in order of declaration."""
    return [name for name in NAMES if len({cell.value(name) for cell in cells}) > 1]
