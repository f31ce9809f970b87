"""Rules for the lecture's two tables (L-FAIL, L-VIND).

Every interval is a 95 % percentile bootstrap over test sentences of the mean over seeds; seeds are
not resampled and the intervals are not corrected for the number of buckets. "Clear of 0" means that
the whole interval is. All rules read the filled buckets, shortest first, except those of a handful
of sentences (`verdict.READ_FROM`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..scoring.bootstrap import Estimate, difference, interaction, percent_change
from .verdict import (
    FLOOR_BLEU,
    LEAST_BASE,
    READ_FROM,
    SIGNED,
    BucketScores,
    Verdict,
    at_floor,
    changed,
    decided,
    negative,
    small_buckets,
    unlearned,
    with_interval,
)

CEILING_BLEU = 95.0
"""BLEU is bounded at 100. From 95 up an arm can differ from the bound by 5.3 per cent at most
(100 / 95), so attention / none - 1 is 100 / none - 1 to within that: arithmetic of none's level,
whatever attention does."""
SHORT_LITTLE, SHORT_SOME = 10.0, 25.0
"""Per cent of attention's BLEU that a small gain stays under (slide: 2.6 %), and a moderate one."""
UNREAD = f"A bucket of fewer than {READ_FROM} sentences is not read."

Decision = tuple[bool, bool, list[str], str, Estimate]
"""Whether the main condition holds, and all the others; the clauses of the reason; the number that
the rule turns on first, after its name."""


@dataclass(frozen=True)
class Rule:
    """A rule of a claim about two or more buckets.

    ``unmeasured`` says why these cannot be judged, if so. Held if all conditions of ``decide``
    hold, partly if the main one does, otherwise not held.
    """

    text: str
    decide: Callable[[Sequence[BucketScores]], Decision]
    unmeasured: Callable[[Sequence[BucketScores]], str]


def verdict_on(claim: str, buckets: Sequence[BucketScores]) -> Verdict:
    """The verdict on a claim in `RULES`."""
    rule, filled = RULES[claim], [row for row in buckets if row.none.filled]
    rows = [row for row in filled if row.sentences >= READ_FROM]
    few = [row.name for row in filled if row.sentences < READ_FROM]
    too_few = f"fewer than two buckets have {READ_FROM} sentences or more"
    if reason := too_few if len(rows) < 2 else rule.unmeasured(rows):
        return Verdict(claim, "not measured", rule.text, reason)
    main, rest, clauses, name, number = rule.decide(rows)
    clauses += [
        small_buckets({row.name: row.sentences for row in filled}),
        f"not read: {', '.join(few)}" if few else "",
    ]
    word = ("held" if rest else "partly") if main else "not held"
    return decided(claim, word, rule.text, clauses, name, number)


def failure_pattern(rows: Sequence[BucketScores]) -> Decision:
    """Without attention BLEU falls as sentences grow longer."""
    first, last = rows[0], rows[-1]
    fall = difference(first.none, last.none)
    steps = {f"{a.name} to {b.name}": difference(b.none, a.none) for a, b in pairwise(rows)}
    rises = {name: step for name, step in steps.items() if step.interval.above_zero}
    clauses = [
        f"from {first.name} to {last.name} BLEU without attention "
        + changed(fall, "falls by {}", "rises by {}"),
        _listed("clear rises", rises, "{:z.2f}"),
        _listed("ties", _ties(steps)),
    ]
    name = f"fall of BLEU without attention, {first.name} to {last.name}"
    return fall.interval.above_zero, not rises, clauses, name, fall


def vindication(rows: Sequence[BucketScores]) -> Decision:
    """Attention helps with long sentences, more than with short ones."""
    gains = {row.name: row.gain for row in rows}
    shortest, longest, more = rows[0].name, rows[-1].name, interaction(list(gains.values()))
    losses = {name: gain for name, gain in gains.items() if gain.interval.below_zero}
    best = max(gains, key=lambda name: gains[name].value)
    ceiling = [row.name for row in rows if row.attention.value >= CEILING_BLEU]
    clauses = [
        f"the gain in {longest} is {with_interval(gains[longest])}",
        changed(
            more,
            f"it exceeds the gain in {shortest} by {{}}",
            f"it falls short of the gain in {shortest} by {{}}",
        ),
        f"the largest gain is in {best} ({with_interval(gains[best])})",
        _listed("clear losses", losses),
        f"in bucket{'s' * (len(ceiling) > 1)} {', '.join(ceiling)} attention is at its ceiling "
        f"(BLEU >= {CEILING_BLEU:g}): the relative gain there is 100/none - 1, arithmetic"
        if ceiling
        else "",
    ]
    name = f"attention minus none, BLEU, {longest}"
    rest = more.interval.above_zero and not losses
    return gains[longest].interval.above_zero, rest, clauses, name, gains[longest]


def vindication_largest(rows: Sequence[BucketScores]) -> Decision:
    """The gain is largest where the bottleneck hurt most."""
    gains = {row.name: row.gain for row in rows}
    top = _tied_with_largest(gains)
    worst = _tied_with_largest({row.name: negative(row.none) for row in rows})
    best = gains[top[0]]
    clauses = [
        f"the largest gain is in {top[0]} ({with_interval(best)}){_tied(top)}",
        f"BLEU without attention is lowest in {worst[0]}{_tied(worst)}",
    ]
    clear = best.interval.above_zero and len(worst) < len(rows)
    some = clear and not set(top).isdisjoint(worst)
    return some, set(top) <= set(worst), clauses, f"the largest gain, BLEU, {top[0]}", best


def vindication_short(rows: Sequence[BucketScores]) -> Decision:
    """The table's first row: for short sentences attention adds little (slide: +2.6 %)."""
    shortest = rows[0]
    share = negative(percent_change(shortest.none, shortest.attention))
    clause = (
        f"in {shortest.name} attention adds {with_interval(shortest.gain)} BLEU, "
        f"{with_interval(share, '{:z.1f}', ' %')} of its own"
    )
    name = f"gain as a share of attention's BLEU, per cent, {shortest.name}"
    high = share.interval.high
    return high < SHORT_SOME, high < SHORT_LITTLE, [clause], name, share


def vindication_rising(rows: Sequence[BucketScores]) -> Decision:
    """The table's last column: the improvement in per cent rises from bucket to bucket."""
    improvements = {row.name: percent_change(row.attention, row.none) for row in rows}
    steps = {
        f"{first} to {second}": difference(improvements[second], improvements[first])
        for first, second in pairwise(improvements)
    }
    falls = {name: step for name, step in steps.items() if step.interval.below_zero}
    values = list(improvements.values())
    rise = difference(values[-1], values[0])
    clauses = [
        "the improvement is " + ", ".join(f"{change.value:+.0f} %" for change in values),
        _listed("clear falls", falls),
        _listed("ties", _ties(steps)),
    ]
    name = f"improvement, points of per cent, {rows[-1].name} minus {rows[0].name}"
    partly = rise.interval.above_zero and not falls
    return partly, not _ties(steps), clauses, name, rise


def _without_gain(rows: Sequence[BucketScores]) -> str:
    """Why a gain cannot be judged; empty if it can."""
    if lacking := [r.name for r in rows if r.attention is None or not r.attention.filled]:
        return f"no score with attention in {', '.join(lacking)}"
    low = at_floor([row.attention for row in rows])
    return unlearned("with attention", "every bucket") if low else ""


def _without_improvement(rows: Sequence[BucketScores]) -> str:
    """Why an improvement in per cent cannot be judged; empty if it can."""
    low = [row.name for row in rows if row.none.value < LEAST_BASE]
    reason = f"BLEU without attention is under {LEAST_BASE:g} in {', '.join(low)}" if low else ""
    return _without_gain(rows) or reason


RULES: Mapping[str, Rule] = {
    "L-FAIL": Rule(
        "Held if BLEU without attention falls from the first to the last filled bucket by an "
        "amount whose 95 % interval lies above 0 and no step between neighbouring buckets is a "
        "rise whose interval lies above 0 (a step whose interval contains 0 is a tie, which is "
        "allowed and named); partly if the whole fall is clear of 0 but some step is a clear rise; "
        "otherwise not held. Not measured if BLEU in the first filled bucket is under "
        f"{FLOOR_BLEU:g}: what was not learned cannot fall. {UNREAD}",
        failure_pattern,
        lambda rows: (
            unlearned("without attention", rows[0].name) if at_floor([rows[0].none]) else ""
        ),
    ),
    "L-VIND": Rule(
        "Held if attention minus none, in BLEU, has a 95 % interval above 0 in the longest filled "
        "bucket, the interaction (gain in the longest minus gain in the shortest) has one above 0, "
        "and no bucket's gain has one below 0; partly if the gain in the longest bucket is clear "
        "of 0 but one of the other two conditions fails; otherwise not held. Not measured if "
        f"attention's BLEU is under {FLOOR_BLEU:g} in every bucket. {UNREAD}",
        vindication,
        _without_gain,
    ),
    "L-VIND-short": Rule(
        "The rule reads attention minus none as a share of attention's BLEU in the shortest filled "
        f"bucket. Held if its 95 % interval lies below {SHORT_LITTLE:g} %; partly if it lies below "
        f"{SHORT_SOME:g} %; otherwise not held. Not measured as for L-VIND.",
        vindication_short,
        _without_gain,
    ),
    "L-VIND-rising": Rule(
        "The rule reads the improvement in per cent of the BLEU without attention, by bucket. Held "
        "if every step between neighbouring filled buckets is a rise whose 95 % interval lies "
        "above 0; partly if the rise from the first to the last is clear of 0 and no step is a "
        "fall whose interval lies below 0; otherwise not held. Not measured as for L-VIND, or if "
        f"BLEU without attention is under {LEAST_BASE:g} in some bucket. {UNREAD}",
        vindication_rising,
        _without_improvement,
    ),
    "L-VIND-largest": Rule(
        "The worst buckets are those whose BLEU without attention is the lowest or tied with it "
        "(the 95 % interval of the difference is not above 0); the top buckets are those whose "
        "gain is the largest or tied with it. Held if every top bucket is a worst one; partly if "
        "some are; not held if none is, if every bucket is a worst one, or if the largest gain is "
        "not clear of 0. Not measured as for L-VIND.",
        vindication_largest,
        _without_gain,
    ),
}
"""By claim."""


def _tied_with_largest(estimates: dict[str, Estimate]) -> list[str]:
    """Name of the largest, then of those that it does not clearly exceed, in bucket order."""
    best = max(estimates, key=lambda name: estimates[name].value)
    gaps = {name: difference(estimates[best], other) for name, other in estimates.items()}
    tied = [name for name in gaps if name != best and not gaps[name].interval.above_zero]
    return [best, *tied]


def _tied(names: Sequence[str]) -> str:
    """The names after the first, as ties."""
    return f", tied with {', '.join(names[1:])}" if len(names) > 1 else ""


def _ties(steps: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The steps whose interval contains 0."""
    return {
        name: step
        for name, step in steps.items()
        if not (step.interval.above_zero or step.interval.below_zero)
    }


def _listed(title: str, estimates: Mapping[str, Estimate], form: str = SIGNED) -> str:
    """The named differences with their intervals; empty if there are none."""
    listed = ", ".join(f"{name} ({with_interval(estimates[name], form)})" for name in estimates)
    return f"{title}: {listed}" if listed else ""
