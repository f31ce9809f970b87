"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..settings.atomic import write_bytes, write_parts, write_text
from . import schema
from .columns import run_columns
from .counts import WANTED, Counts, digest, from_rows, packed, run_counts
from .folders import (
    ENVIRONMENT,
    EXAMPLES,
    SCORES,
    SENTENCES,
    SETTINGS,
    STATUS,
    STORE,
    damaged,
    find_runs,
    read_groups,
    read_json,
)
from .learning import learning_text
from .study_files import copy_tables


def write_bundle(runs: Sequence[Path], bundle: Path, groups: Mapping[str, str]) -> list[str]:
    """Write the bundle of finished runs, a folder each, named by the run; groups by run.

    With them go the studies' tables of the folder that they lie in, but for those that rest on a
    run of its store that is left out: these are named.
    """
    write_text(bundle / schema.RUNS, runs_text(runs, groups))
    write_sentences(runs, bundle)
    write_text(bundle / schema.LEARNING, learning_text(runs))
    write_parts(bundle / schema.EXAMPLES, _examples(runs))
    write_text(bundle / schema.ENVIRONMENT, _json(environment(runs)))
    return [name for store in _stores(runs) for name in _copy_tables(store, runs, bundle)]


def _stores(runs: Sequence[Path]) -> list[Path]:
    """The stores that the runs lie in."""
    return sorted({run.parent for run in runs})


def _copy_tables(store: Path, runs: Sequence[Path], bundle: Path) -> list[str]:
    """Copy the studies' tables that lie beside a store; name what cannot be."""
    folder = store.parent if store.name == STORE else store
    chosen = {run.name for run in runs}
    left_out = {run.name for run in find_runs(store).done} - chosen
    return copy_tables(folder, bundle, left_out)


def runs_text(runs: Sequence[Path], groups: Mapping[str, str]) -> str:
    """The tidy table as CSV text: a row a run x bucket.

    What the settings say is in them alone; the scores of an older run may say some of it too.
    """
    known = {run: {"group": groups.get(run.name, "")} | run_columns(run) for run in runs}
    return _joined(known, SCORES, list(schema.RUN_COLUMNS))


def _examples(runs: Sequence[Path]) -> Iterator[bytes]:
    """One JSON object of every run's examples, a run at a time."""
    for place, run in enumerate(runs):
        held = _json({run.name: read_json(run / EXAMPLES)})
        yield ("," if place else "{").encode() + held[1:-2].encode("utf8")
    yield b"}\n"


def write_sentences(runs: Sequence[Path], bundle: Path) -> None:
    """Write the counts of every run's test sentences, as compressed CSV and as `packed`."""
    counts: dict[str, Counts] = {}
    write_parts(bundle / schema.SENTENCES, _compressed(_sentences(runs, counts)))
    write_bytes(bundle / schema.COUNTS, packed(counts, digest(bundle / schema.SENTENCES)))


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    yield from map(stream.compress, parts)
    yield stream.flush()


def _sentences(runs: Sequence[Path], counts: dict[str, Counts]) -> Iterator[bytes]:
    """The CSV, a run at a time, the counts of each being put where they are asked for."""
    yield (",".join(schema.SENTENCE_COLUMNS) + "\n").encode()
    for run in runs:
        lines, counts[run.name] = _sentences_of(run)
        yield lines


def _sentences_of(run: Path) -> tuple[bytes, Counts]:
    """A run's lines with the run in front, and what they count.

    A file as the program writes it is taken as it is; of another its rows are read.
    """
    path, columns = run / SENTENCES, list(schema.SENTENCE_COLUMNS)
    with suppress(OSError, ValueError):
        text = path.read_bytes()
        head, _, body = text.partition(b"\n")
        if head.decode("utf8").split(",") == columns[1:] and run.name.isalnum():
            start = f"{run.name},".encode()
            return start + body[:-1].replace(b"\n", b"\n" + start) + b"\n", run_counts(text)
    lines = _joined({run: {}}, SENTENCES, columns).partition("\n")[2].encode("utf8")
    rows = [[row.get(name, "") for name in WANTED] for row in run_rows(path)]
    try:
        return lines, from_rows(np.array([list(map(int, row)) for row in rows]))
    except ValueError as error:
        raise damaged(path, error) from None


def _joined(known: Mapping[Path, Mapping[str, Any]], name: str, columns: list[str]) -> str:
    """One CSV text of a file of every run: its rows, the run and what else is known in them."""
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(columns)
    for run, values in known.items():
        head, *rows = run_lines(run / name)
        if unknown := sorted(set(head) - set(columns)):
            raise damaged(run / name, f"unknown columns: {', '.join(unknown)}")
        ours = values | {"run": run.name}
        # Where each column is in the row with what is known behind it, which has the last word.
        places = {column: place for place, column in enumerate([*head, *ours])}
        order = [places.get(column, -1) for column in columns]
        ends = [*ours.values(), ""]
        whole = ([*row, *ends] for row in rows)
        writer.writerows([cells[place] for place in order] for cells in whole)
    return held.getvalue()


def run_lines(path: Path) -> list[list[str]]:
    """The rows of a run's CSV file, which has some, each as long as the first line, with it."""
    try:
        with path.open(encoding="utf8", newline="") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error) from None
    if not rows:
        raise damaged(path, "it is empty")
    for place, row in enumerate(rows, 1):
        if len(row) != len(head):
            raise damaged(path, f"row {place} is not whole")
    return [head, *rows]


def run_rows(path: Path) -> Iterator[dict[str, str]]:
    """The same, by column."""
    head, *rows = run_lines(path)
    yield from (dict(zip(head, row, strict=True)) for row in rows)


def environment(runs: Sequence[Path]) -> dict[str, Any]:
    """The version, each run's settings and what it ran on, and what else was in their store."""
    described = {
        run.name: {
            "settings": read_json(run / SETTINGS),
            "environment": read_json(run / ENVIRONMENT),
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
    held, settings = read_json(run / STATUS), run / SETTINGS
    lines = str(held.get("reason", "")).strip().splitlines()
    return {
        "status": held.get("status", ""),
        "reason": lines[-1].strip() if lines else "",
        "group": read_groups(run.parent).get(run.name, ""),
        "settings": read_json(settings) if settings.is_file() else None,
    }


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
