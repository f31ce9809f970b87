"""All settings of a run: a preset and overrides become one frozen, hashed object."""

import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any

from pydantic import ValidationError

from . import concerns
from .errors import UsageError, did_you_mean, quoted

SCHEMA_VERSION = 9
"""Raised when numerics or file formats change, so that old runs are never mixed with new."""


class RunSettings(concerns.Concern):
    """Everything that decides a run's numbers."""

    corpus: concerns.CorpusSettings = concerns.CorpusSettings()
    model: concerns.ModelSettings = concerns.ModelSettings()
    training: concerns.TrainingSettings = concerns.TrainingSettings()
    decoding: concerns.DecodingSettings = concerns.DecodingSettings()
    scoring: concerns.ScoringSettings = concerns.ScoringSettings()

    def value(self, name: str) -> Any:
        """The value of a setting by its full name, ``model.context_size``."""
        concern, _, key = name.partition(".")
        return getattr(getattr(self, concern), key)

    def identity(self, fingerprint: str) -> str:
        """Hash of the settings, the data's fingerprint and the schema version (12 hex digits).

        The paths of the user's files are left out: the fingerprint covers their content.
        """
        settings = self.model_dump_json(exclude={"corpus": set(concerns.FILES)})
        text = f"{SCHEMA_VERSION}\n{fingerprint}\n{settings}"
        return sha256(text.encode()).hexdigest()[:12]

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
    """Settings from tables (``{"model": {"layers": 2}}``) or full names (``model.layers``).

    The first error raises a ``UsageError`` with its key and the nearest known name.
    """
    tables = {}
    for name, value in values.items():
        concern, _, key = name.partition(".")
        fields = value if not key and isinstance(value, Mapping) else {key: value}
        tables.setdefault(concern, {}).update(fields)
    try:
        return RunSettings.model_validate(tables)
    except ValidationError as error:
        fault = error.errors()[0]
    name, given = ".".join(filter(None, map(str, fault["loc"]))), fault["input"]
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        if isinstance(given, dict):  # a whole section is unknown
            name = f"{name}.{next(iter(given), '')}".rstrip(".")
        hint = did_you_mean("training.seed" if name == "seed" else name, NAMES)
        message = f"unknown setting {name!r}{hint}"
    elif name:
        message = f"setting {name!r}: {message[:1].lower()}{message[1:]}"
        message += "" if isinstance(given, dict) else f", not {quoted(given)}"
    raise UsageError(message)


def toml_names(folder: str = ".") -> list[str]:
    """The names of the installed sweeps, or of the files in a subfolder (``presets``), sorted."""
    files = (resources.files("seq2seq_bottleneck.experiments") / folder).iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def preset_values(name: Any) -> dict[str, Any]:
    """The settings of a preset, by full name; ``UsageError`` for an unknown preset."""
    known = toml_names("presets")
    if name not in known:
        raise UsageError(f"unknown preset {quoted(name)}{did_you_mean(str(name), known)}")
    file = resources.files("seq2seq_bottleneck.experiments") / "presets" / f"{name}.toml"
    tables = tomllib.loads(file.read_text(encoding="utf8"))
    return {
        f"{concern}.{key}": value for concern in tables for key, value in tables[concern].items()
    }


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Values by full name from ``section.key=value``; a value is TOML, or else plain text.

    Commas make a list, unless the setting is free text.
    """
    settings = {}
    for assignment in assignments:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise UsageError(f"--set {quoted(assignment)}: give a value, {name}=VALUE")
        try:
            table = tomllib.loads(f"value = {text}")
        except (ValueError, RecursionError):
            table = {}
        value = table["value"] if len(table) == 1 else text  # more keys are text, too
        if isinstance(value, str) and "," in value and NAMES.get(name) not in (str, str | None):
            parts = [f"{name}={part}" for part in value.split(",")]
            value = [parse_assignments([part])[name] for part in parts]
        settings[name] = value
    return settings


def resolve(
    preset: str, assignments: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> RunSettings:
    """Settings of a preset, overridden by ``given`` (full names), then by ``--set`` assignments."""
    values = preset_values(preset) | dict(given or {})
    return parse_settings(values | parse_assignments(assignments))
