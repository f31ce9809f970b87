"""What the lecture's slides print (``slides.toml``), and how it is judged.

Printed numbers and claims are compared with recomputed ones, and with the `Evidence` of trained
runs, a benchmark and the grammar.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

SLIDES: dict[str, dict[str, Any]] = tomllib.loads(
    resources.files(__package__).joinpath("slides.toml").read_text(encoding="utf8"),
    parse_float=Decimal,  # keeps the last digit of 0.60
)
"""What is printed on each id's slide, in the lecture's order."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Attention weights, one row per target word; ``gold``: the column of its translation."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    weights: Float[np.ndarray, "rows columns"]
    gold: Sequence[int]


@dataclass(frozen=True)
class Evidence:
    """The slides, and what they are compared with.

    ``alignment``, for L16, has the source words, the target words, and each source word's positions
    in the target. ``cost``, for L15, is an arm and the exponent of its seconds (a `Number`):
    constant x length per side ^ exponent. ``learned`` is for L10. ``arms``, for L17 and L-SHORT,
    has each arm's translations and, for each step of L17, the word before and likely next words.
    """

    alignment: tuple[Sequence[str], Sequence[str], Sequence[Sequence[int]]]
    cost: tuple[str, Any] | None = None
    learned: Grid | None = None
    arms: Mapping[str, tuple[Sequence[str], Sequence[tuple]]] = field(default_factory=dict)
    slides: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: SLIDES)


RULES = {
    "right": "every recomputed number rounds to the printed one, and every claim holds",
    "rounded freely": "a printed number is not the rounded one, but it is right for some length in "
    "its range",
    "in part": "some of the numbers and claims are right, others are not",
    "wrong": "none of the checked numbers and claims is right",
    "illustration": "the slides do not say where the numbers come from, and what can be checked "
    "holds; in L10, the largest weight is on the translation in at most half of the rows",
    "not measured": "only a measurement can decide this, and there is none yet; an order in L15 is "
    "right if both ends of the measured exponent's interval round to it",
}
"""The judgements of a check and of an id, and when each is given."""


class Check(NamedTuple):
    """Printed numbers or a printed claim, what was recomputed, and whether they agree."""

    name: str
    printed: str
    recomputed: str
    judgement: str


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a walk-through: its formula, columns of text side by side, checks and notes."""

    title: str
    formula: str = ""
    columns: Sequence[Sequence[str]] = ()
    checks: Sequence[Check] = ()
    notes: Sequence[str] = ()
    grids: Sequence[Grid] = ()


@dataclass(frozen=True, eq=False)
class Audit:
    """An id's steps and their summary: what is printed, what was recomputed, and the verdict."""

    id: str
    topic: str
    steps: Sequence[Step]
    printed: str
    recomputed: str
    verdict: str
    why: str


def rounds_to(printed: Decimal | float | int, value: float | int, tens: bool = False) -> bool:
    """Whether the value rounds to the printed number, in its last digit or in ``tens``."""
    decimals = str(printed).partition(".")[2]
    unit = 10.0 if tens and printed % 10 == 0 else 10.0 ** -len(decimals)
    return bool(abs(float(printed) - value) <= unit / 2 + 1e-9)  # half-way, with a rounding error


def numbers(
    name: str, printed: Sequence[Decimal | float | int], values: Iterable[float | int],
    form: str = "{:g}", unit: str = "", tens: bool = False,
) -> Check:  # fmt: skip
    """A check of printed numbers: each is right if its value rounds to it."""
    values = [float(value) for value in values]
    good = [rounds_to(*pair, tens) for pair in zip(printed, values, strict=True)]
    return Check(name, " ".join(map(str, printed)) + unit, listed(values, form) + unit, parts(good))


def parts(good: Sequence[bool] | Bool[np.ndarray, " parts"]) -> str:
    """Right if all are, wrong if none is, else in part."""
    return "right" if all(good) else "in part" if any(good) else "wrong"


def listed(
    values: Iterable[Decimal | float | int], form: str = "{:.3f}", between: str = " "
) -> str:
    """Numbers in the same format, separated by spaces; without "-0"."""
    return between.join(form.format(value + 0) for value in values)
