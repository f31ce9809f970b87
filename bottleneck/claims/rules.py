"""Rules for the lecture's two tables (L-FAIL, L-VIND).

Every interval is a 95 % percentile bootstrap over test sentences of the mean over seeds; seeds are
not resampled and the intervals are not corrected for the number of buckets. "Clear of 0" means that
the whole interval is. All rules read the filled buckets, shortest first, except those of a handful
of sentences (`verdict.READ_FROM`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import difference, interaction, percent_change
from .verdict import (
    FLOOR_BLEU,
    LEAST_BASE,
    READ_FROM,
    BucketScores,
    Estimate,
    Judgement,
    learned,
    small_buckets,
    unlearned,
)

CEILING_BLEU = 95.0
"""BLEU is bounded at 100. From 95 up an arm can differ from the bound by 5.3 per cent at most
(100 / 95), so attention / none - 1 is 100 / none - 1 to within that: arithmetic of none's level,
whatever attention does."""
SHORT_LITTLE, SHORT_SOME = 10.0, 25.0
"""Per cent of attention's BLEU that a small gain stays under (slide: 2.6 %), and a moderate one."""
UNREAD = f"A bucket of fewer than {READ_FROM} sentences is not read."
BLEU, SIGNED = "{:z.2f}", "{:+z.2f}"
"""Forms of a difference in BLEU; signed if no word gives it a direction."""

Rows = Sequence[BucketScores]


def on_buckets(rule: Callable[[Rows], Judgement | str]) -> Callable[[Rows], Judgement | str]:
    """Make a rule that leaves out buckets of a handful of sentences, and names small ones."""

    def decide(buckets: Rows) -> Judgement | str:
        filled = [row for row in buckets if row.none.filled]
        rows = [row for row in filled if row.sentences >= READ_FROM]
        few = ", ".join(row.name for row in filled if row.sentences < READ_FROM)
        if len(rows) < 2:
            return f"fewer than two buckets have {READ_FROM} sentences or more"
        if isinstance(judged := rule(rows), str):
            return judged
        small = small_buckets({row.name: row.sentences for row in filled})
        clauses = [*judged.because, small, f"not read: {few}" if few else ""]
        return replace(judged, because=clauses)

    return decide


FAILURE_RULE = (
    "Held if BLEU without attention falls from the first to the last filled bucket by an amount "
    "whose 95 % interval lies above 0 and no step between neighbouring buckets is a rise whose "
    "interval lies above 0 (a step whose interval contains 0 is a tie, which is allowed and "
    "named); partly if the whole fall is clear of 0 but some step is a clear rise; otherwise not "
    f"held. Not measured if BLEU in the first filled bucket is under {FLOOR_BLEU:g}: what was not "
    f"learned cannot fall. {UNREAD}"
)


@on_buckets
def failure_pattern(rows: Rows) -> Judgement | str:
    """L-FAIL: without attention BLEU falls as sentences grow longer."""
    if not learned(rows[0].none.value):
        return unlearned("without attention", rows[0].name)
    first, last = rows[0].name, rows[-1].name
    fall = Estimate.of(difference(rows[0].none, rows[-1].none))
    steps = _steps({row.name: row.none for row in rows})
    rises = {name: step for name, step in steps.items() if step.low > 0}
    clauses = [
        f"from {first} to {last} BLEU without attention "
        + fall.change("falls by {}", "rises by {}", BLEU),
        _listed("clear rises", rises, BLEU),
        _listed("ties", _ties(steps)),
    ]
    name = f"fall of BLEU without attention, {first} to {last}"
    return Judgement(fall.low > 0 and not rises, fall.low > 0, clauses, name, fall)


VINDICATION_RULE = (
    "Held if attention minus none, in BLEU, has a 95 % interval above 0 in the longest filled "
    "bucket, the interaction (gain in the longest minus gain in the shortest) has one above 0, "
    "and no bucket's gain has one below 0; partly if the gain in the longest bucket is clear "
    "of 0 but one of the other two conditions fails; otherwise not held. Not measured if "
    f"attention's BLEU is under {FLOOR_BLEU:g} in every bucket. {UNREAD}"
)


@on_buckets
def vindication(rows: Rows) -> Judgement | str:
    """L-VIND: attention helps with long sentences, more than with short ones."""
    if reason := _without_gain(rows):
        return reason
    shortest, longest = rows[0].name, rows[-1].name
    gains = {row.name: Estimate.of(row.gain) for row in rows}
    more = Estimate.of(interaction([row.gain for row in rows]))
    losses = {name: gain for name, gain in gains.items() if gain.high < 0}
    best = max(gains, key=lambda name: gains[name].value)
    ceiling = [row.name for row in rows if row.attention.value >= CEILING_BLEU]
    clauses = [
        f"the gain in {longest} is {gains[longest].text(BLEU)}",
        more.change(
            f"it exceeds the gain in {shortest} by {{}}",
            f"it falls short of the gain in {shortest} by {{}}",
            BLEU,
        ),
        f"the largest gain is in {best} ({gains[best].text(BLEU)})",
        _listed("clear losses", losses),
        f"in bucket{'s' * (len(ceiling) > 1)} {', '.join(ceiling)} attention is at its ceiling "
        f"(BLEU >= {CEILING_BLEU:g}): the relative gain there is 100/none - 1, arithmetic"
        if ceiling
        else "",
    ]
    clear, name = gains[longest].low > 0, f"attention minus none, BLEU, {longest}"
    held = clear and more.low > 0 and not losses
    return Judgement(held, clear, clauses, name, gains[longest])


SHORT_RULE = (
    "The rule reads attention minus none as a share of attention's BLEU in the shortest filled "
    f"bucket. Held if its 95 % interval lies below {SHORT_LITTLE:g} %; partly if it lies below "
    f"{SHORT_SOME:g} %; otherwise not held. Not measured as for L-VIND."
)


@on_buckets
def vindication_short(rows: Rows) -> Judgement | str:
    """L-VIND-short: for short sentences attention adds little (slide: +2.6 %)."""
    if reason := _without_gain(rows):
        return reason
    shortest = rows[0]
    fall = Estimate.of(percent_change(shortest.none, shortest.attention))
    share = Estimate(-fall.value, -fall.high, -fall.low)
    clause = (
        f"in {shortest.name} attention adds {Estimate.of(shortest.gain).text(BLEU)} BLEU, "
        f"{share.text('{:z.1f}', ' %')} of its own"
    )
    name = f"gain as a share of attention's BLEU, per cent, {shortest.name}"
    return Judgement(share.high < SHORT_LITTLE, share.high < SHORT_SOME, [clause], name, share)


RISING_RULE = (
    "The rule reads the improvement in per cent of the BLEU without attention, by bucket. Held "
    "if every step between neighbouring filled buckets is a rise whose 95 % interval lies "
    "above 0; partly if the rise from the first to the last is clear of 0 and no step is a "
    "fall whose interval lies below 0; otherwise not held. Not measured as for L-VIND, or if "
    f"BLEU without attention is under {LEAST_BASE:g} in some bucket. {UNREAD}"
)


@on_buckets
def vindication_rising(rows: Rows) -> Judgement | str:
    """L-VIND-rising: the improvement in per cent rises from bucket to bucket."""
    if reason := _without_gain(rows):
        return reason
    if low := [row.name for row in rows if row.none.value < LEAST_BASE]:
        return f"BLEU without attention is under {LEAST_BASE:g} in {', '.join(low)}"
    improvements = {row.name: percent_change(row.attention, row.none) for row in rows}
    steps, changes = _steps(improvements), list(improvements.values())
    falls = {name: step for name, step in steps.items() if step.high < 0}
    rise = Estimate.of(difference(changes[-1], changes[0]))
    clauses = [
        "the improvement is " + ", ".join(f"{change.value:+.0f} %" for change in changes),
        _listed("clear falls", falls),
        _listed("ties", _ties(steps)),
    ]
    name = f"improvement, points of per cent, {rows[-1].name} minus {rows[0].name}"
    partly = rise.low > 0 and not falls
    return Judgement(partly and not _ties(steps), partly, clauses, name, rise)


LARGEST_RULE = (
    "The worst buckets are those whose BLEU without attention is the lowest or tied with it "
    "(the 95 % interval of the difference is not above 0); the top buckets are those whose "
    "gain is the largest or tied with it. Held if every top bucket is a worst one; partly if "
    "some are; not held if none is, if every bucket is a worst one, or if the largest gain is "
    "not clear of 0. Not measured as for L-VIND."
)


@on_buckets
def vindication_largest(rows: Rows) -> Judgement | str:
    """L-VIND-largest: the gain is largest where the bottleneck hurt most."""
    if reason := _without_gain(rows):
        return reason
    gains = {row.name: row.gain for row in rows}
    top = _with_ties(gains)
    worst = _with_ties({row.name: Resampled(-row.none.value, -row.none.draws) for row in rows})
    best = Estimate.of(gains[top[0]])
    ties = [f", tied with {', '.join(names[1:])}" if names[1:] else "" for names in (top, worst)]
    clauses = [
        f"the largest gain is in {top[0]} ({best.text(BLEU)}){ties[0]}",
        f"BLEU without attention is lowest in {worst[0]}{ties[1]}",
    ]
    some = best.low > 0 and len(worst) < len(rows) and not set(top).isdisjoint(worst)
    held = some and set(top) <= set(worst)
    return Judgement(held, some, clauses, f"the largest gain, BLEU, {top[0]}", best)


def _without_gain(rows: Rows) -> str:
    """Why a gain cannot be judged; empty if it can."""
    if lacking := [r.name for r in rows if r.attention is None or not r.attention.filled]:
        return f"no score with attention in {', '.join(lacking)}"
    low = not any(learned(row.attention.value) for row in rows)
    return unlearned("with attention", "every bucket") if low else ""


def _with_ties(estimates: Mapping[str, Resampled]) -> list[str]:
    """Name of the largest, then of those that it does not clearly exceed, in bucket order."""
    best = max(estimates, key=lambda name: estimates[name].value)
    gaps = {name: difference(estimates[best], other) for name, other in estimates.items()}
    return [best, *(n for n in gaps if n != best and not gaps[n].interval.above_zero)]


def _steps(estimates: Mapping[str, Resampled]) -> dict[str, Estimate]:
    """The differences between neighbouring buckets."""
    return {
        f"{first} to {second}": Estimate.of(difference(estimates[second], estimates[first]))
        for first, second in pairwise(estimates)
    }


def _ties(steps: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: step for name, step in steps.items() if not (step.low > 0 or step.high < 0)}


def _listed(title: str, estimates: Mapping[str, Estimate], form: str = SIGNED) -> str:
    """The named differences with their intervals; empty if there are none."""
    listed = ", ".join(f"{name} ({estimate.text(form)})" for name, estimate in estimates.items())
    return f"{title}: {listed}" if listed else ""
