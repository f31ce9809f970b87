"""A run's settings as the columns of the tidy table."""

from typing import Any

from ..settings.run import RunSettings
from .schema import SETTING_COLUMNS


def setting_columns(settings: RunSettings) -> dict[str, Any]:
    """Value by column; None where a setting is not set."""
    return {column: _value(settings, place) for column, (place, _) in SETTING_COLUMNS.items()}


def _value(settings: RunSettings, place: str) -> Any:
    """The setting ``concern.field``."""
    concern, _, field = place.partition(".")
    return getattr(getattr(settings, concern), field)
