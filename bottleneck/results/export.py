"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import gzip
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..settings.atomic import write_bytes, write_text
from .schema import (
    ENVIRONMENT,
    EXAMPLES,
    RUN_COLUMNS,
    RUNS,
    SENTENCE_COLUMNS,
    SENTENCES,
    VERSION,
)


def write_bundle(runs: Sequence[Path], bundle: Path) -> None:
    """Write the bundle of finished runs, a folder each, named by the run."""
    write_text(bundle / RUNS, _joined(runs, "scores.csv", list(RUN_COLUMNS)))
    sentences = _joined(runs, "sentences.csv", list(SENTENCE_COLUMNS))
    # No time and no name in the header: equal results are equal bytes.
    write_bytes(bundle / SENTENCES, gzip.compress(sentences.encode(), mtime=0))
    write_text(bundle / EXAMPLES, _json({run.name: _read(run, "examples.json") for run in runs}))
    write_text(bundle / ENVIRONMENT, _json(_environment(runs)))


def _joined(runs: Sequence[Path], name: str, columns: list[str]) -> str:
    """One CSV text of a file of every run, with the run in front."""
    held = io.StringIO()
    writer = csv.DictWriter(held, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for run in runs:
        writer.writerows({"run": run.name, **row} for row in _rows(run / name))
    return held.getvalue()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf8", newline="") as file:
        yield from csv.DictReader(file)


def _environment(runs: Sequence[Path]) -> dict[str, Any]:
    """The schema, and for each run its settings and what it ran on."""
    described = {
        run.name: {
            "settings": _read(run, "settings.json"),
            "environment": _read(run, "environment.json"),
        }
        for run in runs
    }
    return {"schema": VERSION, "runs": described}


def _read(run: Path, name: str) -> Any:
    return json.loads((run / name).read_text(encoding="utf8"))


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
