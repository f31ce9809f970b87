"""C11: does one network serve any length, in and out? The lengths of its outputs tell.

A loop is one or more tokens that are repeated at least three times in a row. References can loop,
too (". . ."), so they have a column.
"""

import re
from collections.abc import Sequence

from ..claims.verdict import small_buckets
from ..corpus.vocabulary import tokenize
from ..results.bundle import read_table
from ..results.folders import read_texts
from ..scoring.bootstrap import ratio_of_sums
from .arms import Estimates, rows_by_bucket
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

FAULTS = ("empty", "unfinished", "repeating", "repeating_references")
"""Measures that are shares of the sentences, 0 to 1."""
RATIO, MOST_FAULTS, ENOUGH = (0.9, 1.1), 0.05, 0.5
"""Range of the length ratio; most faulty outputs, fewest handled buckets, as shares (0 to 1)."""


def probe(subject: Subject) -> Columns:
    """Count tokens and faults of every test sentence, in the run's own translations."""
    subject.tell("counting")
    texts = read_texts(subject.folder)
    rows = read_table(subject.folder / "sentences.csv", {"source_words": "i8", "ended": "bool"})
    outputs, references = ([*map(tokenize, texts[name])] for name in ("hypothesis", "reference"))
    columns = {
        "source_words": rows["source_words"],
        "sentences": [1] * len(rows),
        "hypothesis_tokens": map(len, outputs),
        "reference_tokens": map(len, references),
        "empty": [not output for output in outputs],
        "unfinished": ~rows["ended"],
        "repeating": map(repeats, outputs),
        "repeating_references": map(repeats, references),
    }
    return {name: [*map(int, column)] for name, column in columns.items()}


def repeats(tokens: Sequence[str]) -> bool:
    """Whether there is a loop."""
    return re.search(r"(?<![^ ])((?:[^ ]+ )+)\1\1", " ".join([*tokens, ""])) is not None


def judge(estimates: Estimates) -> Judgement | str:
    """C11: outputs are as long as they should be, whatever the length."""
    ratios, failed = {}, []
    for arm in estimates.selective:
        for bucket, ratio in estimates.by_bucket("length_ratio", arm).items():
            ratios[arm, bucket] = ratio
            empty, unfinished, repeating, of_references = (
                estimates.get(fault, arm, bucket) for fault in FAULTS
            )
            most = max(empty.high, unfinished.high, repeating.high - of_references.value)
            inside = RATIO[0] <= ratio.low and ratio.high <= RATIO[1]
            if not (inside and most < MOST_FAULTS):
                failed.append(f"{bucket} ({arm})")
    if len({bucket for _, bucket in ratios}) < 2:
        return "fewer than two buckets of an arm with attention are filled"
    arm, bucket = max(ratios, key=lambda key: abs(ratios[key].value - 1))
    worst, share = ratios[arm, bucket], 1 - len(failed) / len(ratios)
    clauses = [
        f"{len(ratios) - len(failed)} of {len(ratios)} length buckets are handled"
        + (f", not {', '.join(failed)}" if failed else ""),
        f"the length ratio furthest from 1 is {worst.text('{:.2f}')} ({arm}, {bucket})",
        small_buckets({name: ratio.n for (_, name), ratio in ratios.items()}),
    ]
    measure = f"length ratio furthest from 1 ({arm}, {bucket})"
    return Judgement(not failed, share >= ENOUGH, clauses, measure, worst)


QUESTION = Question(
    name="length",
    question="Does one network serve any length: are long outputs as long as they should be? (C11)",
    title="Output length (C11)",
    probe=probe,
    summarise=lambda probed: rows_by_bucket(probed, [
        ("length_ratio", "", ratio_of_sums, ("hypothesis_tokens", "reference_tokens")),
        *((fault, "", ratio_of_sums, (fault, "sentences")) for fault in FAULTS),
    ]),
    rules={"C11": (
        "An arm handles a bucket if the 95 % interval of its length ratio (output tokens per "
        f"reference token) lies within {RATIO[0]:g} to {RATIO[1]:g}, and its shares of empty, "
        "unfinished and repeating outputs (the last minus the references' share) are each under "
        f"{MOST_FAULTS:.0%} (upper ends of their intervals). Held if every arm with attention (not "
        f"uniform) handles every filled bucket; partly if at least {ENOUGH:.0%} of all pairs of "
        "arm and bucket are handled; otherwise not held. Not measured with fewer than two filled "
        "buckets.",
        judge,
    )},
    notes=[
        "Ratio: output tokens per reference token. Empty, unfinished (at the limit of tokens), "
        "repeating (a stretch of words three times in a row or more): % of the outputs; of refs: % "
        "of the references that repeat."
    ],
    tables=[
        StudyTable("Output length (C11)", [
            StudyColumn("ratio", "length_ratio", form="{:.2f}"),
            *(StudyColumn(head, fault, scale=100.0, ends="{:.2g}") for head, fault in
              zip(("empty", "un-\nfinished", "repeat-\ning", "of\nrefs"), FAULTS, strict=True)),
        ])
    ],
    axes=[Axes("Length of outputs", "output tokens / reference tokens", measure="length_ratio")],
)  # fmt: skip
