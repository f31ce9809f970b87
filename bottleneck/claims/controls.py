"""C10 and C12: is it selection that brings translation back, or something else?

A control has one thing that comes with attention, and does not select: all encoder states (uniform
weights), as many parameters, another order of the source, more training. Attention is compared with
each of them on the same test sentences and the same seeds. A variation changes both arms alike; in
it attention is compared with the arm without attention of the same variation (C10).

If a vector cannot hold a long sentence, more training does not help; if it was not yet trained to,
the curve moves. So the arm without attention is trained twice as long, and what that adds is
compared with what attention adds with the updates of one (C12).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    SIGNED,
    Verdict,
    at_floor,
    changed,
    decided,
    small_buckets,
    unlearned,
    with_interval,
)

UNIFORM, PLAIN = "uniform weights", "no attention"
"""Controls by name: the one that the rule requires, and the baseline itself."""
CONTROLS_RULE = (
    "The rule reads BLEU in the longest filled bucket. Every comparison is paired by test sentence "
    "and seed, and clear if its 95 % interval lies above 0 (not corrected for their number). Held "
    "if attention is clear above uniform weights, clear above every control without attention (as "
    "it is, and with one thing changed: as many parameters, a larger context, the source reversed, "
    "the encoder bidirectional, the decoder started from zero, twice the training), and, in every "
    "variation that was trained with both arms, clear above none; partly if it is clear above "
    "uniform weights but not all the rest, or above all the rest but not uniform weights; "
    "otherwise not held. Not measured without uniform weights, without any other control than none "
    f"itself, or if attention's BLEU is under {FLOOR_BLEU:g}."
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


@dataclass(frozen=True, eq=False)
class Control:
    """A translator that does not select, and attention on the same sentences and seeds, in BLEU."""

    name: str
    bleu: Estimate
    attention: Estimate

    @property
    def gain(self) -> Estimate:
        """Attention minus the control, in BLEU."""
        return difference(self.attention, self.bleu)


@dataclass(frozen=True, eq=False)
class Variation:
    """Both arms with the same thing changed: attention minus none, in BLEU."""

    name: str
    gain: Estimate


@dataclass(frozen=True, eq=False)
class Controlled:
    """What C10 is judged by: the longest filled bucket, and what was measured in it.

    ``lacking`` are names of controls that were not trained.
    """

    bucket: str
    sentences: int
    attention: Estimate
    controls: tuple[Control, ...]
    variations: tuple[Variation, ...] = ()
    lacking: tuple[str, ...] = ()


def selection_beats_compression(measured: Controlled) -> Verdict:
    """C10: selection beats compression."""
    bucket = measured.bucket
    gains = {control.name: control.gain for control in measured.controls}
    reason = ""
    if set(gains) <= {PLAIN}:
        reason = "no control was trained beside the two arms"
    elif UNIFORM not in gains:
        reason = f"{UNIFORM} were not trained (there are: {', '.join(sorted(gains))})"
    elif set(gains) <= {PLAIN, UNIFORM}:
        reason = f"no other control than {UNIFORM} was trained"
    elif at_floor([measured.attention]):
        reason = unlearned("with attention", bucket)
    if reason:
        return Verdict("C10", "not measured", CONTROLS_RULE, reason)
    best, *others = sorted(measured.controls, key=lambda control: -control.bleu.value)
    clauses = [
        f"in {bucket} attention has {measured.attention.value:.1f} BLEU, "
        + changed(best.gain, "{} more than", "{} less than")
        + f" the best control, {best.name} ({best.bleu.value:.1f})",
        _listed("attention minus", others),
        _listed("attention minus none if both arms have the same change:", measured.variations),
        f"not tried: {', '.join(measured.lacking)}" if measured.lacking else "",
        small_buckets({bucket: measured.sentences}),
    ]
    uniform = gains.pop(UNIFORM).interval.above_zero
    rest = [*gains.values(), *(item.gain for item in measured.variations)]
    clear = all(gain.interval.above_zero for gain in rest)
    word = "held" if uniform and clear else "partly" if uniform or clear else "not held"
    measure = f"attention minus {best.name}, BLEU, {bucket}"
    return decided("C10", word, CONTROLS_RULE, clauses, measure, best.gain)


def _listed(head: str, items: Sequence[Control | Variation]) -> str:
    """``attention minus uniform weights +60.10 [+58.00, +62.20], source reversed ...``."""
    gains = ", ".join(f"{item.name} {with_interval(item.gain, SIGNED)}" for item in items)
    return f"{head} {gains}" if gains else ""


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


def training_moves_curve(buckets: Sequence[Trained]) -> Verdict:
    """C12: it is training, not only capacity."""
    rows = [row for row in buckets if row.once.filled]
    reason = ""
    if not rows:
        reason = "no bucket is filled"
    elif at_floor([row.twice for row in rows]):
        low = f"under {FLOOR_BLEU:g} in every bucket"
        reason = f"BLEU without attention is {low}, trained twice too"
    elif not rows[-1].gap.interval.above_zero:
        reason = (
            f"what attention adds in {rows[-1].bucket} is not clear of 0 "
            f"({with_interval(rows[-1].gap, SIGNED)}): there is no loss to explain"
        )
    if reason:
        return Verdict("C12", "not measured", TRAINING_RULE, reason)
    bucket, move, gap = rows[-1].bucket, rows[-1].move, rows[-1].gap
    share = move.value / gap.value
    others = ", ".join(f"{row.bucket} {with_interval(row.move, SIGNED)}" for row in rows[:-1])
    clauses = [
        f"in {bucket} without attention twice the updates "
        + changed(move, "add {} BLEU", "take away {} BLEU")
        + f", {share:z.1%} of what attention adds ({with_interval(gap)})",
        f"what they add in the others: {others}" if others else "",
        small_buckets({row.bucket: row.sentences for row in rows}),
    ]
    word = "partly" if any(row.move.interval.above_zero for row in rows) else "not held"
    if move.interval.above_zero and share >= LEAST_SHARE:
        word = "held"
    measure = f"what twice the updates add to none, BLEU, {bucket}"
    return decided("C12", word, TRAINING_RULE, clauses, measure, move)
