"""A run's settings as a whole: from a preset and overrides to a frozen, hashed description."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import product
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError, model_validator

from .concerns import (
    FILES,
    Concern,
    CorpusSettings,
    DecodingSettings,
    ModelSettings,
    ScoringSettings,
    TrainingSettings,
)
from .errors import UsageError, did_you_mean, quoted

SCHEMA_VERSION = 8
"""Raised when numerics or file formats change, so that old runs are never mixed with new."""
RETIRED = (("training", "products"), ("model", "source"))
"""Settings that ``results/reference`` has, with the only value that there is now."""


class RunSettings(Concern):
    """Everything that decides a run's numbers."""

    corpus: CorpusSettings = CorpusSettings()
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()
    scoring: ScoringSettings = ScoringSettings()

    @model_validator(mode="after")
    def _copies_what_is_pointed_at(self) -> "RunSettings":
        words = self.corpus.tokens == "words"
        if self.decoding.copy_unknown and not (self.model.points and words):
            raise ValueError(
                "decoding.copy_unknown needs corpus.tokens=words and attention that points at "
                f"words, unlike arm {self.model.attention}; `translate --arm NAME` names another"
            )
        return self

    def identity(self, fingerprint: str) -> str:
        """Hash of the settings, the data's fingerprint and the schema version (12 hex digits).

        Where the user's files lie is left out: the fingerprint says what is in them.
        """
        settings = self.model_dump_json(exclude={"corpus": set(FILES)})
        text = f"{SCHEMA_VERSION}\n{fingerprint}\n{settings}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def changed(self, **concerns: Mapping[str, Any]) -> "RunSettings":
        """A copy with some fields changed, checked again: ``changed(training={"seed": 2})``."""
        values = self.model_dump()
        for concern, fields in concerns.items():
            values[concern] |= fields
        return parse_settings(values)


NAMES: dict[str, Any] = {
    f"{concern}.{key}": declared.annotation
    for concern, info in RunSettings.model_fields.items()
    for key, declared in info.annotation.model_fields.items()  # type: ignore[union-attr]
}
"""Every setting's full name, in the order of declaration, and its type."""


def parse_settings(values: Mapping[str, Any]) -> RunSettings:
    """The settings of a nested mapping, checked.

    The first fault is a ``UsageError``: named by its key, with the nearest known name.
    """
    kept = dict(values)
    for concern, retired in RETIRED:
        if isinstance(fields := kept.get(concern), dict):
            kept[concern] = {key: value for key, value in fields.items() if key != retired}
    try:
        return RunSettings.model_validate(kept)
    except ValidationError as error:
        fault = error.errors()[0]
    name, given = ".".join(map(str, fault["loc"])), fault["input"]
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = f"unknown setting {name!r}{did_you_mean(name, NAMES)}"
    elif name:
        message = f"setting {name!r}: {message[:1].lower()}{message[1:]}"
        message += "" if isinstance(given, dict) else f", not {quoted(given)}"
    raise UsageError(message)


def nested(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings by full name as tables."""
    tables: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        concern, _, key = name.partition(".")
        tables.setdefault(concern, {})[key] = value
    return tables


def preset_names() -> list[str]:
    """Names of the presets that are installed, sorted."""
    folder = resources.files("seq2seq_bottleneck.experiments") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())


def preset_values(name: Any) -> dict[str, Any]:
    """The settings a preset states, by full name; ``UsageError`` for an unknown name."""
    if name not in preset_names():
        raise UsageError(f"unknown preset {quoted(name)}{did_you_mean(str(name), preset_names())}")
    folder = resources.files("seq2seq_bottleneck.experiments") / "presets"
    tables = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf8"))
    return {
        f"{concern}.{key}": tables[concern][key] for concern in tables for key in tables[concern]
    }


def parse_assignment(assignment: str) -> tuple[str, Any]:
    """Name and value of ``section.key=value``; the value is TOML, or plain text if it is not."""
    name, equals, text = (part.strip() for part in assignment.partition("="))
    if name not in NAMES:
        hint = did_you_mean("training.seed" if name == "seed" else name, NAMES)
        raise UsageError(f"--set {quoted(assignment)}: unknown setting{hint}")
    if not equals:
        raise UsageError(f"--set {quoted(assignment)}: give a value, {name}=VALUE")
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        table = {}
    return name, table["value"] if table.keys() == {"value"} else text  # more keys are text, too


def resolve(
    preset: str, assignments: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> RunSettings:
    """Settings of a preset, then those ``given`` by full name, then ``--set`` assignments."""
    changes = dict(given or {}) | dict(map(parse_assignment, assignments))
    return parse_settings(nested(preset_values(preset) | changes))


def describe_settings(preset: str) -> dict[str, str]:
    """By full name a line on each setting: its value in a preset, its meaning, what it takes."""
    chosen, bounds = resolve(preset), {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    lines = {}
    for concern, info in RunSettings.model_fields.items():
        for key, field in info.annotation.model_fields.items():  # type: ignore[union-attr]
            kinds = (field.annotation, *get_args(field.annotation))
            literals = [get_args(kind) for kind in kinds if get_origin(kind) is Literal]
            takes = [str(item) for items in literals for item in items]
            for bound, (sign, word) in product(field.metadata, bounds.items()):
                takes += [f"{word} {getattr(bound, sign):,}"] if hasattr(bound, sign) else []
            name, value = f"{concern}.{key}", str(getattr(getattr(chosen, concern), key)).lower()
            ending = f" ({', '.join(takes)})" if takes else ""
            lines[name] = f"{name:<28}  {value:<14}  {field.description}{ending}"
    return lines
