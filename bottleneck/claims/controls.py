"""C10: is it selection that brings translation back, or something else that attention brings along?

A control has one such thing and does not select: all encoder states (uniform weights), as many
parameters, another order of the source, more training. Attention is held against each of them on
the same test sentences and the same seeds. A variation changes both arms alike; in it attention is
held against the arm without attention of the same variation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Estimate, difference
from .verdict import (
    FLOOR_BLEU,
    MARKED_BELOW,
    Held,
    Verdict,
    at_floor,
    changed,
    estimated,
    marked,
    shown,
    unlearned,
)

UNIFORM, PLAIN = "uniform weights", "no attention"
"""Controls by name: the one that the rule asks for, and the baseline itself."""

CONTROLS_RULE = (
    "Read is BLEU in the longest filled bucket; every comparison is paired by test sentence and "
    "seed, and clear if its 95 % interval lies above 0 (not corrected for their number). Held if "
    "attention is clear above uniform weights, clear above every control without attention (as it "
    "is, and with one thing changed: as many parameters, a larger context, the source reversed, "
    "the encoder bidirectional, the decoder started from zero, twice the training), and, in every "
    "variation that was trained with both arms, clear above none; partly if it is clear above "
    "uniform weights but not all the rest, or above all the rest but not uniform weights; else not "
    "held. Not measured without uniform weights, without any other control than none itself, or "
    f"where attention's BLEU is under {FLOOR_BLEU:g}."
)
UNMEASURED = "no control was trained beside the two arms"


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
    best, *others = sorted(measured.controls, key=lambda control: -control.bleu.value)
    clauses = [
        f"in {measured.bucket} attention has {measured.attention.value:.1f} BLEU, "
        + changed(best.gain, "{} more than", "{} less than")
        + f" the best control, {best.name} ({best.bleu.value:.1f})",
        _listed("attention minus", [(each.name, each.gain) for each in others]),
        _listed(
            "attention minus none where both arms have the same change:",
            [(each.name, each.gain) for each in measured.variations],
        ),
        f"not tried: {', '.join(measured.lacking)}" if measured.lacking else "",
        _small(measured),
    ]
    told = estimated(f"attention minus {best.name}, BLEU, {measured.bucket}", best.gain)
    because = "; ".join(clause for clause in clauses if clause)
    return Verdict("C10", _graded(measured), CONTROLS_RULE, because, **told)


def _unmeasured(measured: Controlled) -> str:
    """Why it cannot be judged; empty where it can."""
    names = {control.name for control in measured.controls}
    if names <= {PLAIN}:
        return UNMEASURED
    if UNIFORM not in names:
        return f"{UNIFORM} were not trained (there are: {', '.join(sorted(names))})"
    if names <= {PLAIN, UNIFORM}:
        return f"no other control than {UNIFORM} was trained"
    if at_floor([measured.attention]):
        return unlearned("with attention", measured.bucket)
    return ""


def _graded(measured: Controlled) -> Held:
    """The rule."""
    clear = {control.name: control.gain.interval.above_zero for control in measured.controls}
    uniform = clear.pop(UNIFORM)
    rest = [*clear.values(), *(each.gain.interval.above_zero for each in measured.variations)]
    if uniform and all(rest):
        return "held"
    return "partly" if uniform or all(rest) else "not held"


def _listed(head: str, gains: Sequence[tuple[str, Estimate]]) -> str:
    """``attention minus uniform weights +60.10 [+58.00, +62.20], source reversed ...``."""
    told = ", ".join(f"{name} {shown(gain)}" for name, gain in gains)
    return f"{head} {told}" if told else ""


def _small(measured: Controlled) -> str:
    if not marked(measured.sentences):
        return ""
    return f"under {MARKED_BELOW} sentences: {measured.bucket} (n = {measured.sentences})"
