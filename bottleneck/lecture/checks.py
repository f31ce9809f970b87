"""Something printed held against what its own rule gives; several of them make an audit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .verdicts import Judgement, combined, of_parts, rounds_to


@dataclass(frozen=True)
class Check:
    """One printed number, list of numbers or claim, and the same recomputed."""

    name: str
    printed: str
    recomputed: str
    judgement: Judgement


@dataclass(frozen=True)
class Audit:
    """All that is checked of one id of the lecture, and why the verdict is what it is."""

    id: str
    topic: str
    checks: tuple[Check, ...]
    why: str

    @property
    def printed(self) -> str:
        """What the slide prints, part by part."""
        return "; ".join(f"{check.name} {check.printed}".strip() for check in self.checks)

    @property
    def recomputed(self) -> str:
        """The same parts, recomputed."""
        return "; ".join(f"{check.name} {check.recomputed}".strip() for check in self.checks)

    @property
    def verdict(self) -> Judgement:
        """The judgement of all the parts together."""
        return combined(check.judgement for check in self.checks)


def rounded(
    name: str,
    printed: Sequence[str],
    values: Sequence[float | int],
    form: str,
    unit: str = "",
    tens: bool = False,
) -> Check:
    """Numbers that were rounded: each is right where the value rounds to it.

    With ``tens`` a whole number that ends in 0 may stand for its ten.
    """
    good = [rounds_to(*pair, tens) for pair in zip(printed, values, strict=True)]
    return Check(name, " ".join(printed) + unit, listed(values, form) + unit, of_parts(good))


def counted(name: str, printed: Sequence[str], values: Sequence[int], unit: str = "") -> Check:
    """Counts: each is right where it is the count itself."""
    good = [float(text) == value for text, value in zip(printed, values, strict=True)]
    return Check(name, " ".join(printed) + unit, listed(values, "{}") + unit, of_parts(good))


def claimed(name: str, printed: str, recomputed: str, holds: Sequence[bool]) -> Check:
    """A claim in words, of which each part holds or not."""
    return Check(name, printed, recomputed, of_parts(holds))


def listed(values: Iterable[float | int], form: str = "{:.3f}") -> str:
    """Numbers in one form, with spaces between; no "-0"."""
    return " ".join(form.format(value + 0) for value in values)
