"""What an audit may say of something printed, and the rules by which it says so."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Judgement = Literal["right", "rounded freely", "in part", "wrong", "illustration", "not measured"]

RULES: Mapping[Judgement, str] = {
    "right": "each recomputed number, rounded at the last digit printed, is the printed one (a "
    "count exactly; in L4's ratios a whole number that ends in 0 may stand for its ten), and each "
    "claim holds",
    "rounded freely": "not so rounded, but each printed number is that of some length in the "
    "range that its row names",
    "in part": "some of the numbers and claims are right, others are not",
    "wrong": "none of the numbers and claims is right",
    "illustration": "nothing printed gives the numbers, and what can be checked of them holds "
    "(probabilities sum to 1 at most, a table of BLEU keeps its own claim, words said to be lost "
    "are the sentence's); or, of L10, the row's largest weight is the word's translation in half "
    "of the rows or fewer",
    "not measured": "a matter of measurement, and none is at hand that decides it; an order of L15 "
    "is right where the whole interval of the exponent of attention's seconds in the length rounds "
    "to the printed one (T a step, T^2 in all, both sides T long), wrong where none of it does",
}

TOLERANCE = 1e-9
"""For floating-point sums that end half-way between two printed numbers."""


def last_digit(printed: str, tens: bool = False) -> float:
    """The unit of the last digit: ``"2.7"`` 0.1, ``"-47"`` 1, ``"40"`` 1, or with ``tens`` 10."""
    whole, _, decimals = printed.partition(".")
    if decimals:
        return 10.0 ** -len(decimals)
    ten = tens and len(whole.strip("+-")) > 1 and whole.endswith("0")
    return 10.0 if ten else 1.0


def rounds_to(printed: str, value: float | int, tens: bool = False) -> bool:
    """Whether the value, rounded at the last digit printed (a half either way), is as printed."""
    return abs(float(printed) - value) <= last_digit(printed, tens) / 2 + TOLERANCE


def of_parts(good: Sequence[bool]) -> Judgement:
    """Right where all are, wrong where none is, else in part."""
    if all(good):
        return "right"
    return "in part" if any(good) else "wrong"


def combined(judgements: Iterable[Judgement]) -> Judgement:
    """The judgement of a whole from those of its parts."""
    held = set(judgements)
    if "not measured" in held:
        return "not measured"
    if len(held) == 1:
        return held.pop()
    if held == {"right", "rounded freely"}:
        return "rounded freely"
    if held == {"right", "illustration"}:
        return "illustration"
    return "wrong" if held == {"wrong", "illustration"} else "in part"
