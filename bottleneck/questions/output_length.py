"""C11: does one network serve any length, in and out? What the lengths of its outputs say.

The verdict looks at what shows without a look at the words: whether outputs are as long as the
references, end by themselves, and do not loop. It is about the arms with attention.

A loop is a stretch of one or more tokens written at least three times in a row ("le chat le chat
le chat"). It reaches from its first token to the last that still equals the token one period
before, so a fourth copy that was begun is counted. References can loop too (". . ."), hence their
own column: what it shows is no fault of the translator.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, Verdict, marked, needs_learned, numbers
from ..corpus.tokens import tokenize
from ..results.folders import SENTENCES, read_texts, run_rows
from ..scoring.bootstrap import ratio_of_sums
from .estimates import Estimate, Estimates
from .question import (
    Axes,
    Column,
    Columns,
    Grid,
    Probed,
    Question,
    Row,
    Tell,
    grade,
    rows_by_bucket,
)

if TYPE_CHECKING:
    from .subject import Subject

COPIES = 3
"""How often in a row a stretch must be repeated to be a loop."""
COLUMNS = ("sentences", "hypothesis_tokens", "reference_tokens", "empty", "unfinished", "repeating",
           "looping_tokens", "repeating_references")  # fmt: skip
"""Counts of each test sentence; 0 or 1 where no tokens are named."""
FAULTS = ("empty", "unfinished", "repeating", "repeating_references")
"""Measures that are shares of the sentences, 0 to 1."""
RATIO = (0.9, 1.1)
MOST_FAULTS = 0.05
ENOUGH = 0.5
"""Ends of the length ratio; shares (0 to 1) of the outputs, and of the buckets."""
RULE = (
    "An arm handles a bucket if the 95 % interval of its length ratio (output tokens per reference "
    f"token) lies within {RATIO[0]:g} to {RATIO[1]:g}, and if the upper ends of the intervals of "
    "its shares of empty, of unfinished and of repeating outputs (the last minus the references' "
    f"own share) are each under {MOST_FAULTS:.0%}. Held if every arm with attention handles every "
    f"filled bucket; partly if they handle at least {ENOUGH:.0%} of them; otherwise not held. Arms "
    "without attention are reported and do not count. Not measured with fewer than two filled "
    f"buckets. {FAMILY} {needs_learned('none with attention')}"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Count tokens and faults of every test sentence, in the run's own translations."""
    tell("counting")
    texts = read_texts(subject.folder)
    rows = list(run_rows(subject.folder / SENTENCES))
    counts = length_statistics(
        [tokenize(text) for text in texts.hypotheses],
        [tokenize(text) for text in texts.references],
        np.array([row["ended"] == "True" for row in rows]),
    )
    words = np.array([int(row["source_words"]) for row in rows])
    return {"source_words": words} | dict(zip(COLUMNS, counts.T, strict=True))


def length_statistics(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    ended: Bool[ndarray, "sentences"],
) -> Int[ndarray, "sentences 8"]:
    """Count each sentence's `COLUMNS`; ``ended`` is whether the end token was produced.

    Tokens do not include the end token; an empty output may be finished (nothing but the end token)
    or not.
    """
    rows = []
    for hypothesis, reference, done in zip(hypotheses, references, ended.tolist(), strict=True):
        loops = int(in_loops(hypothesis).sum())
        faults = [not hypothesis, not done, loops > 0, loops, in_loops(reference).any()]
        rows.append([1, len(hypothesis), len(reference), *map(int, faults)])
    return np.array(rows, np.int64).reshape(len(rows), len(COLUMNS))


def in_loops(tokens: Sequence[str]) -> Bool[ndarray, "tokens"]:
    """Whether each token is part of a loop.

    With period n a loop is a run of at least (COPIES - 1) n places t with token t = token t + n.
    """
    inside = np.zeros(len(tokens), bool)
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    ids = np.array([numbers[token] for token in tokens], np.int64)
    for period in range(1, len(tokens) // COPIES + 1):
        equal = ids[:-period] == ids[period:]
        edges = np.flatnonzero(np.diff(equal, prepend=False, append=False))
        for start, stop in edges.reshape(-1, 2).tolist():
            if stop - start >= (COPIES - 1) * period:
                inside[start : stop + period] = True
    return inside


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm and bucket."""
    of = {
        "length_ratio": ("hypothesis_tokens", "reference_tokens"),
        "looping_tokens": ("looping_tokens", "hypothesis_tokens"),
    } | {fault: (fault, "sentences") for fault in FAULTS}
    order = ("length_ratio", "empty", "unfinished", "repeating", "looping_tokens", FAULTS[-1])
    return rows_by_bucket(probed, COLUMNS, {name: (ratio_of_sums, of[name]) for name in order})


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C11: outputs are as long as they should be, whatever the length."""
    reason = "the lengths of the outputs have not been counted: run `bottleneck study length`"
    if estimates is not None:
        reason = "no arm with attention was counted"
        if attending := _problems(estimates, selective=True):
            reason = "fewer than two buckets are filled"
            if len({bucket for _, bucket in attending}) > 1:
                return [_judge(estimates, attending)]
    return [Verdict("C11", "not measured", RULE, reason)]


def _problems(estimates: Estimates, selective: bool) -> dict[tuple[str, str], list[str]]:
    """Of each arm and filled bucket, what keeps the arm from handling the bucket."""
    problems = {}
    for arm in estimates.arms(selective):
        for bucket in estimates.buckets():
            ratio = estimates.get("length_ratio", arm, bucket)
            if ratio is None or not ratio.n:
                continue
            low, high = RATIO
            problem = [] if ratio.within(low, high) else [f"ratio {ratio.text('{:.2f}')}"]
            for fault in FAULTS[:-1]:
                share = estimates.get(fault, arm, bucket).high
                if fault == "repeating":
                    share -= estimates.get("repeating_references", arm, bucket).value
                if not share < MOST_FAULTS:
                    problem.append(f"{fault} up to {share:.0%}")
            problems[arm, bucket] = problem
    return problems


def _judge(estimates: Estimates, attending: dict[tuple[str, str], list[str]]) -> Verdict:
    ratios = {key: estimates.get("length_ratio", *key) for key in attending}
    arm, bucket = max(ratios, key=lambda key: abs(ratios[key].value - 1))
    worst: Estimate = ratios[arm, bucket]
    others = _problems(estimates, selective=False)
    small = {bucket: ratio.n for (_, bucket), ratio in ratios.items() if marked(ratio.n)}
    clauses = [
        _counts(attending, reasons=True),
        f"the length ratio furthest from 1 is {worst.text('{:.2f}')} ({arm}, {bucket})",
        f"without attention, {_counts(others)}" if others else "",
        f"under {MARKED_BELOW} sentences: "
        + ", ".join(f"{bucket} (n = {n})" for bucket, n in small.items())
        if small
        else "",
    ]
    share = sum(not problem for problem in attending.values()) / len(attending)
    name = f"length ratio furthest from 1 ({arm}, {bucket})"
    number = numbers(name, worst.value, worst.low, worst.high)
    because = "; ".join(filter(None, clauses))
    return Verdict("C11", grade(share == 1, share >= ENOUGH), RULE, because, **number)


def _counts(problems: dict[tuple[str, str], list[str]], reasons: bool = False) -> str:
    """``additive handles 4 of 5 length buckets, not 41+ (unfinished up to 7%)``, for each arm."""
    clauses = []
    for arm in dict.fromkeys(arm for arm, _ in problems):
        own = {bucket: problem for (name, bucket), problem in problems.items() if name == arm}
        failed = [f"{bucket} ({', '.join(reason)})" for bucket, reason in own.items() if reason]
        clause = f"{arm} handles {len(own) - len(failed)} of {len(own)} length buckets"
        clauses.append(f"{clause}, not {', '.join(failed)}" if failed and reasons else clause)
    return "; ".join(clauses) if reasons else ", ".join(clauses)


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, and what an interval of 0 to 0 leaves open."""
    lines = [
        "Ratio: output tokens per reference token. Empty, unfinished, repeating: % of the outputs. "
        "Unfinished outputs reached the limit of tokens; repeating ones have some stretch of words "
        "three times in a row or more; of refs: % of the references that do."
    ]
    means = frame[frame["seed"].isna() & frame["measure"].isin(FAULTS)]
    none = means[(means["high"] == 0) & (means["n"] > 0)]
    if len(none):
        least = int(none["n"].min())
        bound = min(300 / least, 100)
        lines.append(
            "An interval of 0.0 to 0.0 means that none of n was seen, and resampling can show no "
            f"more. By the rule of three (95 %) a share of up to 3 / n ({bound:.1f} "
            f"% where n is {least:,}) is still compatible with it."
        )
    return lines


QUESTION = Question(
    name="length",
    ids=("C11",),
    question="Does one network serve any length: are long outputs as long as they should be?",
    title="Output length (C11): is a long output as long as it should be?",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
    decide=decide,
    notes=notes,
    measures=("length_ratio", *FAULTS),
    grids=[
        Grid(
            "Output length (C11): is a long output as long as it should be?",
            [
                Column("ratio", "length_ratio", form="{:.2f}", ends="{:.2f}"),
                Column("empty", "empty", ends="{:.2g}", scale=100.0),
                Column("un-\nfinished", "unfinished", ends="{:.2g}", scale=100.0),
                Column("repeat-\ning", "repeating", ends="{:.2g}", scale=100.0),
                Column("of\nrefs", "repeating_references", ends="{:.2g}", scale=100.0),
            ],
        )
    ],
    figure="Is a long output as long as it should be?",
    axes=[
        Axes("Length of outputs", "length_ratio", "output tokens / reference tokens"),
        Axes("Outputs that repeat a stretch of words", "repeating", "% of outputs", 100.0, top=5.0),
    ],
)
