"""C10: is it selection that brings translation back, or something else that attention has too?

A control has one such thing and does not select: all encoder states (uniform weights), as many
parameters, another order of the source, more training. Attention is compared with each of them on
the same test sentences and the same seeds. A variation changes both arms alike; in it attention is
compared with the arm without attention of the same variation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    MARKED_BELOW,
    SIGNED,
    Verdict,
    at_floor,
    changed,
    estimated,
    marked,
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
    if reason := _unmeasured(measured):
        return Verdict("C10", "not measured", CONTROLS_RULE, reason)
    bucket = measured.bucket
    best, *others = sorted(measured.controls, key=lambda control: -control.bleu.value)
    clauses = [
        f"in {bucket} attention has {measured.attention.value:.1f} BLEU, "
        + changed(best.gain, "{} more than", "{} less than")
        + f" the best control, {best.name} ({best.bleu.value:.1f})",
        _listed("attention minus", others),
        _listed("attention minus none if both arms have the same change:", measured.variations),
        f"not tried: {', '.join(measured.lacking)}" if measured.lacking else "",
        f"under {MARKED_BELOW} sentences: {bucket} (n = {measured.sentences})"
        if marked(measured.sentences)
        else "",
    ]
    clear = {control.name: control.gain.interval.above_zero for control in measured.controls}
    uniform = clear.pop(UNIFORM)
    rest = all([*clear.values(), *(item.gain.interval.above_zero for item in measured.variations)])
    word = "held" if uniform and rest else "partly" if uniform or rest else "not held"
    number = estimated(f"attention minus {best.name}, BLEU, {bucket}", best.gain)
    return Verdict("C10", word, CONTROLS_RULE, "; ".join(filter(None, clauses)), **number)


def _unmeasured(measured: Controlled) -> str:
    """Why it cannot be judged; empty if it can."""
    names = {control.name for control in measured.controls}
    if names <= {PLAIN}:
        return "no control was trained beside the two arms"
    if UNIFORM not in names:
        return f"{UNIFORM} were not trained (there are: {', '.join(sorted(names))})"
    if names <= {PLAIN, UNIFORM}:
        return f"no other control than {UNIFORM} was trained"
    if at_floor([measured.attention]):
        return unlearned("with attention", measured.bucket)
    return ""


def _listed(head: str, items: Sequence[Control | Variation]) -> str:
    """``attention minus uniform weights +60.10 [+58.00, +62.20], source reversed ...``."""
    gains = ", ".join(f"{item.name} {with_interval(item.gain, SIGNED)}" for item in items)
    return f"{head} {gains}" if gains else ""
