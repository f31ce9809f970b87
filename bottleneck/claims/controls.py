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

from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import difference
from .verdict import FLOOR_BLEU, Estimate, Judgement, learned, small_buckets, unlearned

SIGNED = "{:+z.2f}"
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
    bleu: Resampled
    attention: Resampled

    @property
    def gain(self) -> Resampled:
        """Attention minus the control, in BLEU."""
        return difference(self.attention, self.bleu)


@dataclass(frozen=True, eq=False)
class Variation:
    """Both arms with the same thing changed: attention minus none, in BLEU."""

    name: str
    gain: Resampled


@dataclass(frozen=True, eq=False)
class Controlled:
    """What C10 is judged by: the longest filled bucket, and what was measured in it.

    ``lacking`` are names of controls that were not trained.
    """

    bucket: str
    sentences: int
    attention: Resampled
    controls: tuple[Control, ...]
    variations: tuple[Variation, ...] = ()
    lacking: tuple[str, ...] = ()


def selection_beats_compression(measured: Controlled) -> Judgement | str:
    """C10: selection beats compression."""
    bucket = measured.bucket
    gains = {control.name: Estimate.of(control.gain) for control in measured.controls}
    variations = {item.name: Estimate.of(item.gain) for item in measured.variations}
    if set(gains) <= {PLAIN}:
        return "no control was trained beside the two arms"
    if UNIFORM not in gains:
        return f"{UNIFORM} were not trained (there are: {', '.join(sorted(gains))})"
    if set(gains) <= {PLAIN, UNIFORM}:
        return f"no other control than {UNIFORM} was trained"
    if not learned(measured.attention.value):
        return unlearned("with attention", bucket)
    best, *others = sorted(measured.controls, key=lambda control: -control.bleu.value)

    def listed(head: str, subset: dict[str, Estimate]) -> str:
        texts = ", ".join(f"{name} {gain.text(SIGNED)}" for name, gain in subset.items())
        return f"{head} {texts}" if texts else ""

    clauses = [
        f"in {bucket} attention has {measured.attention.value:.1f} BLEU, "
        + gains[best.name].change("{} more than", "{} less than", "{:z.2f}")
        + f" the best control, {best.name} ({best.bleu.value:.1f})",
        listed("attention minus", {control.name: gains[control.name] for control in others}),
        listed("attention minus none if both arms have the same change:", variations),
        f"not tried: {', '.join(measured.lacking)}" if measured.lacking else "",
        small_buckets({bucket: measured.sentences}),
    ]
    uniform = gains[UNIFORM].low > 0
    rest = [gain for name, gain in gains.items() if name != UNIFORM] + [*variations.values()]
    clear = all(gain.low > 0 for gain in rest)
    name = f"attention minus {best.name}, BLEU, {bucket}"
    return Judgement(uniform and clear, uniform or clear, clauses, name, gains[best.name])


@dataclass(frozen=True, eq=False)
class Trained:
    """One bucket: BLEU without attention after once and twice the updates, and with it after once.

    BLEU is 0 to 100; all three are from the same seeds and resamples.
    """

    bucket: str
    sentences: int
    once: Resampled
    twice: Resampled
    attention: Resampled


def training_moves_curve(buckets: Sequence[Trained]) -> Judgement | str:
    """C12: it is training, not only capacity."""
    rows = [row for row in buckets if row.once.filled]
    if not rows:
        return "no bucket is filled"
    if not any(learned(row.twice.value) for row in rows):
        low = f"under {FLOOR_BLEU:g} in every bucket"
        return f"BLEU without attention is {low}, trained twice too"
    bucket = rows[-1].bucket
    gap = Estimate.of(difference(rows[-1].attention, rows[-1].once))
    if not gap.low > 0:
        return (
            f"what attention adds in {bucket} is not clear of 0 ({gap.text(SIGNED)}): there is no "
            "loss to explain"
        )
    moves = {row.bucket: Estimate.of(difference(row.twice, row.once)) for row in rows}
    partly, move = any(move.low > 0 for move in moves.values()), moves.pop(bucket)
    share = move.value / gap.value
    others = ", ".join(f"{name} {other.text(SIGNED)}" for name, other in moves.items())
    clauses = [
        f"in {bucket} without attention twice the updates "
        + move.change("add {} BLEU", "take away {} BLEU", "{:z.2f}")
        + f", {share:z.1%} of what attention adds ({gap.text('{:z.2f}')})",
        f"what they add in the others: {others}" if others else "",
        small_buckets({row.bucket: row.sentences for row in rows}),
    ]
    held = move.low > 0 and share >= LEAST_SHARE
    return Judgement(held, partly, clauses, f"what twice the updates add to none, BLEU, {bucket}",
                     move)  # fmt: skip
