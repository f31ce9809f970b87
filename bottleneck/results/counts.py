"""The counts of the test sentences: of each, what the tables need, as small arrays by run.

Of ``sentences.csv.gz`` and of a run's ``sentences.csv`` that are the words of the source and the
ten counts of BLEU.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer
from numpy import ndarray

from ..settings.concerns import COUNT
from .schema import COUNTED

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
