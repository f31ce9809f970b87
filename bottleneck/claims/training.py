"""C12: is the loss on long sentences a matter of training, and not of capacity alone?

If a vector cannot hold a long sentence, more training does not help; if it was not yet trained to,
the curve moves. So the arm without attention is trained twice as long, and what that adds is held
against what attention adds with the updates of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    BucketScores,
    Held,
    Verdict,
    at_floor,
    changed,
    estimated,
    plain,
    shown,
    small_buckets,
)

LEAST_SHARE = 0.1
"""Of what attention adds; see the rule."""

TRAINING_RULE = (
    "Read is BLEU without attention of the same seeds, trained once and twice as long, by bucket, "
    "paired by test sentence. Held if in the longest filled bucket twice the updates add an amount "
    f"whose 95 % interval lies above 0 and which is at least {LEAST_SHARE:.0%} of what attention "
    "adds there with the updates of one; partly if they add an amount whose interval lies above 0 "
    "in some filled bucket, but not that; not held if in none. Not measured without such runs or "
    "without attention beside them, where BLEU without attention is under "
    f"{FLOOR_BLEU:g} in every bucket, or where what attention adds in the longest bucket is not "
    "clear of 0: then there is no loss to explain."
)
UNMEASURED = "no arm without attention was trained twice as long"


@dataclass(frozen=True, eq=False)
class Trained:
    """One bucket: BLEU without attention after once and twice the updates, and with it after once.

    BLEU is 0 to 100; all three are from the same seeds and resamples.
    """

    bucket: str
    sentences: int
    once: Estimate
    twice: Estimate
    attention: Estimate

    @property
    def move(self) -> Estimate:
        """What twice the updates add without attention, in BLEU."""
        return difference(self.twice, self.once)

    @property
    def gap(self) -> Estimate:
        """What attention adds with the updates of one, in BLEU."""
        return difference(self.attention, self.once)


def training_moves_curve(buckets: Sequence[Trained], beside: Sequence[str] = ()) -> Verdict:
    """C12: it is training, not only capacity; ``beside`` is told with it and decides nothing."""
    rows = [row for row in buckets if row.once.filled]
    if reason := _unmeasured(rows):
        return Verdict("C12", "not measured", TRAINING_RULE, reason)
    longest = rows[-1]
    others = ", ".join(f"{row.bucket} {shown(row.move)}" for row in rows[:-1])
    clauses = [
        f"in {longest.bucket} without attention twice the updates "
        + changed(longest.move, "add {} BLEU", "take away {} BLEU")
        + f", {_share(longest):z.1%} of what attention adds ({plain(longest.gap)})",
        f"what they add in the others: {others}" if others else "",
        *beside,
        small_buckets([BucketScores(row.bucket, row.sentences, row.once) for row in rows]),
    ]
    told = estimated(f"what twice the updates add to none, BLEU, {longest.bucket}", longest.move)
    because = "; ".join(clause for clause in clauses if clause)
    return Verdict("C12", _graded(rows), TRAINING_RULE, because, **told)


def _unmeasured(rows: Sequence[Trained]) -> str:
    """Why it cannot be judged; empty where it can."""
    if not rows:
        return "no bucket is filled"
    if at_floor([row.twice for row in rows]):
        return f"BLEU without attention is under {FLOOR_BLEU:g} in every bucket, trained twice too"
    if not rows[-1].gap.interval.above_zero:
        return (
            f"what attention adds in {rows[-1].bucket} is not clear of 0 ({shown(rows[-1].gap)}): "
            "there is no loss to explain"
        )
    return ""


def _share(row: Trained) -> float:
    """The move as a share of the gap."""
    return row.move.value / row.gap.value


def _graded(rows: Sequence[Trained]) -> Held:
    """The rule."""
    if rows[-1].move.interval.above_zero and _share(rows[-1]) >= LEAST_SHARE:
        return "held"
    return "partly" if any(row.move.interval.above_zero for row in rows) else "not held"
