"""What a bundle says of its runs, checked: it may have been written, or mended, by hand."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..settings.errors import UsageError, UserError
from ..settings.run import without_retired
from . import schema
from .folders import damaged

COUNTED = ("source_vocabulary", "target_vocabulary", "source_unknown", "target_unknown")
"""Numbers that the caption of a table has of a run's corpus."""
AGAIN = "export it again"


def check_described(held: Any, path: Path) -> None:
    """An ``environment.json`` of a bundle that is not as ``schema`` has it is a ``UserError``."""
    if not isinstance(held, dict):
        raise damaged(path, "no JSON object", AGAIN)
    if held.get("schema") not in schema.READABLE:
        *earlier, latest = map(str, schema.READABLE)
        known = f"{', '.join(earlier)} and {latest}"
        raise UserError(
            f"{str(path.parent)!r} has results of schema {held.get('schema')}, this program "
            f"reads {known}; use the version of bottleneck that wrote them"
        )
    runs, others = held.get("runs"), held.get("unfinished", {})
    if not isinstance(runs, dict) or not all(map(_is_run, runs.values())):
        raise damaged(path, "not every run has settings and an environment", AGAIN)
    if not isinstance(others, dict) or not all(map(_is_unfinished, others.values())):
        raise damaged(path, "its unfinished runs are not described", AGAIN)
    if not _is_count(held.get("other_versions", 0)):
        raise damaged(path, "other_versions is no number of runs", AGAIN)
    for run in (*runs.values(), *others.values()):
        try:
            without_retired(run["settings"])
        except UsageError as error:
            raise UserError(f"{str(path)!r}: {error}") from None


def check_all_described(runs: Iterable[str], held: Mapping[str, Any], folder: Path) -> None:
    """A bundle whose tidy table and description are not of the same runs is a ``UserError``."""
    counted, described = set(runs), set(held["runs"])
    if unknown := sorted(counted - described):
        raise damaged(folder / schema.ENVIRONMENT, f"it says nothing of run {unknown[0]}", AGAIN)
    if lost := sorted(described - counted):
        raise damaged(folder / schema.RUNS, f"it has nothing of run {lost[0]}", AGAIN)


def check_facts(facts: Mapping[str, Any], path: Path) -> None:
    """An environment of a run that lacks what stands under every table is a ``UserError``."""
    notes, near = facts.get("notes"), facts.get("near_copies")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise damaged(path, "a run's notes are no texts", AGAIN)
    if not all(_is_number(facts.get(name)) for name in COUNTED):
        raise damaged(path, f"a run lacks one of the numbers {', '.join(COUNTED)}", AGAIN)
    if near is not None and not _is_number(near):
        raise damaged(path, "a run's near_copies is no number", AGAIN)


def _is_run(held: Any) -> bool:
    parts = (held.get("settings"), held.get("environment")) if isinstance(held, dict) else (None,)
    return all(isinstance(part, dict) for part in parts)


def _is_unfinished(held: Any) -> bool:
    return (
        isinstance(held, dict)
        and all(isinstance(held.get(name), str) for name in ("status", "reason", "group"))
        and isinstance(held.get("settings"), dict | None)
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
