"""The counts of the test sentences: of each, what the tables need, as small arrays by run.

Of ``sentences.csv.gz`` and of a run's ``sentences.csv`` that are the words of the source and the
ten counts of BLEU. A bundle has them a second time in ``sentences.safetensors``, which is read in a
moment where the CSV of thousands of runs takes many; it counts as long as it belongs to the CSV
that lies beside it, and is whole.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Integer
from numpy import ndarray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..settings.concerns import COUNT
from .digits import fields_of, runs_of_rows, whole_numbers
from .schema import BLEU_COLUMNS, COUNTED

ABOUT = "about"
BLOCK = 2**22
"""Bytes of text that are read at a time."""

Rows = Integer[ndarray, "sentences columns"]
"""Rows of `COUNTED`."""


@dataclass(frozen=True, eq=False)
class Counts:
    """A run's test sentences in their order: words of the source, and the statistics of BLEU."""

    words: Integer[ndarray, "sentences"]
    statistics: Integer[ndarray, "sentences 10"]


def from_rows(rows: Rows) -> Counts:
    """The rows of a run, put in order.

    A ``ValueError`` where a count is below zero, or a sentence there twice.
    """
    if rows.min(initial=0) < 0:
        raise ValueError("a count is below zero")
    if (np.diff(rows[:, 0]) < 0).any():
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
    if (np.diff(rows[:, 0]) == 0).any():
        raise ValueError("a sentence is there twice")
    _check_possible(rows)
    return _counts(rows[:, 1:].T.astype(np.min_scalar_type(rows[:, 1:].max(initial=0)), order="C"))


def _check_possible(rows: Rows) -> None:
    """A ``ValueError`` where more n-grams are right than there are, or another number than can be.

    A text of h tokens has h - n + 1, or none.
    """
    names = list(COUNTED)
    tokens, first = rows[:, names.index("hypothesis_tokens")], names.index("correct_1")
    for n in range(1, 5):
        correct, total = rows[:, first + n - 1], rows[:, first + 4 + n - 1]
        if (total != np.maximum(tokens - n + 1, 0)).any() or (correct > total).any():
            raise ValueError(f"of some sentence not as many {n}-grams as there can be")
    if rows.max(initial=0) > COUNT:
        raise ValueError("a count is too large")


def _counts(columns: Integer[ndarray, "11 sentences"]) -> Counts:
    """From words and statistics, a row each; they are not to change, for estimates are kept."""
    columns.flags.writeable = False
    return Counts(columns[0], columns[1:].T)


def run_counts(text: bytes) -> Counts:
    """Read a run's ``sentences.csv``; a ``ValueError`` if it is not as the program writes it."""
    head, _, body = text.partition(b"\n")
    names = columns_of(head, COUNTED)
    rows = whole_numbers(fields_of(body, len(names)), list(map(names.index, COUNTED)))
    if not len(rows):
        raise ValueError("no rows")
    return from_rows(rows)


def read_bundle(path: Path) -> dict[str, Counts]:
    """Read ``sentences.csv.gz``, the runs in their order; errors as of `run_counts`."""
    parts: dict[str, list[Rows]] = {}
    with gzip.open(path) as file:
        names = columns_of(file.readline().rstrip(b"\n"), ("run", *COUNTED))
        places = list(map(names.index, COUNTED))
        for block in _blocks(file):
            fields = fields_of(block, len(names))
            rows = whole_numbers(fields, places)
            for run, first, last in runs_of_rows(fields):
                parts.setdefault(run, []).append(rows[first:last])
    return {run: from_rows(np.concatenate(held)) for run, held in parts.items()}


def columns_of(head: bytes, wanted: Iterable[str]) -> list[str]:
    """The columns of a CSV file's first line.

    A ``ValueError`` where it has not all that are wanted.
    """
    names = head.decode("utf8").split(",")
    if not set(wanted) <= set(names):
        raise ValueError("a column is missing")
    return names


def _blocks(file: gzip.GzipFile) -> Iterator[bytes]:
    """Whole lines, many at a time."""
    rest = b""
    while block := file.read(BLOCK):
        lines, end, rest = (rest + block).rpartition(b"\n")
        yield lines + end
    if rest:
        raise ValueError("the last line is not whole")


def packed(counts: Mapping[str, Counts], csv: str) -> bytes:
    """The counts of runs as a safetensors file that belongs to a CSV file of this `digest`."""
    columns = [np.vstack([held.words, held.statistics.T]) for held in counts.values()]
    lengths = np.array([held.shape[1] for held in columns], dtype=np.int64)
    flat = np.concatenate([held.ravel() for held in columns])
    names = json.dumps(list(counts))
    about = {"runs": names, "csv": csv, "sha256": _check(names, lengths, flat)}
    # Under one name: several come out in another order each time, and so other bytes.
    return save({"lengths": lengths, "counts": flat}, {ABOUT: json.dumps(about)})


def unpacked(path: Path, csv: str) -> dict[str, Counts] | None:
    """What `packed` made; None if it is not there, is damaged, or is of another CSV file."""
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(ABOUT, "{}"))
            if not isinstance(about, dict) or about.get("csv") != csv:
                return None
            lengths, flat = file.get_tensor("lengths"), file.get_tensor("counts")
    except (OSError, ValueError, SafetensorError):
        return None
    names = about.get("runs", "")
    if about.get("sha256") != _check(names, lengths, flat):
        return None
    width = 1 + len(BLEU_COLUMNS)
    held = np.split(flat, width * np.cumsum(lengths)[:-1])
    runs = json.loads(names)
    return {run: _counts(each.reshape(width, -1)) for run, each in zip(runs, held, strict=True)}


def digest(path: Path) -> str:
    """By which a file is told from any other: its SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(names: str, lengths: ndarray, flat: ndarray) -> str:
    held = hashlib.sha256(names.encode("utf8"))
    for array in (lengths, flat):
        held.update(np.ascontiguousarray(array).data)
    return held.hexdigest()
