"""C11: the same network for any length in and out; what the outputs' lengths say of that."""

from collections.abc import Sequence

import numpy as np

from ..corpus.tokens import tokenize
from ..probes.output_length import (
    COLUMNS,
    length_ratio,
    length_statistics,
    looping_share,
    share_of_sentences,
)
from ..results.export import run_rows
from ..results.folders import SENTENCES
from ..results.outputs import read_texts
from .arms import Arm, arms_of, in_buckets
from .study import Columns, Probed, Row, Study, Tell
from .subject import Subject

SCORES = {
    "length_ratio": length_ratio,
    "empty": share_of_sentences("empty"),
    "unfinished": share_of_sentences("unfinished"),
    "repeating": share_of_sentences("repeating"),
    "looping_tokens": looping_share,
    "repeating_references": share_of_sentences("repeating_references"),
}
"""Measures by name: shares are from 0 to 1."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """The counts of every test sentence, from the run's own translations."""
    tell("counting")
    held = read_texts(subject.folder)
    rows = list(run_rows(subject.folder / SENTENCES))
    counts = length_statistics(
        [tokenize(text) for text in held.hypotheses],
        [tokenize(text) for text in held.references],
        np.array([row["ended"] == "True" for row in rows]),
    )
    words = np.array([int(row["source_words"]) for row in rows])
    return {"source_words": words} | dict(zip(COLUMNS, counts.T, strict=True))


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm and bucket."""
    return [row for arm in arms_of(probed) for row in _rows(arm)]


def _rows(arm: Arm) -> list[Row]:
    counts = np.stack([np.stack([run.found[name] for name in COLUMNS], axis=1) for run in arm.runs])
    return [
        row
        for place, bucket, inside in in_buckets(arm.runs[0], arm.runs[0].found["source_words"])
        for measure, score in SCORES.items()
        for row in arm.rows(measure, score, counts[:, inside], place=place, bucket=bucket)
    ]


STUDY = Study(
    name="length",
    ids=("C11",),
    question="Does one network serve any length: are long outputs as long as they should be?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
)
