"""A sweep: one question as a TOML file (experiments/README.md), and the cells of its grid.

Cells, and so the arms in tables, are in the order of the groups. Within a group they are the
product of the lists; settings that ``concerns.py`` declares last vary fastest. A group's value
overrides that of the file, and ``--set`` overrides both.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import resources
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from .errors import UsageError, did_you_mean, quoted
from .files import is_name
from .run import NAMES, RunSettings, parse_settings, preset_values, toml_names

LONGER = "twice the training"
"""The name of the group that shows whether the schedule is long enough."""


@dataclass(frozen=True)
class Group:
    """Settings that belong together; a sweep without groups has one without a name.

    ``settings`` are by full names, ``model.context_size``; a list has the values to try. ``times``
    are factors for settings. The group is left out unless all it ``needs`` is set so.
    """

    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    times: dict[str, Any] = field(default_factory=dict)
    needs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """A sweep; ``name`` is the experiment, ``place`` the file, ``times`` factors for all groups."""

    name: str = ""
    place: str = "command line"
    question: str = ""
    preset: str = "lecture"
    settings: dict[str, Any] = field(default_factory=dict)
    groups: tuple[Group, ...] = (Group(),)
    times: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One point of the grid: the settings of one run, and their group.

    `declare` adds the name of its arm, and of the baseline arm that it is compared with, if any.
    """

    group: str
    settings: RunSettings
    arm: str = ""
    baseline: str = ""

    @property
    def label(self) -> str:
        """Arm and seed: ``none context_size=64 seed 1``."""
        return f"{self.arm} seed {self.settings.training.seed}"


def load_sweep(name: str) -> Sweep:
    """Read an installed sweep by its name, or a TOML file by its path; errors name the place."""
    file, place = Path(name), name
    if name in toml_names():
        place = f"experiments/{name}.toml"
        file = resources.files("seq2seq_bottleneck.experiments") / f"{name}.toml"
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = did_you_mean(name, toml_names())
        raise UsageError(f"no sweep and no TOML file {quoted(name)} ({reason}){hint}") from None
    comment = takewhile(lambda line: line.startswith("#"), text.lstrip().splitlines())
    question = " ".join(line.lstrip("#").strip() for line in comment).strip()
    where, groups = place, []
    try:
        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"not TOML: {error}") from None
        name, preset = table.get("experiment", Path(place).stem), table.get("preset", "lecture")
        preset_values(preset)  # here, so that an error names the file
        settings = _by_full_name(table, ("experiment", "preset", "group", "times"))
        times = _by_full_name(table.get("times", {}))
        tables = table.get("group", [])
        if not isinstance(tables, list) or not all(isinstance(item, dict) for item in tables):
            raise UsageError("write each group as a table [[group]]")
        for given in (name, *(item.get("name") for item in tables)):
            if not is_name(given):
                raise UsageError(
                    f"{quoted(given)} is no name for an experiment or a group; write "
                    'name = "..." with a letter first'
                )
        for item in tables:
            where = f"{place}: group {item['name']!r}"
            relative = [_by_full_name(item.get(key, {})) for key in ("times", "needs")]
            chosen = _by_full_name(item, ("name", "times", "needs"))
            groups.append(Group(item["name"], chosen, *relative))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    return Sweep(name, place, question, preset, settings, tuple(groups) or (Group(),), times)


def _by_full_name(table: Any, others: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of nested tables, without the keys ``others``."""
    settings, known = {}, [*RunSettings.model_fields, *others]
    for concern, fields in table.items() if isinstance(table, dict) else [("model", table)]:
        if concern in others:
            continue
        if concern not in known:
            raise UsageError(f"unknown key {concern!r}{did_you_mean(concern, known)}")
        if not isinstance(fields, dict):
            raise UsageError(f"{quoted(fields)} is not a settings table; write SECTION.KEY = VALUE")
        for key, value in fields.items():
            name = f"{concern}.{key}"
            if name not in NAMES:
                raise UsageError(f"unknown setting {name!r}{did_you_mean(name, NAMES)}")
            settings[name] = value
    return settings


def make_grid(
    sweep: Sweep, flags: Mapping[str, Any] | None = None, seeds: int | None = None
) -> tuple[tuple[Cell, ...], list[str]]:
    """The cells of a sweep, each once, and notes on groups that were left out.

    ``flags`` are settings by full name that override those of the sweep.
    """
    flags = dict(flags or {})
    preset_values(sweep.preset)  # here, so that an error is about --preset
    if seeds is not None and isinstance(flags.get("training.seed"), list):
        raise UsageError(
            "--set training.seed lists seeds, and --seeds counts them; give one of the two"
        )
    try:
        cells, notes = _grid(sweep, flags, seeds)
        if not cells:
            raise UsageError(f"no run is left: {'; '.join(notes)}; change that setting")
        # If flags choose among the file's values, arms keep their names in the whole sweep.
        rest, whole = {}, []
        for name, value in flags.items():
            values = [(sweep.settings | group.settings).get(name) for group in sweep.groups]
            if not isinstance(values[0], list) and all(item == values[0] for item in values):
                rest[name] = value
        if rest != flags:
            with suppress(UsageError):  # an error in cells that the flags leave out
                whole, _ = _grid(sweep, rest | {"training.seed": 1}, None)
        return declare(cells, whole), notes
    except UsageError as error:
        place = sweep.place
        if flags and flags != sweep.settings:  # equal if the sweep was given as options
            changes = " ".join(f"{name}={word(value)}" for name, value in flags.items())
            place += f", with --set {changes}"
        raise UsageError(f"{place}: {error}") from None


def _grid(
    sweep: Sweep, flags: Mapping[str, Any], seeds: int | None
) -> tuple[list[Cell], list[str]]:
    """The cells of `make_grid` without their names, and the notes.

    In each group the factors are applied first, then the seeds, then the product of the lists.
    """
    cells: dict[RunSettings, Cell] = {}
    notes: dict[str, None] = {}
    preset = preset_values(sweep.preset)
    for group in sweep.groups:
        settings = preset | sweep.settings | group.settings | flags
        for name, factor in (*sweep.times.items(), *group.times.items()):
            value = settings.get(name, RunSettings().value(name))
            values, factors = (v if isinstance(v, list) else [v] for v in (value, factor))
            if not all(type(number) in (int, float) for number in (*values, *factors)):
                raise UsageError(f"setting {name!r} is {quoted(value)}: times needs numbers")
            scaled = [number * factor for number in values for factor in factors]
            whole = NAMES[name] in (int, int | None)
            settings[name] = [int(n) if whole and float(n).is_integer() else n for n in scaled]
        if empty := [name for name, value in settings.items() if value == []]:
            raise UsageError(f"setting {empty[0]!r}: the list is empty; give it a value")
        first = settings.get("training.seed", 1)
        first = first[0] if isinstance(first, list) else first
        if seeds is not None and isinstance(first, int):
            settings["training.seed"] = list(range(first, first + seeds))
        lists = {name: settings[name] for name in NAMES if isinstance(settings.get(name), list)}
        for values in product(*lists.values()):
            chosen = settings | dict(zip(lists, values, strict=True))
            cell = Cell(group.name, parse_settings(chosen))
            unmet = [name for name in group.needs if cell.settings.value(name) != group.needs[name]]
            if unmet:
                needed, other = word(group.needs[unmet[0]]), word(cell.settings.value(unmet[0]))
                note = f"group {group.name!r} is for {unmet[0]}={needed}, not {other}: left out"
                notes[note] = None
            elif (earlier := cells.setdefault(cell.settings, cell).group) != group.name:
                note = f"group {group.name!r} has the same runs as group {earlier!r} here"
                notes[f"{note}: they are run once, as {earlier!r}"] = None
    return list(cells.values()), list(notes)


def declare(cells: Iterable[Cell], whole: Iterable[Cell] = ()) -> tuple[Cell, ...]:
    """The cells with the names of their arms and baselines.

    A name says what varies in its group, except the seed. If the cells are a part of a ``whole``
    grid, the names are those in that grid.
    """
    cells, grid = list(cells), list(whole)
    arms = {}  # names by the settings with seed 0
    for known in ([*grid, *cells], grid):
        for group in dict.fromkeys(cell.group for cell in known):
            members = [cell for cell in known if cell.group == group]
            names = [n for n in varying(members) if n not in ("training.seed", "model.attention")]
            for settings in (cell.settings for cell in members):
                words = [f"{_short(name)}={word(settings.value(name))}" for name in names]
                arm = " ".join([settings.model.attention, *words])
                arm += "" if group in ("", settings.model.attention) else f", {group}"
                arms[settings.changed(training={"seed": 0})] = arm
    if twice := [name for name, count in Counter(arms.values()).items() if count > 1]:
        raise UsageError(f"two arms are called {twice[0]!r}; rename a group")
    declared = []
    for cell in cells:
        without = cell.settings.changed(training={"seed": 0}, model={"attention": "none"})
        arm = arms[cell.settings.changed(training={"seed": 0})]
        base = arms.get(without, "")
        declared.append(replace(cell, arm=arm, baseline="" if base == arm else base))
    return tuple(declared)


def _short(name: str) -> str:
    """A setting's name in the names of arms: its key, unless another section has that key."""
    concern, _, key = name.partition(".")
    alone = sum(other.endswith(f".{key}") for other in NAMES) == 1
    return concern if name == "corpus.name" else key if alone else name


def word(value: Any) -> str:
    """A value as written in a sweep file, without quotes; ``none`` if it is not set."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def varying(cells: Sequence[Cell]) -> list[str]:
    """Full names of the settings that are not the same in all cells, in order of declaration."""
    return [name for name in NAMES if len({cell.settings.value(name) for cell in cells}) > 1]


def complete(sweep: Sweep, cells: Sequence[Cell], name: str = "") -> Sweep:
    """The sweep with a name and a question; missing ones are made from what its cells vary."""
    order = dict.fromkeys([*sweep.settings, *NAMES])
    varied = {*varying(cells)} - {"training.seed"}
    axes = [_short(name).replace("_", " ") for name in order if name in varied]
    question = sweep.question or f"BLEU by {', '.join(axes) or 'sentence length'}"
    changes = folder_name(sweep.preset, cells, order).removeprefix(sweep.preset)
    made = name if is_name(name) else f"{sweep.preset}-by{changes}"
    return replace(sweep, name=sweep.name or made, question=question)


def folder_name(preset: str, cells: Sequence[Cell], order: Iterable[str] = NAMES) -> str:
    """``lecture-context_size=64``: a preset and what the cells change, except the seed."""
    usual, parts = parse_settings(preset_values(preset)), [preset]
    for name in order:
        values = {cell.settings.value(name) for cell in cells}
        if name != "training.seed" and values != {usual.value(name)}:
            value = f"={Path(word(*values)).name}" if len(values) == 1 else ""
            parts.append(f"{_short(name)}{value}")
    text = re.sub(r"[^\w.,=+-]+", "_", "-".join(parts))
    return text if len(text) <= 100 else f"{text[:90]}-{sha256(text.encode()).hexdigest()[:8]}"


def as_toml(sweep: Sweep, cells: Sequence[Cell]) -> str:
    """A sweep file with the cells of a sweep that was given as options."""
    seeds = list(dict.fromkeys(cell.settings.value("training.seed") for cell in cells))
    values = {"experiment": sweep.name, "preset": sweep.preset, **sweep.settings}
    values["training.seed"] = seeds
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join([f"# {sweep.question}", *lines, ""])
