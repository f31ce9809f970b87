"""A run's settings as a whole: from a preset and overrides to a frozen, hashed description."""

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
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

LARGEST_TOML = 1_000_000
"""Bytes of a TOML file."""
RETIRED: dict[str, Any] = {"training.products": "float32"}
"""Settings that earlier versions had, and the value of each that all runs have now."""


class RunSettings(Concern):
    """Everything that decides a run's numbers."""

    corpus: CorpusSettings = CorpusSettings()
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()
    scoring: ScoringSettings = ScoringSettings()

    @model_validator(mode="after")
    def _copies_what_is_pointed_at(self) -> "RunSettings":
        if self.decoding.copy_unknown and not self.model.points:
            raise ValueError(
                "decoding.copy_unknown needs attention weights that point at a word, and arm "
                f"{self.model.arm} has none; `bottleneck translate --copy-unknown` copies with the "
                "arms that can"
            )
        if self.decoding.copy_unknown and self.corpus.tokens == "subwords":
            raise ValueError(
                "decoding.copy_unknown has nothing to copy with corpus.tokens=subwords, which "
                "spell every word: leave one of the two out"
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
    """The same settings without those of `RETIRED`; ``UsageError`` where one has another value."""
    for name, value in RETIRED.items():
        concern, _, field = name.partition(".")
        fields = values.get(concern) if isinstance(values, Mapping) else None
        if not isinstance(fields, Mapping) or field not in fields:
            continue
        if fields[field] != value:
            raise UsageError(
                f"setting {name!r} is {quoted(fields[field])}, but this version of bottleneck only "
                f"knows {value!r}"
            )
        values = {**values, concern: {key: fields[key] for key in fields if key != field}}
    return values


def check_setting(name: str, value: Any) -> None:
    """Whether ``section.key`` can be so, whatever the others are; a ``UsageError`` where not."""
    concern, _, field = name.partition(".")
    try:
        RunSettings.model_validate({concern: {field: value}})
    except ValidationError as error:
        faults = [fault for fault in error.errors() if fault["loc"][:2] == (concern, field)]
        if faults:
            raise UsageError(_fault(faults[0])) from None


def _fault(fault: Mapping[str, Any]) -> str:
    """One line for one pydantic fault: the setting's place, what is wrong, the nearest name."""
    place = [str(part) for part in fault["loc"]]
    name = ".".join(place)
    if fault["type"] == "extra_forbidden":
        known = RunSettings.model_fields if len(place) == 1 else NAMES
        return f"unknown setting {name!r}{did_you_mean(name, known)}"
    message = fault["msg"].removeprefix("Value error, ")
    if not place:
        return message
    given = "" if isinstance(fault["input"], dict) else f", not {quoted(fault['input'])}"
    return f"setting {name!r}: {message[:1].lower()}{message[1:]}{given}{_nearest_word(fault)}"


def _nearest_word(fault: Mapping[str, Any]) -> str:
    """For a setting that takes one of a few words: the nearest, if one is near."""
    if fault["type"] != "literal_error":
        return ""
    words = re.findall(r"'([^']+)'", fault["ctx"]["expected"])
    hint = did_you_mean(str(fault["input"]), words)
    return hint if "did you mean" in hint else ""


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


def read_toml(path: Path, otherwise: str) -> str:
    """The text of a TOML file; ``otherwise`` says what may be named instead of a file.

    Raises UsageError for what cannot be read, is not UTF-8 or too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_TOML + 1)
    except (OSError, ValueError) as error:  # ValueError: a path that no system allows
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot read {str(path)!r} ({reason}); name an existing TOML file{otherwise}"
        ) from None
    if len(data) > LARGEST_TOML:
        raise UsageError(f"{path}: over {LARGEST_TOML:,} bytes, too large for settings; shorten it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}: not UTF-8 text (at line {line}); save the file as UTF-8"
        ) from None


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """The table that TOML text holds; a fault is a ``UsageError`` with ``place`` and its line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{place}: not TOML: {error}; write [tables] with `key = value` lines below them"
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(
            f"{place}: nested too deeply, or a number of too many digits; no setting needs that"
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
            hint = "" if dot else _full_name(key.strip())
            raise UsageError(f"--set {quoted(assignment)}: write section.key=value{hint}")
        result.setdefault(concern, {})[field] = _toml_value(text.strip())
    return result


def _full_name(key: str) -> str:
    """For a setting named without its section: the whole name, if one is near."""
    full = {name.partition(".")[2]: name for name in NAMES}
    full["seed"] = "training.seed"  # there are others, but a run's seed is this
    nearest = get_close_matches(key, full, n=1, cutoff=0.7)
    return f"; did you mean {full[nearest[0]]!r}?" if nearest else ""


def _toml_value(text: str) -> Any:
    """Read one value as TOML (numbers, true, "quoted"); anything else is text."""
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return table["value"] if table.keys() == {"value"} else text  # a second line, a second key


def resolve(preset: str, assignments: Sequence[str] = ()) -> RunSettings:
    """Settings of a preset with ``--set`` assignments on top."""
    return parse_settings(override(preset_values(preset), assignments))
