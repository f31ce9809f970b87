"""C9 and L15: does attention's cost grow with source length times target length?

The benchmark's sentences are as long on both sides, so that Tx x Ty is the length squared.
Attention's own part is the time of a training step beyond that of the same model without it, in
the same placement and measured in turn. Some of that part is there once a word, not once a pair of
words: the context's way into the decoder's cell, and the products of an additive score that are
computed ahead. Where both are, the local exponent climbs from 1 to 2 as sentences grow; so the
rule reads the upper part of the range of lengths, and the verdict gives the exponent over all of
it beside that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .verdict import Held, Verdict

LINEAR = 1.0
"""The exponent of what is there once a word."""
QUADRATIC = (1.5, 2.5)
"""Between these an exponent is nearer to 2 than to 1 or 3."""
FEWEST_POINTS = 4
"""Lengths in the upper part of their range."""
WIDEST = 1.0
"""A wider interval cannot tell linear from quadratic: the machine was not quiet."""

COST_RULE = (
    "Read are exponents of the length (tokens a side, equal on both) by least squares of log on "
    "log, with 95 % intervals, over the lengths from the geometric middle of their range up: of "
    "the seconds that attention adds to a training step, arm by arm, and of the step's own seconds "
    f"without attention. An arm grows with Tx x Ty if its interval lies within {QUADRATIC[0]:g} to "
    f"{QUADRATIC[1]:g} and above that of no attention in its placement. Held if every arm does; "
    f"partly if some do, or if some arm's interval lies above {LINEAR:g} and above that of no "
    f"attention; else not held. Not measured with fewer than {FEWEST_POINTS} lengths in that part, "
    "where attention's own seconds are not above 0 at one of them, or where one of the two "
    f"intervals is wider than {WIDEST:g}; such arms are left out and named."
)


@dataclass(frozen=True)
class Growth:
    """An exponent of the length, its 95 % interval, and how many lengths it was fitted to."""

    value: float
    low: float
    high: float
    points: int

    @property
    def width(self) -> float:
        """Of the interval."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class ArmCost:
    """What was measured of one arm with attention.

    ``upper`` and ``whole`` are of attention's own seconds over the upper lengths and over all,
    ``step`` of the whole step's and ``none`` of those without attention in the same placement, both
    over the upper lengths; None where there was nothing to fit. ``lengths`` is how many upper
    lengths were measured, ``shares`` attention's share of the step (0 to 1) by length.
    """

    arm: str
    upper: Growth | None
    whole: Growth | None
    step: Growth | None
    none: Growth | None
    lengths: int
    shares: tuple[tuple[int, float], ...] = ()

    @property
    def judged(self) -> bool:
        """Whether there are enough lengths, attention's part at each, and intervals to go by."""
        if self.upper is None or self.none is None:
            return False
        narrow = max(self.upper.width, self.none.width) <= WIDEST
        return narrow and self.upper.points == self.lengths >= FEWEST_POINTS

    @property
    def superlinear(self) -> bool:
        """Of a judged arm: whether attention's own part grows faster than words and the rest."""
        return self.upper.low > max(LINEAR, self.none.high)

    @property
    def quadratic(self) -> bool:
        """Of a judged arm: whether it grows with the product of the lengths."""
        low, high = QUADRATIC
        return self.superlinear and low <= self.upper.low and self.upper.high <= high


def cost_grows_with_product(arms: Sequence[ArmCost]) -> Verdict:
    """C9: cost grows with Tx x Ty."""
    judged = [arm for arm in arms if arm.judged]
    left = ", ".join(arm.arm for arm in arms if not arm.judged)
    reasons = "too few lengths, no time of its own at one, or too wide an interval"
    left_out = f"left out, for {reasons}: {left}" if left else ""
    if not judged:
        return Verdict("C9", "not measured", COST_RULE, left_out or "no arm with attention")
    clauses = [*map(_clause, judged), left_out]
    because = "; ".join(clause for clause in clauses if clause)
    return Verdict("C9", _graded(judged), COST_RULE, because)


def _graded(arms: Sequence[ArmCost]) -> Held:
    """The rule."""
    if all(arm.quadratic for arm in arms):
        return "held"
    return "partly" if any(arm.superlinear for arm in arms) else "not held"


def _clause(arm: ArmCost) -> str:
    """One arm's exponents, and its share at the ends that were measured."""
    shares = " and ".join(f"{share:.0%} at {length}" for length, share in arm.shares)
    told = [
        f"attention's own seconds grow as the length to the power {arm.upper}",
        f"over all lengths to the power {arm.whole}" if arm.whole else "",
        f"those of the whole step to the power {arm.step}" if arm.step else "",
        f"those of a step without attention to the power {arm.none}",
        f"attention's share of the step is {shares} tokens" if shares else "",
    ]
    return f"{arm.arm}: {', '.join(part for part in told if part)}"
