"""C4: how many of the context's numbers are in use ("capacity used: 200 of 256").

Measured are the contexts h_Tx of new sentences, for every arm: without attention they are all that
the decoder gets, with it they are what its first state is made of. The untrained encoder is the
same network with the weights that it began with, reading the same sentences.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..probes.dimensions import (
    GROUPS,
    WANTED,
    Dimensions,
    Jackknifed,
    difference,
    dimensions,
    half_of,
)
from ..probes.dimensions import mean as mean_over_seeds
from ..questions.arms import Arm, arms_of
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject
from .encoding import contexts
from .fresh import fresh_sentences

SEED = 1
"""Of the groups and halves: the same for every run, so that all are paired."""
FEWEST = 4 * GROUPS
"""Sentences under which a bucket's half cannot be cut into groups of two."""
MEASURES = ("components", "participation_ratio", "effective_rank")
Key = tuple[str, str, str, str]
"""Control (``trained`` or ``untrained``), bucket, part (``all`` sentences or ``half``), measure."""
BLANK = ("trained", "all")
"""What is kept in words and is blank in the study's table: a column of blanks alone would be read
as numbers."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """The measures of every bucket, trained and untrained, of all sentences and of half."""
    return measure(subject, tell, WANTED)


def measure(subject: Subject, tell: Tell, wanted: int) -> Columns:
    """With so many sentences a bucket; a row a number, and that number without each group."""
    tell("drawing sentences")
    held = list(zip(subject.buckets.names, fresh_sentences(subject, wanted), strict=True))
    rows: list[Row] = []
    for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        for bucket, pairs in held:
            tell(f"{control} contexts, {bucket} words")
            if len(pairs) >= FEWEST:
                found = contexts(subject, weights, pairs)
                rows += _measured(control, bucket, "all", found)
                rows += _measured(control, bucket, "half", half_of(found, seed=SEED))
            else:
                rows += [_row(control, bucket, "all", name, len(pairs), None) for name in MEASURES]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _measured(control: str, bucket: str, part: str, found: np.ndarray) -> list[Row]:
    measured = dimensions(found, seed=SEED)
    return [_row(control, bucket, part, name, len(found), measured) for name in MEASURES]


def _row(
    control: str, bucket: str, part: str, name: str, n: int, measured: Dimensions | None
) -> Row:
    """One measure as it is kept; numbers are blank where there were too few sentences."""
    held = Jackknifed(np.nan, np.full(GROUPS, np.nan))
    if measured is not None:
        held = getattr(measured, name)
    keys = {"control": control, "bucket": bucket, "part": part, "measure": name}
    left_out = {f"without_{group}": value for group, value in enumerate(held.left_out.tolist())}
    return keys | {"n": n, "value": held.value} | left_out


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm, and what training adds to it (``..._added``)."""
    return [row for arm in arms_of(probed) for row in _rows(arm)]


def _rows(arm: Arm) -> Iterator[Row]:
    runs = [_read(run) for run in arm.runs]
    for key, n in _sizes(arm.runs[0]).items():
        control, bucket, part, name = ("" if each in BLANK else each for each in key)
        numbers = [run[key] for run in runs]
        yield from _numbers(arm, name, numbers, control=control, bucket=bucket, part=part, n=n)
        if not control:
            pairs = [(run[key], run["untrained", *key[1:]]) for run in runs]
            added = [difference(*pair) for pair in pairs]
            yield from _numbers(arm, f"{name}_added", added, bucket=bucket, part=part, n=n)


def _numbers(arm: Arm, measure: str, seeds: list[Jackknifed], **others: str | int) -> Iterator[Row]:
    """The mean over seeds with its interval, then a row a seed."""
    found = mean_over_seeds(seeds)
    ends = {"low": found.interval.low, "high": found.interval.high}
    yield arm.row(measure, found.value, **ends, **others)
    for run, one in zip(arm.runs, seeds, strict=True):
        yield arm.seed_row(run, measure, one.value, **others)


def _keys(run: Probed) -> list[Key]:
    columns = (run.found[name].tolist() for name in ("control", "bucket", "part", "measure"))
    return list(zip(*columns, strict=True))


def _sizes(run: Probed) -> dict[Key, int]:
    return dict(zip(_keys(run), map(int, run.found["n"]), strict=True))


def _read(run: Probed) -> dict[Key, Jackknifed]:
    left_out = np.stack([run.found[f"without_{group}"] for group in range(GROUPS)], axis=1)
    held = zip(_keys(run), run.found["value"], left_out, strict=True)
    return {key: Jackknifed(float(value), without) for key, value, without in held}


STUDY = Study(
    name="dimensions",
    ids=("C4", "L14"),
    question="How many of the context's numbers are in use: 200 of 256, as the slide says?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
)
