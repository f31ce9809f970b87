"""What a rule takes in, what it gives out, and how it puts numbers into words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..scoring.bootstrap import Estimate, difference

MARKED_BELOW = 100
"""Sentences under which a bucket's row is marked; Koehn 2004 validates nothing below 300."""
READ_FROM = 10
"""Sentences from which a rule reads a bucket of the two tables: of two or three a bootstrap's
interval says nothing, and the longest bucket of a text of short sentences may have so few."""
FLOOR_BLEU = 5.0
"""BLEU under which an arm has not learned to translate. Near zero, corpus BLEU is mostly the
smoothing of orders without a match, which falls as texts grow, whatever the translations are."""
LEAST_BASE = 1.0
"""BLEU under which a change is not stated in per cent of it: that would be noise over noise."""
FAMILY = (
    "The rule judges one family of arms, which differ in attention and seed alone. Of the families "
    "that have the arms the claim is about (on a text with what the claim needs, if there is one) "
    "it is the nearest to the lecture's settings; of several, the one with the largest context, "
    "then with the fewest updates. Other arms are only reported."
)
"""Which arms of a study's table its claims judge: the end of their rules."""
SIGNED = "{:+z.2f}"
"""The form of a difference in BLEU that no word gives a direction."""

Held = Literal["held", "partly", "not held", "not measured"]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim of the lecture held, by which rule, because of which numbers.

    ``value`` is the number that the rule turns on first, ``low`` to ``high`` its 95 % interval, and
    ``measure`` says of what; None, and empty, if there is none.
    """

    claim: str
    verdict: Held
    rule: str
    because: str
    measure: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class BucketScores:
    """BLEU of one bucket: both arms from the same resampling weights, so their gain is paired."""

    name: str
    sentences: int
    none: Estimate
    attention: Estimate | None = None

    @property
    def gain(self) -> Estimate:
        """Attention minus none, in BLEU; ValueError without a score of attention."""
        if self.attention is None:
            raise ValueError(f"bucket {self.name} has no score with attention")
        return difference(self.attention, self.none)


def numbers(measure: str, value: float, low: float, high: float) -> dict[str, Any]:
    """The fields of a `Verdict` for its number; what is not a number is None."""
    known = {"value": value, "low": low, "high": high}
    blanked = {name: None if math.isnan(item) else float(item) for name, item in known.items()}
    return {"measure": measure, **blanked}


def decided(
    claim: str, word: Held, rule: str, clauses: Sequence[str], measure: str, estimate: Estimate
) -> Verdict:
    """The verdict that an estimate decides, with the clauses of its reason that are not empty."""
    number = numbers(measure, estimate.value, estimate.interval.low, estimate.interval.high)
    return Verdict(claim, word, rule, "; ".join(filter(None, clauses)), **number)


def marked(sentences: int) -> bool:
    """Whether a row has too few sentences to be read without a mark."""
    return sentences < MARKED_BELOW


def small_buckets(sentences: Mapping[str, int]) -> str:
    """A clause that names the buckets under `MARKED_BELOW` sentences; empty if none is."""
    small = [f"{name} (n = {n})" for name, n in sentences.items() if marked(n)]
    return f"under {MARKED_BELOW} sentences: {', '.join(small)}" if small else ""


def learned(bleu: float) -> bool:
    """Whether an arm has learned to translate, by its BLEU in some bucket; nan has not."""
    return bleu >= FLOOR_BLEU


def at_floor(estimates: Sequence[Estimate | None]) -> bool:
    """Whether no estimate that was measured reaches the floor: there is nothing to judge."""
    values = [item.value for item in estimates if item is not None and item.filled]
    return not any(map(learned, values))


def unlearned(arms: str, where: str) -> str:
    """Why arms ("with attention") that have not learned to translate are not judged."""
    return f"BLEU {arms} is under {FLOOR_BLEU:g} in {where}: nothing has been learned to judge"


def needs_learned(lacking: str) -> str:
    """The sentence of a rule on the floor; ``lacking`` says without which arms nothing is left."""
    return (
        f"An arm whose BLEU in the shortest filled bucket is under {FLOOR_BLEU:g} has not learned "
        f"to translate: it is left out and named. Not measured if that leaves {lacking}."
    )


def ranged(value: float, low: float, high: float, form: str, unit: str = "") -> str:
    """A number with its 95 % interval: ``44 % [42, 46]``; the form should have ``z``."""
    return f"{form.format(value)}{unit} [{form.format(low)}, {form.format(high)}]"


def changed(estimate: Estimate, more: str, less: str) -> str:
    """A difference in BLEU in the phrase for its direction: ``falls by {}`` or ``rises by {}``.

    ``less`` is for a difference below 0, which loses its sign.
    """
    if estimate.value >= 0:
        return more.format(with_interval(estimate))
    return less.format(with_interval(negative(estimate)))


def negative(estimate: Estimate) -> Estimate:
    """The estimate with its sign changed, so that the lowest becomes the largest."""
    return Estimate(-estimate.value, -estimate.draws)


def with_interval(estimate: Estimate, form: str = "{:z.2f}", unit: str = "") -> str:
    """`ranged` of an estimate, in BLEU if there is no other form."""
    return ranged(estimate.value, estimate.interval.low, estimate.interval.high, form, unit)


def two_digits(value: float) -> str:
    """Two significant digits always, in columns of many sizes: ``6.0``, ``0.30``, ``2.5e-07``."""
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:#.2g}"
