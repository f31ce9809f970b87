"""Whether the tables of results agree and can be: they may have been mended by hand.

What a disk or a crash does to a file its checksum tells. Where somebody set that right as well, a
number out of its range, a row twice, or rows that count other sentences than there are do.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.buckets import bucket_labels
from . import schema
from .columns import FILLED as SETTINGS
from .columns import columns_of_settings
from .counts import Counts
from .described import AGAIN
from .folders import damaged

FILLED = (*schema.FILLED, *SETTINGS)
"""Columns of ``runs.csv`` without blanks."""
ROUNDED = 1 + 1e-9
"""Of what may stand above its highest by the last digit."""


def checked_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The same rows of ``runs.csv``, of which there are some.

    A ``ValueError`` where a row is there twice, lacks something or has what cannot be.
    """
    if runs.empty:
        raise ValueError("no rows")
    for name in FILLED:
        if runs[name].hasnans or (runs[name] == "").any():
            raise ValueError(f"a row has no {name!r}")
    for name, highest in schema.HIGHEST.items():
        if (runs[name] < 0).any() or (runs[name] > highest * ROUNDED).any():
            raise ValueError(f"a row's {name!r} is out of range")
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


def check_settings(runs: pd.DataFrame, held: Mapping[str, Any], path: Path) -> None:
    """Rows with other settings than a bundle's description has of their run are a ``UserError``.

    ``held`` are the described runs by name; ``path`` is the file of the rows.
    """
    places, names = pd.factorize(runs["run"])
    columns = columns_of_settings([held[run]["settings"] for run in names])
    columns["corpus_fingerprint"] = [
        held[run]["environment"].get("fingerprint", "") for run in names
    ]
    first = np.unique(places, return_index=True)[1]
    for name in (*schema.SETTING_COLUMNS, "corpus_fingerprint"):
        rows = pd.factorize(runs[name], use_na_sentinel=False)[0]
        other = rows != rows[first][places]
        if name in columns:  # others follow from several settings
            other[first] |= _differ(runs[name].iloc[first], columns[name])
        if other.any():
            run = runs["run"].iloc[other.argmax()]
            reason = f"of run {run} another {name!r} than {schema.ENVIRONMENT} has"
            raise damaged(path, reason, AGAIN)


def _differ(ours: pd.Series, described: Sequence[Any]) -> np.ndarray:
    """Which values are not as described; a blank is as described where that is None."""
    held = ours.to_numpy(dtype="object", copy=True)
    held[ours.isna().to_numpy()] = None  # what pandas has for a blank is equal to nothing
    return held != pd.Series(described, dtype="object").to_numpy()


def checked_learning(rows: pd.DataFrame) -> pd.DataFrame:
    """The same rows of ``learning.csv``.

    A ``ValueError`` where one is there twice or has what cannot be.
    """
    for name in ("update", "sentences", "tokens", "loss", "standard_error"):
        if (rows[name] < 0).any() or (rows[name] > schema.FINITE).any():
            raise ValueError(f"a row's {name!r} is out of range")
    return without_repeats(rows, schema.LEARNING_KEY)


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
