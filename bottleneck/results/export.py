"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..settings.atomic import write_bytes, write_text
from ..settings.errors import UsageError
from ..settings.run import RunSettings, parse_settings
from .columns import setting_columns
from .folders import STATUS, damaged, find_runs, read_groups, read_json
from .schema import (
    ENVIRONMENT,
    EXAMPLES,
    RUN_COLUMNS,
    RUNS,
    SENTENCE_COLUMNS,
    SENTENCES,
    VERSION,
)


def write_bundle(runs: Sequence[Path], bundle: Path, groups: Mapping[str, str]) -> None:
    """Write the bundle of finished runs, a folder each, named by the run; groups by run."""
    write_text(bundle / RUNS, runs_text(runs, groups))
    # No time and no name in the header: equal results are equal bytes.
    write_bytes(bundle / SENTENCES, gzip.compress(sentences_text(runs).encode(), mtime=0))
    examples = {run.name: read_json(run / "examples.json") for run in runs}
    write_text(bundle / EXAMPLES, _json(examples))
    write_text(bundle / ENVIRONMENT, _json(environment(runs)))


def runs_text(runs: Sequence[Path], groups: Mapping[str, str]) -> str:
    """The tidy table as CSV text: a row a run x bucket."""
    known = {run: {"group": groups.get(run.name, "")} | _columns(run) for run in runs}
    return _joined(known, "scores.csv", list(RUN_COLUMNS))


def sentences_text(runs: Sequence[Path]) -> str:
    """The counts of every run's test sentences as CSV text."""
    return _joined({run: {} for run in runs}, "sentences.csv", list(SENTENCE_COLUMNS))


def _columns(run: Path) -> dict[str, Any]:
    """What a run's settings and corpus say of its rows; its scores may be of an older table."""
    settings = _settings(run)
    facts = read_json(run / "environment.json")
    return setting_columns(settings) | {"corpus_fingerprint": facts.get("fingerprint", "")}


def _settings(run: Path) -> RunSettings:
    path = run / "settings.json"
    try:
        return parse_settings(read_json(path))
    except UsageError as error:
        raise damaged(path, error) from None


def _joined(known: Mapping[Path, Mapping[str, Any]], name: str, columns: list[str]) -> str:
    """One CSV text of a file of every run: its rows, the run and what else is known in them."""
    held = io.StringIO()
    writer = csv.DictWriter(held, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for run, values in known.items():
        writer.writerows(row | values | {"run": run.name} for row in run_rows(run / name))
    return held.getvalue()


def run_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a run's CSV file, which has some, each as long as the first line."""
    try:
        with path.open(encoding="utf8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error) from None
    if not rows:
        raise damaged(path, "it is empty")
    for place, row in enumerate(rows, 1):
        if None in row or None in row.values():  # longer, or shorter
            raise damaged(path, f"row {place} is not whole")
    yield from rows


def environment(runs: Sequence[Path]) -> dict[str, Any]:
    """The version, each run's settings and what it ran on, and what else was in their store."""
    described = {
        run.name: {
            "settings": read_json(run / "settings.json"),
            "environment": read_json(run / "environment.json"),
        }
        for run in runs
    }
    stores = [find_runs(store) for store in sorted({run.parent for run in runs})]
    return {
        "schema": VERSION,
        "runs": described,
        "unfinished": {run.name: _unfinished(run) for found in stores for run in found.unfinished},
        "other_versions": sum(len(found.other_versions) for found in stores),
    }


def _unfinished(run: Path) -> dict[str, Any]:
    """How a run stands that is not done, and which it is; of a traceback the last line."""
    held, settings = read_json(run / STATUS), run / "settings.json"
    lines = str(held.get("reason", "")).strip().splitlines()
    return {
        "status": held.get("status", ""),
        "reason": lines[-1].strip() if lines else "",
        "group": read_groups(run.parent).get(run.name, ""),
        "settings": read_json(settings) if settings.is_file() else None,
    }


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
