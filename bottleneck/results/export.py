"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..settings.atomic import write_bytes, write_text
from .folders import read_json
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
    return _joined(runs, "scores.csv", list(RUN_COLUMNS), groups)


def sentences_text(runs: Sequence[Path]) -> str:
    """The counts of every run's test sentences as CSV text."""
    return _joined(runs, "sentences.csv", list(SENTENCE_COLUMNS), {})


def _joined(runs: Sequence[Path], name: str, columns: list[str], groups: Mapping[str, str]) -> str:
    """One CSV text of a file of every run, with the run in front."""
    held = io.StringIO()
    writer = csv.DictWriter(held, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for run in runs:
        known = {"run": run.name} | ({"group": groups[run.name]} if run.name in groups else {})
        writer.writerows(known | row for row in _rows(run / name))
    return held.getvalue()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf8", newline="") as file:
        yield from csv.DictReader(file)


def environment(runs: Sequence[Path]) -> dict[str, Any]:
    """The schema, and for each run its settings and what it ran on."""
    described = {
        run.name: {
            "settings": read_json(run / "settings.json"),
            "environment": read_json(run / "environment.json"),
        }
        for run in runs
    }
    return {"schema": VERSION, "runs": described}


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
