"""A worked example as data: steps with their formula, their numbers and the slide's slips."""

from collections.abc import Sequence
from dataclasses import dataclass

from .checks import Audit, Check, listed
from .grid import Grid
from .verdicts import rounds_to

_FAULTS = {"wrong": "wrong", "in part": "right in part"}


@dataclass(frozen=True, eq=False)
class Step:
    """One step: what is done, by which formula, the numbers line by line.

    ``slips`` are what the slide prints or says and is not so; ``findings`` are ours, of which the
    slide says nothing.
    """

    title: str
    formula: str
    lines: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    findings: tuple[str, ...] = ()


def vector(values: Sequence[float], form: str = "{:g}") -> str:
    """``(0.5, -0.2, 0.8)``."""
    return f"({', '.join(form.format(value + 0) for value in values)})"


def product(a: Sequence[float], b: Sequence[float]) -> str:
    """A dot product written out: ``0.5 x 0.1 + (-0.2) x 0.2``."""
    return " + ".join(f"{factor(x)} x {factor(y)}" for x, y in zip(a, b, strict=True))


def factor(value: float) -> str:
    """A number as a factor or a base: in brackets where it is negative."""
    return f"({value:.4g})" if value < 0 else f"{value:.4g}"


def slip(
    what: str,
    printed: Sequence[str],
    values: Sequence[float | int],
    form: str,
    tens: bool = False,
) -> tuple[str, ...]:
    """One line where what the slide prints is not what the values round to; ``tens`` as there."""
    if all(rounds_to(*pair, tens) for pair in zip(printed, values, strict=True)):
        return ()
    return (f"The slide prints {what} {' '.join(printed)}, not {listed(values, form)}.",)


def columns(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Rows of texts as lines with the texts under each other."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return tuple(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def check_steps(audit: Audit) -> list[Step]:
    """The walk of an id without a worked example: each thing printed, and the same recomputed."""
    return [_check_step(check, audit) for check in audit.checks]


def _check_step(check: Check, audit: Audit) -> Step:
    name = check.name.rstrip(":=").strip() or audit.topic
    lines = columns([("slide", check.printed), ("recomputed", check.recomputed)])
    return Step(name[0].upper() + name[1:], "", lines, _fault(check, audit))


def _fault(check: Check, audit: Audit) -> tuple[str, ...]:
    """That a part does not hold; of a whole that is not measured it is said to be a part."""
    if check.judgement not in ("wrong", "in part"):
        return ()
    if audit.verdict == "not measured":
        return (f"This part is {_FAULTS[check.judgement]}; others are not measured.",)
    return (check.judgement.capitalize() + ".",)
