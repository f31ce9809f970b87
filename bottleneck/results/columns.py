"""A run's settings as the columns of the tidy table."""

import json
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..settings.errors import UsageError, UserError, plain
from ..settings.run import RunSettings, parse_settings
from .discovery import Described
from .folders import ENVIRONMENT, SETTINGS, damaged, read_object, read_settings
from .schema import SETTING_COLUMNS


def setting_columns(settings: RunSettings) -> dict[str, Any]:
    """Value by column; where a setting is not set, a blank text or None for other types."""
    columns = {}
    for column, (place, kind) in SETTING_COLUMNS.items():
        concern, _, field = place.partition(".")
        value = getattr(getattr(settings, concern), field)
        blank = "" if kind == "str" else None
        columns[column] = blank if value is None else plain(value) if kind == "str" else value
    return columns


def run_columns(run: Path, described: Described) -> dict[str, Any]:
    """What a finished run's settings and corpus say of its rows.

    The settings of thousands of runs differ in little but the seed: the rest is parsed once.
    """
    settings, fingerprint = described.settings, described.environment.get("fingerprint", "")
    try:
        training = dict(settings["training"])
        seed = parse_settings({"training": {"seed": training.pop("seed")}}).training.seed
        known = _columns_of(json.dumps({**settings, "training": training}))
    except (UsageError, KeyError, TypeError, ValueError) as error:
        raise damaged(run / SETTINGS, error) from None
    return known | {"seed": seed, "corpus_fingerprint": plain(fingerprint)}


@lru_cache
def _columns_of(settings: str) -> dict[str, Any]:
    """The columns of settings as JSON."""
    return setting_columns(parse_settings(json.loads(settings)))


def columns_known(run: Path) -> dict[str, Any]:
    """What the settings and the corpus of a run say that is not done, as far as it has files."""
    known: dict[str, Any] = {}
    with suppress(UserError):
        known |= setting_columns(read_settings(run))
        known["corpus_fingerprint"] = read_object(run / ENVIRONMENT).get("fingerprint", "")
    return known
