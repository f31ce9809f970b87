"""A run's settings as the columns of the tidy table."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from ..settings.errors import UsageError, UserError, plain
from ..settings.run import RunSettings, parse_settings
from .folders import ENVIRONMENT, SETTINGS, damaged, read_object, read_settings
from .found import Described
from .schema import SETTING_COLUMNS


def _may_lack(place: str) -> bool:
    """Whether the setting ``concern.field`` need not be set."""
    concern, _, field = place.partition(".")
    known = RunSettings.model_fields[concern].annotation.model_fields
    return field in known and type(None) in get_args(known[field].annotation)


FILLED = tuple(name for name, (place, _) in SETTING_COLUMNS.items() if not _may_lack(place))
"""Columns of settings that every run has a value of."""
CONCERNS = frozenset(place.partition(".")[0] for place, _ in SETTING_COLUMNS.values())


def run_columns(run: Path, described: Described) -> dict[str, Any]:
    """What a run's settings and corpus say of its rows."""
    try:
        known = _columns_but_seed(described.settings)
    except UsageError as error:
        raise damaged(run / SETTINGS, error) from None
    return known | {"corpus_fingerprint": described.environment.get("fingerprint", "")}


def columns_known(run: Path) -> dict[str, Any]:
    """The same of a run that is not done, as far as its files can be read."""
    known: dict[str, Any] = {}
    with suppress(UserError):
        known |= setting_columns(read_settings(run))
        known["corpus_fingerprint"] = read_object(run / ENVIRONMENT).get("fingerprint", "")
    return known


def _columns_but_seed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """`setting_columns` of settings as they are written down.

    Those of thousands of runs differ in little but the seed: the rest is parsed once.
    """
    training = settings.get("training")
    if not isinstance(training, dict) or "seed" not in training:
        return setting_columns(parse_settings(settings))
    seed = parse_settings({"training": {"seed": training["seed"]}}).training.seed
    rest = {name: value for name, value in training.items() if name != "seed"}
    known = _columns_of(json.dumps({**settings, "training": rest}))
    return known | {"seed": seed}


@lru_cache
def _columns_of(settings: str) -> dict[str, Any]:
    """Of settings as JSON."""
    return setting_columns(parse_settings(json.loads(settings)))


def setting_columns(settings: RunSettings) -> dict[str, Any]:
    """Value by column; where a setting is not set, a blank text or None for other types."""
    return {column: _value(settings, *held) for column, held in SETTING_COLUMNS.items()}


def columns_of_settings(held: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The same of many runs as they are described, by column, without parsing each.

    Columns that follow from several settings (`SETTING_COLUMNS`) are left out.
    """
    columns = {}
    groups = {concern: [_group(each, concern) for each in held] for concern in CONCERNS}
    for column, (place, kind) in SETTING_COLUMNS.items():
        concern, _, field = place.partition(".")
        known = RunSettings.model_fields[concern].annotation.model_fields
        if field in known:
            values = [group.get(field, known[field].default) for group in groups[concern]]
            columns[column] = list(map(_text, values)) if kind == "str" else values
    return columns


def _group(settings: Mapping[str, Any], concern: str) -> Mapping[str, Any]:
    """The settings of a concern as they are described; none where that is no group of settings."""
    group = settings.get(concern)
    return group if isinstance(group, dict) else {}


def _text(value: Any) -> str:
    return "" if value is None else plain(str(value))


def _value(settings: RunSettings, place: str, kind: str) -> Any:
    """The setting ``concern.field``."""
    concern, _, field = place.partition(".")
    value = getattr(getattr(settings, concern), field)
    return "" if value is None and kind == "str" else value
