"""From run folders to a results bundle; the folders' files are read as text, jax not needed."""

import csv
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..settings.errors import plain
from ..settings.sums import Content, write_listed
from . import schema
from .columns import run_columns
from .counts import from_rows
from .folders import (
    EXAMPLES,
    SCORES,
    SENTENCES,
    SETTINGS,
    STORE,
    damaged,
    read_checked,
    read_groups,
    read_json,
    read_object,
    read_status,
)
from .found import Described, Found, describe, find_runs
from .learning import learning_text
from .study_files import Travel, travelling

SENTENCES_HEAD = (",".join(schema.COUNTED_COLUMNS) + "\n").encode()
"""The first line of ``sentences.csv.gz``."""


def write_bundle(
    runs: Sequence[Path],
    bundle: Path,
    groups: Mapping[str, str],
    text: bool = True,
    check: Callable[[], None] | None = None,
) -> list[str]:
    """Write the bundle of finished runs, a folder each, named by the run; groups by run.

    With them go the studies' tables of the folder that they lie in, but for those that rest on a
    run of its store that is left out: these are named. Without ``text`` no example sentence goes,
    and so none of the corpus: the rest is numbers and settings. ``check`` is as `write_listed` has
    it.
    """
    tables = [_tables(store, runs, bundle) for store in _stores(runs)]
    gone = [name for travel in tables for name in travel.gone]
    write_listed(bundle, _contents(runs, groups, tables, text), gone, check)
    return [name for travel in tables for name in travel.left_out]


def _contents(
    runs: Sequence[Path], groups: Mapping[str, str], tables: Sequence[Travel], text: bool
) -> Iterator[tuple[str, Content]]:
    """The bundle's files by name, one at a time."""
    yield schema.RUNS, runs_text(runs, groups).encode()
    yield schema.SENTENCES, compressed(_sentences(runs))
    yield schema.LEARNING, learning_text(runs).encode()
    yield schema.EXAMPLES, compressed(_examples(runs if text else ()))
    yield schema.ENVIRONMENT, as_json(environment(runs)).encode()
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


def runs_text(
    runs: Sequence[Path],
    groups: Mapping[str, str],
    described: Mapping[Path, Described] = MappingProxyType({}),
) -> str:
    """The tidy table as CSV text: a row a run x bucket.

    What the settings say is in them alone; the scores of an older run may say some of it too.
    ``described`` is what has been read of the runs already.
    """
    known = {
        run: _plain(
            {"group": groups.get(run.name, "")}
            | run_columns(run, described.get(run) or describe(run))
        )
        for run in runs
    }
    return _joined(known, SCORES, list(schema.RUN_COLUMNS))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Texts without signs that act: a carriage return would end a row of the CSV."""
    return {name: plain(v) if isinstance(v, str) else v for name, v in values.items()}


def _examples(runs: Sequence[Path]) -> Iterator[bytes]:
    """One JSON object of every run's examples, a run at a time."""
    yield b"{"
    for place, run in enumerate(runs):
        held = as_json({run.name: read_json(run / EXAMPLES)})
        yield b"," * (place > 0) + held[1:-2].encode("utf8")
    yield b"}\n"


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    yield from map(stream.compress, parts)
    yield stream.flush()


def _sentences(runs: Sequence[Path]) -> Iterator[bytes]:
    """The CSV of what is counted, a run at a time, with the run in front of each line."""
    yield SENTENCES_HEAD
    for run in runs:
        path = run / SENTENCES
        try:
            rows = [[int(row[name]) for name in schema.COUNTED] for row in run_rows(path)]
            from_rows(np.array(rows, dtype=np.int64))
        except (ValueError, KeyError, OverflowError) as error:
            raise damaged(path, error) from None
        yield "".join(f"{run.name},{','.join(map(str, row))}\n" for row in rows).encode()


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


def run_lines(path: Path, otherwise: str = "make it again") -> list[list[str]]:
    """The rows of a run's CSV file, which has some, each as long as the first line, with it.

    ``otherwise`` is the way out where the file is of a bundle. Any other file is a ``UserError``.
    """
    try:
        text = read_checked(path, otherwise).decode()
        head, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error, otherwise) from None
    if not rows:
        raise damaged(path, "it is empty", otherwise)
    for place, row in enumerate(rows, 1):
        if len(row) != len(head):
            raise damaged(path, f"row {place} is not whole", otherwise)
    return [head, *rows]


def run_rows(path: Path, otherwise: str = "make it again") -> Iterator[dict[str, str]]:
    """The same, by column."""
    head, *rows = run_lines(path, otherwise)
    yield from (dict(zip(head, row, strict=True)) for row in rows)


def environment(runs: Sequence[Path], found: Found | None = None) -> dict[str, Any]:
    """The version, each run's settings and what it ran on, and what else was in their store.

    ``found`` is what the one store holds, where that is known.
    """
    stores = [found] if found else [find_runs(store) for store in _stores(runs)]
    known = {run: held for each in stores for run, held in each.described.items()}
    described = {run: known.get(run) or describe(run) for run in runs}
    return {
        "schema": schema.VERSION,
        "runs": {
            run.name: {"settings": held.settings, "environment": held.environment}
            for run, held in described.items()
        },
        "unfinished": {run.name: _unfinished(run) for each in stores for run in each.unfinished},
        "other_versions": sum(len(each.other_versions) for each in stores),
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


def as_json(values: Any) -> str:
    """As a bundle's files have JSON: one line, no blanks."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
