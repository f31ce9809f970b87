"""The rules of the claims that runs decide: the lecture's two tables, C1, C10 and C12.

Intervals are 95 % percentile bootstrap intervals over test sentences, of the mean over seeds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import Estimate, difference, percent_change
from .verdict import FLOOR_BLEU, LEAST_BASE, Judgement, Measured, small_buckets, unlearned

SHORT_LITTLE, SHORT_SOME = 10.0, 25.0
CLEAR_CORRELATION, LENGTH_POINTS, LEAST_SHARE = -0.8, 5.0, 0.1
BLEU, SIGNED = "{:z.2f}", "{:+z.2f}"
"""Formats of a difference in BLEU; signed where no word gives its direction."""
RULES: dict[str, tuple[str, Callable[..., Judgement | str]]] = {}
"""For each claim, its rule in words and the function that judges by it."""


@dataclass(frozen=True, eq=False)
class Bucket:
    """An arm's scores on the ``n`` test sentences of one length bucket: means over seeds.

    ``source_words`` is the mean length, nan for an empty bucket. ``compression_ratio`` (L4) is that
    times embedding size / context size. BLEU is 0 to 100, ``brevity`` is its brevity penalty.
    """

    name: str
    n: int
    source_words: float
    context_size: int
    compression_ratio: float
    bleu: Estimate
    by_seed: Float[ndarray, "seeds"]
    brevity: float


class Row(NamedTuple):
    """One bucket of up to three arms; ``twice``: without attention, twice the updates."""

    name: str
    none: Bucket
    attention: Bucket | None = None
    twice: Bucket | None = None

    @property
    def gain(self) -> Estimate:
        """Attention minus none, in BLEU."""
        return difference(self.attention.bleu, self.none.bleu)


def rule(claim: str, words: str, judge: Callable | None = None) -> Callable:
    """Register a function as the rule of a claim; a decorator without ``judge``."""
    if judge is None:
        return partial(rule, claim, words)
    RULES[claim] = words, judge
    return judge


@rule(
    "L-FAIL",
    "Held if BLEU without attention falls from the first to the last filled bucket by an amount "
    "whose 95 % interval lies above 0 and no step between neighbouring buckets is a rise whose "
    "interval lies above 0 (a step whose interval contains 0 is a tie, which is allowed); "
    "partly if the whole fall is clear of 0 but some step is a clear rise; otherwise not "
    f"held. Not measured if BLEU in the first filled bucket is under {FLOOR_BLEU:g}: what has "
    "not been learned cannot get worse.",
)
def _failure_pattern(rows: Sequence[Row]) -> Judgement | str:
    first, last = rows[0].name, rows[-1].name
    if not rows[0].none.bleu.value >= FLOOR_BLEU:
        return unlearned("without attention", first)
    fall = difference(rows[0].none.bleu, rows[-1].none.bleu)
    rises = {}
    for before, after in pairwise(rows):
        step = difference(after.none.bleu, before.none.bleu)
        if step.low > 0:
            rises[f"{before.name} to {after.name}"] = step
    clauses = [
        f"from {first} to {last} BLEU without attention "
        + fall.change("falls by {}", "rises by {}", BLEU),
        _listed("clear rises", rises, BLEU),
    ]
    name = f"fall of BLEU without attention, {first} to {last}"
    return Judgement(fall.low > 0 and not rises, fall.low > 0, clauses, name, fall)


@rule(
    "L-VIND",
    "Held if attention minus none, in BLEU, has a 95 % interval above 0 in the longest filled "
    "bucket, the interaction (gain in the longest minus gain in the shortest) has one above 0, "
    "and no bucket's gain has one below 0; partly if the gain in the longest bucket is clear "
    "of 0 but another condition fails; otherwise not held. Not measured if "
    f"attention's BLEU is under {FLOOR_BLEU:g} in every bucket.",
)
def _vindication(rows: Sequence[Row]) -> Judgement | str:
    shortest, longest = rows[0].name, rows[-1].name
    gains = {row.name: row.gain for row in rows}
    more = difference(gains[longest], gains[shortest])
    losses = {name: gain for name, gain in gains.items() if gain.high < 0}
    by = f"the gain in {shortest} by {{}}"
    clauses = [
        f"the gain in {longest} is {gains[longest].text(BLEU)}",
        more.change(f"it exceeds {by}", f"it falls short of {by}", BLEU),
        _listed("clear losses", losses),
    ]
    clear, name = gains[longest].low > 0, f"attention minus none, BLEU, {longest}"
    fully = clear and more.low > 0 and not losses
    return Judgement(fully, clear, clauses, name, gains[longest])


@rule(
    "L-VIND-short",
    "The rule reads attention minus none as a share of attention's BLEU in the shortest filled "
    f"bucket. Held if its 95 % interval lies below {SHORT_LITTLE:g} %; partly if it lies below "
    f"{SHORT_SOME:g} %; otherwise not held. Not measured as for L-VIND.",
)
def _vindication_short(rows: Sequence[Row]) -> Judgement | str:
    shortest = rows[0]
    fall = percent_change(shortest.none.bleu, shortest.attention.bleu)
    share = Measured(-fall.value, -fall.high, -fall.low)
    gain = shortest.gain.change("adds {} BLEU", "costs {} BLEU", BLEU)
    of_its = share.change("{}", "{}", "{:z.1f}", " %")
    clause = f"in {shortest.name} attention {gain}, {of_its} of its BLEU"
    name = f"gain as a share of attention's BLEU, per cent, {shortest.name}"
    return Judgement(share.high < SHORT_LITTLE, share.high < SHORT_SOME, [clause], name, share)


@rule(
    "L-VIND-rising",
    "The rule reads the improvement in per cent of the BLEU without attention, by bucket. Held "
    "if every step between neighbouring filled buckets, and the whole rise, has a 95 % interval "
    "above 0; partly if the rise from the first to the last is clear of 0 and no step is a "
    "fall whose interval lies below 0; otherwise not held. Not measured as for L-VIND, or if "
    f"BLEU without attention is under {LEAST_BASE:g} in some bucket.",
)
def _vindication_rising(rows: Sequence[Row]) -> Judgement | str:
    if low := [row.name for row in rows if row.none.bleu.value < LEAST_BASE]:
        return f"BLEU without attention is under {LEAST_BASE:g} in {', '.join(low)}"
    improvements = {row.name: percent_change(row.attention.bleu, row.none.bleu) for row in rows}
    changes = list(improvements.values())
    rise = difference(changes[-1], changes[0])
    steps = {
        f"{first} to {second}": difference(improvements[second], improvements[first])
        for first, second in pairwise(improvements)
    }
    falls = {name: step for name, step in steps.items() if step.high < 0}
    clauses = [
        "the improvement is " + ", ".join(f"{change.value:+.0f} %" for change in changes),
        _listed("clear falls", falls),
    ]
    name = f"improvement, percentage points, {rows[-1].name} minus {rows[0].name}"
    partly, rises = rise.low > 0 and not falls, all(step.low > 0 for step in steps.values())
    return Judgement(partly and rises, partly, clauses, name, rise)


@rule(
    "L-VIND-largest",
    "The worst buckets are those whose BLEU without attention is the lowest or tied with it "
    "(the 95 % interval of the difference is not above 0); the top buckets are those whose "
    "gain is the largest or tied with it. Not held if no top bucket is a worst one, if every "
    "bucket is a worst one, or if the largest gain is not clear of 0; else held if every top "
    "bucket is a worst one, partly if only some are. Not measured as for L-VIND.",
)
def _vindication_largest(rows: Sequence[Row]) -> Judgement | str:
    gains = {row.name: row.gain for row in rows}
    losses = {row.name: Estimate(-row.none.bleu.value, -row.none.bleu.draws) for row in rows}
    groups = []  # the largest, then in bucket order those that it does not clearly exceed
    for estimates in (gains, losses):
        most = max(estimates, key=lambda name: estimates[name].value)
        gaps = {name: difference(estimates[most], other) for name, other in estimates.items()}
        groups.append([most, *(n for n in gaps if n != most and not gaps[n].low > 0)])
    top, worst = groups
    best = gains[top[0]]
    ties = [f", tied with {', '.join(names[1:])}" if names[1:] else "" for names in groups]
    clauses = [
        f"the largest gain is in {top[0]} ({best.text(BLEU)}){ties[0]}",
        f"BLEU without attention is lowest in {worst[0]}{ties[1]}",
    ]
    some = best.low > 0 and len(worst) < len(rows) and not set(top).isdisjoint(worst)
    fully = some and set(top) <= set(worst)
    return Judgement(fully, some, clauses, f"the largest gain, BLEU, {top[0]}", best)


def _listed(title: str, estimates: Mapping[str, Estimate], form: str = SIGNED) -> str:
    listed = ", ".join(f"{name} ({estimate.text(form)})" for name, estimate in estimates.items())
    return f"{title}: {listed}" if listed else ""


@rule(
    "C1",
    "The rule reads BLEU without attention in all cells (context size x filled bucket), of the "
    "first arm and those that differ from it only in context size. Held if the 95 % interval of "
    "its Spearman rank correlation with the compression ratio lies below "
    f"{CLEAR_CORRELATION}, and length adds under {LENGTH_POINTS:g} points to the R2 of the ratio "
    "(R2 of BLEU's rank by the ratio's rank, and by both ranks); partly if only the correlation "
    "holds; otherwise not held. Not measured with fewer than two context sizes or filled buckets, "
    f"or if BLEU is under {FLOOR_BLEU:g} in every cell or the same in all. A resample in which all "
    "cells score the same counts as no correlation.",
)
def _compression_predicts_loss(cells: Sequence[Bucket]) -> Judgement | str:
    rows = [cell for cell in cells if cell.bleu.filled]
    sizes, buckets = ({getattr(row, name) for row in rows} for name in ("context_size", "name"))
    if len(sizes) < 2 or len(buckets) < 2:
        return (
            "two context sizes and two filled length buckets are needed; there are "
            f"{len(sizes)} and {len(buckets)}"
        )
    if np.ptp(np.round([row.bleu.value for row in rows], 9)) == 0:
        return f"BLEU is {rows[0].bleu.value:.1f} in every cell: there is no order to judge"
    if not any(row.bleu.value >= FLOOR_BLEU for row in rows):
        return unlearned("without attention", "every cell")

    columns = ["compression_ratio", "source_words"]
    ranks = pd.DataFrame(rows)[columns].rank()
    # Row 0 is the test set's BLEU, the others are resamples'; rounding keeps equal cells tied.
    bleu = np.stack([np.array([row.bleu.value, *row.bleu.draws]) for row in rows], axis=-1)
    order = pd.DataFrame(np.round(bleu, 9)).rank(axis=1)
    # A row in which all cells score the same has no correlation.
    with np.errstate(invalid="ignore", divide="ignore"):
        by_ratio, by_length = (
            order.corrwith(ranks[name], axis=1).fillna(0.0).to_numpy() for name in columns
        )
    # Of the variance of BLEU's rank, in per cent: what the ratio explains (r_ratio^2), and what
    # length adds to it (its squared part correlation, (r_l - r_ratio r)^2 / (1 - r^2)).
    common = ranks.corr().iloc[0, 1]
    added = 100 * ((by_length - by_ratio * common) ** 2 / (1 - common**2))
    rank, length_points = (Estimate(float(row[0]), row[1:]) for row in (by_ratio, added))

    clauses = [
        f"over {len(rows)} cells of {len(sizes)} context sizes the rank correlation of BLEU with "
        f"the compression ratio is {rank.text('{:.3f}')}",
        f"of the variance of BLEU's rank the ratio explains {100 * rank.value**2:.1f} %, and "
        f"length adds {length_points.text()} points",
        # A bucket has the same sentences at every context size.
        small_buckets({row.name: row.n for row in rows}),
    ]
    partly = rank.high < CLEAR_CORRELATION
    fully = partly and length_points.value < LENGTH_POINTS
    return Judgement(fully, partly, clauses, "rank correlation of BLEU with the ratio", rank)


@rule(
    "C10",
    "The rule reads the first arm with attention (not uniform) in the longest filled bucket. Every "
    "comparison is paired by test sentence and seed. It is clear if its 95 % interval lies above "
    "0, without correction for the number of comparisons. Held if attention is clearly above "
    "uniform weights, above every control without attention on the same test sentences (the "
    "baseline, and groups such as twice the training), and, in every group that has both arms (but "
    "twice the training), above the arm without attention; partly if it is clearly above uniform "
    "weights but not above all the others, or above all the others but not above uniform weights; "
    "otherwise not held. Not measured without uniform weights, without another control besides the "
    f"baseline, or if attention's BLEU is under {FLOOR_BLEU:g}.",
)
def _selection_beats_compression(
    attention: Bucket,
    controls: Mapping[str, tuple[Estimate, Estimate]],
    variations: Mapping[str, Estimate],
    lacking: Sequence[str] = (),
) -> Judgement | str:
    """``controls``: by name, a control's BLEU and attention's on the same sentences and seeds.

    ``variations``: by name, attention minus none where both arms have the same change.
    """
    gains = {name: difference(arm, bleu) for name, (bleu, arm) in controls.items()}
    if not {"uniform weights"} < set(gains) - {"no attention"}:
        return "besides the two arms, uniform weights and another control must be trained"
    bucket = attention.name
    if not attention.bleu.value >= FLOOR_BLEU:
        return unlearned("with attention", bucket)
    best, *others = sorted(controls, key=lambda name: -controls[name][0].value)

    clauses = [
        f"in {bucket} attention has {attention.bleu.value:.1f} BLEU, "
        + gains[best].change("{} more than", "{} less than", BLEU)
        + f" the best control, {best} ({controls[best][0].value:.1f})",
        _listed("attention minus", {name: gains[name] for name in others}),
        _listed("attention minus none if both arms have the same change", variations),
        f"not tried: {', '.join(lacking)}" if lacking else "",
        small_buckets({bucket: attention.n}),
    ]
    name = f"attention minus {best}, BLEU, {bucket}"
    number = gains[best]
    uniform = gains.pop("uniform weights").low > 0
    clear = all(gain.low > 0 for gain in (*variations.values(), *gains.values()))
    return Judgement(uniform and clear, uniform or clear, clauses, name, number)


@rule(
    "C12",
    "The rule compares BLEU without attention after the usual and after twice the updates, by "
    "bucket, with the same seeds, paired by test sentence. Held if in the longest filled bucket "
    "twice the updates add an amount whose 95 % interval lies above 0, and at least "
    f"{LEAST_SHARE:.0%} of what attention adds there with the usual updates; partly if they add "
    "an amount whose interval lies above 0 there or in another filled bucket; otherwise not held. "
    f"Not measured without such runs or without attention, if BLEU is under {FLOOR_BLEU:g} in "
    "every bucket after twice the updates, or if the interval of what attention adds in the "
    "longest bucket is not above 0: then there is no loss to explain.",
)
def _training_moves_curve(buckets: Sequence[Row]) -> Judgement | str:
    rows = [row for row in buckets if row.none.bleu.filled]
    if not any(row.twice.bleu.value >= FLOOR_BLEU for row in rows):
        return unlearned("without attention, even after twice the updates,", "every bucket")
    bucket, gap = rows[-1].name, rows[-1].gain
    if not gap.low > 0:
        return (
            f"what attention adds in {bucket} is not clear of 0 ({gap.text(SIGNED)}): there is no "
            "loss to explain"
        )
    moves = {row.name: difference(row.twice.bleu, row.none.bleu) for row in rows}
    partly, move = any(move.low > 0 for move in moves.values()), moves.pop(bucket)
    share = move.value / gap.value
    clauses = [
        f"in {bucket} without attention twice the updates "
        + move.change("add {} BLEU", "take away {} BLEU", BLEU)
        + f", {share:z.1%} of what attention adds ({gap.text(BLEU)})",
        _listed("what they add in the others", moves),
        small_buckets({row.name: row.none.n for row in rows}),
    ]
    fully, name = move.low > 0 and share >= LEAST_SHARE, "what twice the updates add to none"
    return Judgement(fully, partly, clauses, f"{name}, BLEU, {bucket}", move)
