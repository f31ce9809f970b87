"""What a rule returns, and phrases that rules share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..scoring.bootstrap import Number

MARKED_BELOW = 100
"""A bucket with fewer sentences is marked; Koehn 2004 validates nothing below 300."""
READ_FROM = 10
"""L- rules ignore a bucket with fewer sentences: an interval over two or three says nothing."""
FLOOR_BLEU = 5.0
"""An arm has learned to translate if its BLEU is at least this: near 0, it is mostly smoothing."""
LEAST_BASE = 1.0
"""A change from a BLEU below this is not given in per cent."""


@dataclass(frozen=True)
class Measured(Number):
    """A number of a study's table; ``n`` counts its sentences (words, links, ...)."""

    value: float
    low: float
    high: float
    n: int = 0
    note: str = ""

    def scaled(self, factor: float) -> "Measured":
        """The number in a different unit."""
        return Measured(factor * self.value, factor * self.low, factor * self.high, self.n)

    def minus(self, other: "Measured") -> "Measured":
        """The difference of two independent numbers: the errors' squares add up."""
        value = self.value - other.value
        half = math.hypot(self.high - self.low, other.high - other.low) / 2
        return Measured(value, value - half, value + half, min(self.n, other.n))


@dataclass(frozen=True)
class Judgement:
    """What a rule finds: its conditions, clauses of the reason, and its number with a name."""

    fully: bool
    partly: bool
    because: Sequence[str]
    measure: str
    number: Number


@dataclass(frozen=True)
class Verdict:
    """``held``, ``partly``, ``not held`` or ``not measured``, with the reason and a number."""

    claim: str
    verdict: str
    rule: str
    because: str
    measure: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, claim: str, rule: str, judged: Judgement | str) -> "Verdict":
        """The verdict that a judgement gives; a text says why the claim is not measured."""
        if isinstance(judged, str):
            return cls(claim, "not measured", rule, judged)
        word = "held" if judged.fully else "partly" if judged.partly else "not held"
        because = "; ".join(filter(None, judged.because))
        numbers = judged.number.row().items()
        finite = {name: float(end) if math.isfinite(end) else None for name, end in numbers}
        return cls(claim, word, rule, because, judged.measure, **finite)


def small_buckets(sentences: Mapping[str, int]) -> str:
    """A clause that names buckets under `MARKED_BELOW` sentences; empty if there are none."""
    small = [f"{name} (n = {n})" for name, n in sentences.items() if n < MARKED_BELOW]
    return f"under {MARKED_BELOW} sentences: {', '.join(small)}" if small else ""


def unlearned(arms: str, where: str) -> str:
    """The reason not to judge arms ("with attention") that have not learned to translate."""
    return f"BLEU {arms} is under {FLOOR_BLEU:g} in {where}: too little was learned to judge"
