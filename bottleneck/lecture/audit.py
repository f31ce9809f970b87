"""How the printed numbers are judged: checks against recomputed numbers, verdicts, their rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .slides import Grid, Number

Judgement = Literal["right", "rounded freely", "in part", "wrong", "illustration", "not measured"]

RULES: Mapping[Judgement, str] = {
    "right": "each recomputed number, rounded to the last digit that the slide prints, is the "
    "printed number (in L4 a ratio that ends in 0 may be rounded to tens), and each claim holds",
    "rounded freely": "the printed numbers are not rounded to their last digit, but each is right "
    "for some length in its row's range",
    "in part": "some of the numbers and claims are right, others are not",
    "wrong": "none of the numbers and claims is right",
    "illustration": "nothing on the slides gives the numbers, and what can be checked holds: "
    "probabilities sum to at most 1, the tables of BLEU keep their own claim, the words said to be "
    "lost are in the sentence; in L10, the largest weight is on the translation in at most half "
    "of the rows",
    "not measured": "only a measurement can decide this, and none does so far; an order in L15 is "
    "right if the whole interval of the exponent of attention's seconds over the length T rounds "
    "to the printed exponent (T a step, T^2 in all), and wrong if no part of the interval does",
}

TOLERANCE = 1e-9
"""For floating-point sums that end half-way between two printed numbers."""


class Check(NamedTuple):
    """Printed numbers or a printed claim, the same recomputed, and whether they agree."""

    name: str
    printed: str
    recomputed: str
    judgement: Judgement


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a walk-through: its formula, columns of text, what is checked in it."""

    title: str
    formula: str = ""
    columns: Sequence[Sequence[str]] = ()
    checks: Sequence[Check] = ()
    notes: Sequence[str] = ()
    grids: Sequence[Grid] = ()

    @property
    def lines(self) -> list[str]:
        """The columns side by side, line by line."""
        widths = [max(map(len, column), default=0) for column in self.columns]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in zip(*self.columns, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Audit:
    """An id's walk-through and its summary.

    That is all that is checked, what the slide prints of it and the same recomputed, part by part,
    the judgement of all parts together, and why.
    """

    id: str
    topic: str
    steps: Sequence[Step]
    checks: Sequence[Check]
    printed: str
    recomputed: str
    verdict: Judgement
    why: str


def rounds_to(printed: Number, value: Number, tens: bool = False) -> bool:
    """Whether the value, rounded to the last printed digit (a half either way), is as printed.

    With ``tens`` a whole number that ends in 0 may be rounded to tens: ``40`` of 39.06.
    """
    whole, _, decimals = str(printed).partition(".")
    to_tens = tens and not decimals and len(whole.strip("+-")) > 1 and whole.endswith("0")
    unit = 10.0 if to_tens else 10.0 ** -len(decimals)
    return bool(abs(printed - value) <= unit / 2 + TOLERANCE)


def numbers(
    name: str,
    printed: Sequence[Number],
    values: Iterable[Number],
    form: str = "{:g}",
    unit: str = "",
    tens: bool = False,
) -> Check:
    """A check of printed numbers: each is right if its value rounds to it."""
    values = [float(value) for value in values]
    good = [rounds_to(*pair, tens) for pair in zip(printed, values, strict=True)]
    return Check(name, " ".join(map(str, printed)) + unit, listed(values, form) + unit, parts(good))


def claim(name: str, printed: str, recomputed: str, holds: Iterable[bool]) -> Check:
    """A check of a claim in words, each part of which holds or not."""
    return Check(name, printed, recomputed, parts(list(holds)))


def parts(good: Sequence[bool]) -> Judgement:
    """Right if all are, wrong if none is, else in part."""
    if all(good):
        return "right"
    return "in part" if any(good) else "wrong"


def combined(judgements: Iterable[Judgement]) -> Judgement:
    """The judgement of a whole from those of its parts."""
    kinds = set(judgements)
    if "not measured" in kinds:
        return "not measured"
    if len(kinds) == 1:
        return kinds.pop()
    for least in ("rounded freely", "illustration"):
        if kinds == {"right", least}:
            return least
    return "wrong" if kinds == {"wrong", "illustration"} else "in part"


def formatted(form: str, values: Iterable[Number]) -> list[str]:
    """Each number in one form; no "-0"."""
    return [form.format(value + 0) for value in values]


def listed(values: Iterable[Number], form: str = "{:.3f}") -> str:
    """Numbers in one form, separated by spaces."""
    return " ".join(formatted(form, values))


def vector(values: Iterable[Number], form: str = "{:g}") -> str:
    """``(0.5, -0.2, 0.8)``."""
    return f"({', '.join(formatted(form, values))})"


def product(a: Iterable[Number], b: Iterable[Number]) -> str:
    """A dot product written out: ``0.5 x 0.1 + (-0.2) x 0.2``."""
    signed = [[f"({x:g})" if x < 0 else f"{x:g}" for x in values] for values in (a, b)]
    return " + ".join(map(" x ".join, zip(*signed, strict=True)))
