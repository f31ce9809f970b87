"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..settings.plain import plain
from ..settings.sums import write_listed
from . import schema
from .columns import run_columns
from .folders import (
    ENVIRONMENT,
    EXAMPLES,
    SCORES,
    SENTENCES,
    SETTINGS,
    STORE,
    damaged,
    find_runs,
    read_checked,
    read_groups,
    read_json,
    read_object,
    read_status,
)
from .learning import learning_text
from .study_files import Travel, travelling


def write_bundle(runs: Sequence[Path], bundle: Path, groups: Mapping[str, str]) -> list[str]:
    """Write the bundle of finished runs, a folder each, named by the run; groups by run.

    With them go the studies' tables of the folder that they lie in, but for those that rest on a
    run of its store that is left out: these are named.
    """
    tables = [_tables(store, runs, bundle) for store in _stores(runs)]
    gone = [name for travel in tables for name in travel.gone]
    write_listed(bundle, _contents(runs, groups, tables), gone)
    return [name for travel in tables for name in travel.left_out]


def _contents(
    runs: Sequence[Path], groups: Mapping[str, str], tables: Sequence[Travel]
) -> Iterator[tuple[str, bytes]]:
    """The bundle's files by name, one at a time."""
    yield schema.RUNS, runs_text(runs, groups).encode()
    # No time and no name in the header: equal results are equal bytes.
    yield schema.SENTENCES, gzip.compress(sentences_text(runs).encode(), mtime=0)
    yield schema.LEARNING, learning_text(runs).encode()
    examples = {run.name: read_json(run / EXAMPLES) for run in runs}
    yield schema.EXAMPLES, _json(examples).encode()
    yield schema.ENVIRONMENT, _json(environment(runs)).encode()
    for travel in tables:
        yield from travel.contents()


def _stores(runs: Sequence[Path]) -> list[Path]:
    """The stores that the runs lie in."""
    return sorted({run.parent for run in runs})


def _tables(store: Path, runs: Sequence[Path], bundle: Path) -> Travel:
    """Which of the studies' tables that lie beside a store go with these runs."""
    folder = store.parent if store.name == STORE else store
    chosen = {run.name for run in runs}
    left_out = {run.name for run in find_runs(store).done} - chosen
    return travelling(folder, bundle, left_out)


def runs_text(runs: Sequence[Path], groups: Mapping[str, str]) -> str:
    """The tidy table as CSV text: a row a run x bucket.

    What the settings say is in them alone; the scores of an older run may say some of it too.
    """
    known = {run: _plain({"group": groups.get(run.name, "")} | run_columns(run)) for run in runs}
    return _joined(known, SCORES, list(schema.RUN_COLUMNS))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Texts without signs that act: a carriage return would end a row of the CSV."""
    return {name: plain(v) if isinstance(v, str) else v for name, v in values.items()}


def sentences_text(runs: Sequence[Path]) -> str:
    """The counts of every run's test sentences as CSV text."""
    return _joined({run: {} for run in runs}, SENTENCES, list(schema.SENTENCE_COLUMNS))


def _joined(known: Mapping[Path, Mapping[str, Any]], name: str, columns: list[str]) -> str:
    """One CSV text of a file of every run: its rows, the run and what else is known in them."""
    held = io.StringIO()
    writer = csv.DictWriter(held, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for run, values in known.items():
        writer.writerows(row | values | {"run": run.name} for row in run_rows(run / name))
    return held.getvalue()


def run_rows(path: Path, otherwise: str = "make it again") -> Iterator[dict[str, Any]]:
    """The rows of a run's CSV file, which has some, each as long as the first line.

    ``otherwise`` is the way out where the file is of a bundle.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(read_checked(path, otherwise).decode(), newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error, otherwise) from None
    if not rows:
        raise damaged(path, "it is empty", otherwise)
    for place, row in enumerate(rows, 1):
        if None in row or None in row.values():  # longer, or shorter
            raise damaged(path, f"row {place} is not whole", otherwise)
    yield from rows


def environment(runs: Sequence[Path]) -> dict[str, Any]:
    """The version, each run's settings and what it ran on, and what else was in their store."""
    described = {
        run.name: {
            "settings": read_object(run / SETTINGS),
            "environment": read_object(run / ENVIRONMENT),
        }
        for run in runs
    }
    stores = [find_runs(store) for store in _stores(runs)]
    return {
        "schema": schema.VERSION,
        "runs": described,
        "unfinished": {run.name: _unfinished(run) for found in stores for run in found.unfinished},
        "other_versions": sum(len(found.other_versions) for found in stores),
    }


def _unfinished(run: Path) -> dict[str, Any]:
    """How a run stands that is not done, and which it is; of a traceback the last line."""
    held, settings = read_status(run), run / SETTINGS
    lines = str(held.get("reason", "")).strip().splitlines()
    return {
        "status": str(held.get("status", "")),
        "reason": lines[-1].strip() if lines else "",
        "group": str(read_groups(run.parent).get(run.name, "")),
        "settings": read_object(settings) if settings.is_file() else None,
    }


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
