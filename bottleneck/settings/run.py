"""A run's settings as a whole: from a preset and overrides to a frozen, hashed description."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from typing import Any

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

SCHEMA_VERSION = 7
"""Raised when numerics or file formats change, so that old runs are never mixed with new."""


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
                "decoding.copy_unknown needs corpus.tokens=words and attention weights that point "
                f"at a word, which arm {self.model.arm} may not have; `bottleneck translate "
                "--copy-unknown --arm NAME` copies with one that has"
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

    def without_seed(self) -> "RunSettings":
        """The same for all seeds of an arm."""
        return self.changed(training={"seed": 0})


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
    try:
        return RunSettings.model_validate(without_retired(values))
    except ValidationError as error:
        raise UsageError(_fault(error.errors()[0])) from None


def without_retired(values: Any) -> Any:
    """The same settings without `training.products`, which earlier versions had.

    A ``UsageError`` where it has another value than the one that all runs have now.
    """
    training = values.get("training") if isinstance(values, Mapping) else None
    if not isinstance(training, Mapping) or "products" not in training:
        return values
    if training["products"] != "float32":
        raise UsageError(
            f"setting 'training.products' is {quoted(training['products'])}, but this version of "
            "bottleneck only knows 'float32'"
        )
    kept = {key: value for key, value in training.items() if key != "products"}
    return {**values, "training": kept}


def _fault(fault: Mapping[str, Any]) -> str:
    """One line for one pydantic fault: the setting's place, what is wrong, the nearest name."""
    name, given = ".".join(map(str, fault["loc"])), fault["input"]
    if fault["type"] == "extra_forbidden":
        known = NAMES if "." in name else RunSettings.model_fields
        return f"unknown setting {name!r}{did_you_mean(name, known)}"
    message = fault["msg"].removeprefix("Value error, ")
    if not name:
        return message
    text = f"setting {name!r}: {message[:1].lower()}{message[1:]}"
    return text if isinstance(given, dict) else f"{text}, not {quoted(given)}"


def preset_names() -> list[str]:
    """Names of the presets that are installed, sorted."""
    folder = resources.files("seq2seq_bottleneck.experiments") / "presets"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())


def preset_values(name: str) -> dict[str, Any]:
    """The settings a preset states, as a nested mapping; ``UsageError`` for an unknown name."""
    if name not in preset_names():
        raise UsageError(f"unknown preset {name!r}{did_you_mean(name, preset_names())}")
    folder = resources.files("seq2seq_bottleneck.experiments") / "presets"
    return parse_toml((folder / f"{name}.toml").read_text(encoding="utf8"), f"preset {name!r}")


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """The table that TOML text holds; a fault is a ``UsageError`` with ``place`` and its line."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{place}: not TOML: {error}; write [tables] with `key = value` lines below them"
        ) from None


def override(values: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Apply ``section.key=value`` assignments; a value is TOML, or plain text if it is not.

    Raises UsageError for an assignment of another form.
    """
    result = {concern: dict(fields) for concern, fields in values.items()}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        concern, dot, field = key.strip().partition(".")
        if not (equals and dot and field):
            full = {name.partition(".")[2]: name for name in NAMES}
            full["seed"] = "training.seed"  # there are others, but a run's seed is this
            nearest = get_close_matches(concern, full, n=1, cutoff=0.7)
            hint = f"; did you mean {full[nearest[0]]!r}?" if nearest and not dot else ""
            raise UsageError(f"--set {quoted(assignment)}: write section.key=value{hint}")
        try:
            table = tomllib.loads(f"value = {text.strip()}")
        except (ValueError, RecursionError):
            table = {}
        # Anything else is text, a second line or key, too.
        value = table["value"] if table.keys() == {"value"} else text.strip()
        result.setdefault(concern, {})[field] = value
    return result


def resolve(preset: str, assignments: Sequence[str] = ()) -> RunSettings:
    """Settings of a preset with ``--set`` assignments on top."""
    return parse_settings(override(preset_values(preset), assignments))
