"""Rules for the lecture's two tables (L-FAIL, L-VIND).

Every interval is a 95 % percentile bootstrap over test sentences of the mean over seeds; seeds are
not resampled and the intervals are not corrected for the number of buckets. "Clear of zero" means
that the whole interval is. All rules read the filled buckets, shortest first, but for those of a
handful of sentences (`verdict.READ_FROM`).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from ..scoring.bootstrap import Estimate, difference, interaction, percent_change
from .ceiling import ceiling_sentence
from .verdict import (
    FLOOR_BLEU,
    LEAST_BASE,
    READ_FROM,
    BucketScores,
    Held,
    Verdict,
    at_floor,
    changed,
    estimated,
    filled,
    plain,
    ranged,
    shown,
    small_buckets,
    unlearned,
)

UNREAD = f"A bucket of fewer than {READ_FROM} sentences is not read."
FAILURE_RULE = (
    "Held if no-attention BLEU falls from the first to the last filled bucket by an amount whose "
    "95 % interval lies above 0 and no step between neighbouring buckets is a rise whose interval "
    "lies above 0 (a step whose interval holds 0 is a tie, allowed and named); partly if the whole "
    "fall is clear of 0 but some step is a clear rise; else not held. Not measured where BLEU in "
    f"the first filled bucket is under {FLOOR_BLEU:g}: what has not been learned cannot fall. "
    f"{UNREAD}"
)
VINDICATION_RULE = (
    "Held if attention minus none, in BLEU, has a 95 % interval above 0 in the longest filled "
    "bucket, the interaction (gain in the longest minus gain in the shortest) has one above 0, and "
    "no bucket's gain has one below 0; partly if the gain in the longest bucket is clear of 0 but "
    "one of the other two conditions fails; else not held. Not measured where attention's BLEU is "
    f"under {FLOOR_BLEU:g} in every bucket. {UNREAD}"
)
LARGEST_RULE = (
    "Call worst the buckets whose no-attention BLEU is the lowest or tied with it (95 % interval "
    "of the difference not above 0), and top those whose gain is the largest or tied with it; held "
    "if every top bucket is a worst one, partly if some are, not held if none is, if every bucket "
    "is a worst one, or if the largest gain is not clear of 0. Not measured as for L-VIND."
)
SHORT_LITTLE, SHORT_SOME = 10.0, 25.0
"""Per cent of attention's BLEU that a small gain stays under (slide: 2.6 %), and a moderate one."""
SHORT_RULE = (
    "In the shortest filled bucket take attention minus none as a share of attention's BLEU. Held "
    f"if its 95 % interval lies below {SHORT_LITTLE:g} %, partly if below {SHORT_SOME:g} %; "
    "else not held. Not measured as for L-VIND."
)
RISING_RULE = (
    "Take the improvement in per cent of the BLEU without attention, bucket by bucket. Held if "
    "every step between neighbouring filled buckets is a rise whose 95 % interval lies above 0; "
    "partly if the rise from the first to the last is clear of 0 and no step is a fall whose "
    "interval lies below 0; else not held. Not measured as for L-VIND, or where no-attention BLEU "
    f"is under {LEAST_BASE:g} in some bucket. {UNREAD}"
)
TOO_FEW = f"fewer than two buckets have {READ_FROM} sentences or more"


def failure_pattern(buckets: Sequence[BucketScores]) -> Verdict:
    """L-FAIL: without attention BLEU falls as sentences grow longer."""
    rows = filled(buckets)
    if len(rows) < 2:
        return Verdict("L-FAIL", "not measured", FAILURE_RULE, TOO_FEW)
    if at_floor([rows[0].none]):
        reason = unlearned("without attention", rows[0].name)
        return Verdict("L-FAIL", "not measured", FAILURE_RULE, reason)
    fall = difference(rows[0].none, rows[-1].none)
    steps = {f"{a.name} to {b.name}": difference(b.none, a.none) for a, b in pairwise(rows)}
    rises = [name for name, step in steps.items() if step.interval.above_zero]
    ties = [name for name, step in steps.items() if _tie(step)]
    clauses = [
        f"from {rows[0].name} to {rows[-1].name} BLEU without attention "
        + changed(fall, "falls by {}", "rises by {}"),
        _steps("clear rises", rises, steps, plain),
        _steps("ties", ties, steps),
    ]
    verdict = _graded(fall.interval.above_zero, not rises)
    told = estimated(f"fall of BLEU without attention, {rows[0].name} to {rows[-1].name}", fall)
    return Verdict("L-FAIL", verdict, FAILURE_RULE, _sentence(clauses, buckets), **told)


def vindication(buckets: Sequence[BucketScores]) -> Verdict:
    """L-VIND: attention helps where sentences are long, more than where they are short."""
    rows = filled(buckets)
    reason = _unmeasured(rows)
    if reason:
        return Verdict("L-VIND", "not measured", VINDICATION_RULE, reason)
    gains = {row.name: row.gain for row in rows}
    longest, more = rows[-1].name, interaction(list(gains.values()))
    losses = [name for name, gain in gains.items() if gain.interval.below_zero]
    best = max(gains, key=lambda name: gains[name].value)
    clauses = [
        f"the gain in {longest} is {plain(gains[longest])}",
        changed(
            more,
            f"it exceeds the gain in {rows[0].name} by {{}}",
            f"it falls short of the gain in {rows[0].name} by {{}}",
        ),
        f"the largest gain is in {best} ({plain(gains[best])})",
        _steps("clear losses", losses, gains),
        ceiling_sentence([row.name for row in rows], [_attention(row) for row in rows]),
    ]
    holds = more.interval.above_zero and not losses
    verdict = _graded(gains[longest].interval.above_zero, holds)
    told = estimated(f"attention minus none, BLEU, {longest}", gains[longest])
    return Verdict("L-VIND", verdict, VINDICATION_RULE, _sentence(clauses, buckets), **told)


def vindication_largest(buckets: Sequence[BucketScores]) -> Verdict:
    """L-VIND's stronger sentence: the gain is largest where the bottleneck hurt most."""
    rows = filled(buckets)
    reason = _unmeasured(rows)
    if reason:
        return Verdict("L-VIND-largest", "not measured", LARGEST_RULE, reason)
    gains = {row.name: row.gain for row in rows}
    top = _tied_with_largest(gains)
    worst = _tied_with_largest({row.name: _negative(row.none) for row in rows})
    clauses = [
        f"the largest gain is in {top[0]} ({plain(gains[top[0]])}){_ties(top)}",
        f"BLEU without attention is lowest in {worst[0]}{_ties(worst)}",
    ]
    clear = gains[top[0]].interval.above_zero and len(worst) < len(rows)
    some = clear and not set(top).isdisjoint(worst)
    verdict = _graded(some, set(top) <= set(worst))
    told = estimated(f"the largest gain, BLEU, {top[0]}", gains[top[0]])
    return Verdict("L-VIND-largest", verdict, LARGEST_RULE, _sentence(clauses, buckets), **told)


def vindication_short(buckets: Sequence[BucketScores]) -> Verdict:
    """L-VIND's first row: for short sentences attention adds little (slide: +2.6 %)."""
    rows = filled(buckets)
    if reason := _unmeasured(rows):
        return Verdict("L-VIND-short", "not measured", SHORT_RULE, reason)
    shortest = rows[0]
    share = _negative(percent_change(shortest.none, shortest.attention))
    high = share.interval.high
    verdict = _graded(high < SHORT_SOME, high < SHORT_LITTLE)
    clauses = [
        f"in {shortest.name} attention adds {plain(shortest.gain)} BLEU, "
        f"{ranged(share.value, share.interval.low, high, '{:z.1f}', ' %')} of its own"
    ]
    number = estimated(f"gain as a share of attention's BLEU, per cent, {shortest.name}", share)
    return Verdict("L-VIND-short", verdict, SHORT_RULE, _sentence(clauses, buckets), **number)


def vindication_rising(buckets: Sequence[BucketScores]) -> Verdict:
    """L-VIND's last column: the improvement in per cent rises from bucket to bucket."""
    rows = filled(buckets)
    low = [row.name for row in rows if row.none.value < LEAST_BASE]
    reason = _unmeasured(rows)
    if not reason and low:
        reason = f"BLEU without attention is under {LEAST_BASE:g} in {', '.join(low)}"
    if reason:
        return Verdict("L-VIND-rising", "not measured", RISING_RULE, reason)
    improvements = [percent_change(row.attention, row.none) for row in rows]
    steps = {
        f"{a.name} to {b.name}": difference(second, first)
        for (a, b), (first, second) in zip(pairwise(rows), pairwise(improvements), strict=True)
    }
    rise = difference(improvements[-1], improvements[0])
    falls = [name for name, step in steps.items() if step.interval.below_zero]
    ties = [name for name, step in steps.items() if _tie(step)]
    partly = rise.interval.above_zero and not falls
    clauses = [
        "the improvement is " + ", ".join(f"{change.value:+.0f} %" for change in improvements),
        _steps("clear falls", falls, steps),
        _steps("ties", ties, steps),
    ]
    measure = f"improvement, points of per cent, {rows[-1].name} minus {rows[0].name}"
    verdict = _graded(partly, not ties)
    return Verdict(
        "L-VIND-rising",
        verdict,
        RISING_RULE,
        _sentence(clauses, buckets),
        **estimated(measure, rise),
    )


VINDICATION_RULES: dict[str, tuple[Callable[[Sequence[BucketScores]], Verdict], str]] = {
    "L-VIND": (vindication, VINDICATION_RULE),
    "L-VIND-short": (vindication_short, SHORT_RULE),
    "L-VIND-rising": (vindication_rising, RISING_RULE),
    "L-VIND-largest": (vindication_largest, LARGEST_RULE),
}
"""By claim: what decides it, and the rule in words."""


def _graded(main: bool, rest: bool) -> Held:
    """Not held without the main condition, partly with it alone, held with both."""
    if not main:
        return "not held"
    return "held" if rest else "partly"


def _tie(step: Estimate) -> bool:
    """Whether the interval holds zero."""
    return not (step.interval.above_zero or step.interval.below_zero)


def _unmeasured(rows: Sequence[BucketScores]) -> str:
    """Why a gain cannot be judged; empty where it can."""
    if len(rows) < 2:
        return TOO_FEW
    lacking = [r.name for r in rows if r.attention is None or not r.attention.filled]
    if lacking:
        return f"no score with attention in {', '.join(lacking)}"
    low = at_floor([r.attention for r in rows])
    return unlearned("with attention", "every bucket") if low else ""


def _attention(row: BucketScores) -> float:
    """BLEU with attention; nan where it was not measured."""
    return float("nan") if row.attention is None else row.attention.value


def _negative(estimate: Estimate) -> Estimate:
    """The estimate with its sign turned, so that the lowest becomes the largest."""
    return Estimate(-estimate.value, -estimate.draws)


def _tied_with_largest(estimates: dict[str, Estimate]) -> list[str]:
    """Name of the largest, then of those that it does not clearly exceed, in bucket order."""
    best = max(estimates, key=lambda name: estimates[name].value)
    gaps = {name: difference(estimates[best], other) for name, other in estimates.items()}
    tied = [name for name in gaps if name != best and not gaps[name].interval.above_zero]
    return [best, *tied]


def _ties(names: Sequence[str]) -> str:
    """The names after the first, as ties."""
    return f", tied with {', '.join(names[1:])}" if len(names) > 1 else ""


def _steps(
    title: str,
    names: Sequence[str],
    estimates: dict[str, Estimate],
    tell: Callable[[Estimate], str] = shown,
) -> str:
    """The named differences with their intervals, signed or plain; empty without names."""
    listed = ", ".join(f"{name} ({tell(estimates[name])})" for name in names)
    return f"{title}: {listed}" if names else ""


def _sentence(clauses: Sequence[str], buckets: Sequence[BucketScores]) -> str:
    """One sentence of the clauses that say something, small buckets last, then those not read."""
    few = [each.name for each in buckets if each.none.filled and each.sentences < READ_FROM]
    unread = f"not read: {', '.join(few)}" if few else ""
    return "; ".join(clause for clause in [*clauses, small_buckets(buckets), unread] if clause)
