"""C12: is the loss on long sentences a matter of training, and not of capacity alone?

If a vector cannot hold a long sentence, more training does not help; if it was not yet trained to,
the curve moves. So the arm without attention is trained twice as long, and what that adds is
compared with what attention adds with the updates of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    SIGNED,
    BucketScores,
    Verdict,
    at_floor,
    changed,
    estimated,
    small_buckets,
    with_interval,
)

LEAST_SHARE = 0.1
"""Of what attention adds; see the rule."""
TRAINING_RULE = (
    "The rule reads BLEU without attention of the same seeds, trained once and twice as long, by "
    "bucket, paired by test sentence. Held if in the longest filled bucket twice the updates add "
    f"an amount whose 95 % interval lies above 0 and which is at least {LEAST_SHARE:.0%} of what "
    "attention adds there with the updates of one; partly if they add less, with an interval above "
    "0, there or in another filled bucket; otherwise not held. Not measured without such runs or "
    f"without attention, if BLEU without attention is under {FLOOR_BLEU:g} in every bucket, or if "
    "what attention adds in the longest bucket is not clear of 0: then there is no loss to explain."
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


def training_moves_curve(buckets: Sequence[Trained], notes: Sequence[str] = ()) -> Verdict:
    """C12: it is training, not only capacity; ``notes`` are reported and decide nothing."""
    rows = [row for row in buckets if row.once.filled]
    if reason := _unmeasured(rows):
        return Verdict("C12", "not measured", TRAINING_RULE, reason)
    bucket, move, gap = rows[-1].bucket, rows[-1].move, rows[-1].gap
    share = move.value / gap.value
    others = ", ".join(f"{row.bucket} {with_interval(row.move, SIGNED)}" for row in rows[:-1])
    clauses = [
        f"in {bucket} without attention twice the updates "
        + changed(move, "add {} BLEU", "take away {} BLEU")
        + f", {share:z.1%} of what attention adds ({with_interval(gap)})",
        f"what they add in the others: {others}" if others else "",
        *notes,
        small_buckets([BucketScores(row.bucket, row.sentences, row.once) for row in rows]),
    ]
    word = "partly" if any(row.move.interval.above_zero for row in rows) else "not held"
    if move.interval.above_zero and share >= LEAST_SHARE:
        word = "held"
    number = estimated(f"what twice the updates add to none, BLEU, {bucket}", move)
    return Verdict("C12", word, TRAINING_RULE, "; ".join(filter(None, clauses)), **number)


def _unmeasured(rows: Sequence[Trained]) -> str:
    """Why it cannot be judged; empty if it can."""
    if not rows:
        return "no bucket is filled"
    if at_floor([row.twice for row in rows]):
        return f"BLEU without attention is under {FLOOR_BLEU:g} in every bucket, trained twice too"
    if not rows[-1].gap.interval.above_zero:
        gap = with_interval(rows[-1].gap, SIGNED)
        return (
            f"what attention adds in {rows[-1].bucket} is not clear of 0 ({gap}): there is no loss "
            "to explain"
        )
    return ""
