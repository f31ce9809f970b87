"""Whether the tables of results agree and can be: they may have been mended by hand.

What a disk or a crash does to a file its checksum tells. Where somebody set that right as well, a
number out of its range, a row twice, or rows that count other sentences than there are do.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from ..settings.buckets import bucket_labels
from . import schema
from .columns import FILLED as SETTINGS
from .counts import Counts
from .described import AGAIN
from .folders import damaged

FILLED = (*schema.FILLED, *SETTINGS)
"""Columns of ``runs.csv`` without blanks."""
HIGHEST = 100 + 1e-9
"""Of a score, which is a product of rounded numbers."""


def checked_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The same rows of ``runs.csv``, of which there are some.

    A ``ValueError`` where a row is there twice, lacks something or has what cannot be.
    """
    if runs.empty:
        raise ValueError("no rows")
    for name in FILLED:
        if runs[name].hasnans or (runs[name] == "").any():
            raise ValueError(f"a row has no {name!r}")
    for name in schema.NOT_NEGATIVE:
        if (runs[name] < 0).any() or (runs[name] == np.inf).any():
            raise ValueError(f"a row's {name!r} is out of range")
    for name in schema.SCORES:
        if (runs[name] > HIGHEST).any() or (runs[name].isna() & (runs["n"] > 0)).any():
            raise ValueError(f"a row's {name!r} is no score from 0 to 100")
    for edges in runs["edges"].unique():
        _buckets(edges)
    return without_repeats(runs, ["run", "bucket"])


def without_repeats(rows: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """The same rows; a ``ValueError`` where two of them have the same ``key``."""
    twice = rows.loc[rows.duplicated(list(key)), list(key)]
    if len(twice):
        named = ", ".join(f"{name} {twice.iloc[0][name]}" for name in key)
        raise ValueError(f"{named}: two rows")
    return rows


def check_counted(
    runs: pd.DataFrame, sentences: Mapping[str, Counts], places: Mapping[str, Path] | Path
) -> None:
    """Rows that count other sentences in a bucket than a run has are a ``UserError``.

    ``places`` is the file of the sentences, or the one of each run.
    """
    for run, edges, counted in _by_run(runs):
        path = places if isinstance(places, Path) else places[run]
        if run not in sentences:
            raise damaged(path, f"nothing of run {run}", AGAIN)
        held = _in_buckets(sentences[run].words, edges)
        if held != counted:
            reason = f"of run {run} not the sentences that {schema.RUNS} counts"
            raise damaged(path, reason, AGAIN)


def _by_run(runs: pd.DataFrame) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Of each run its edges, and how many sentences its rows count by bucket."""
    counted: dict[str, dict[str, int]] = {}
    edges: dict[str, str] = {}
    columns = (runs[name].tolist() for name in ("run", "edges", "bucket", "n"))
    for run, own, bucket, n in zip(*columns, strict=True):
        counted.setdefault(run, {})[bucket] = n
        edges[run] = own
    yield from ((run, edges[run], held) for run, held in counted.items())


def _in_buckets(words: np.ndarray, edges: str) -> dict[str, int]:
    """How many sentences of so many words each bucket has."""
    lowest, names = _buckets(edges)
    places = np.searchsorted(lowest, words, side="right")
    counts = np.bincount(places, minlength=len(names) + 1)[1:]
    return dict(zip(names, counts.tolist(), strict=True))


@lru_cache
def _buckets(edges: str) -> tuple[np.ndarray, tuple[str, ...]]:
    lowest = tuple(int(edge) for edge in edges.split(","))
    return np.array(lowest), bucket_labels(lowest)
