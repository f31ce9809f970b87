"""C8: does attention shorten the path for gradients?

A long path shows in a gradient that fades with the steps it has to go. Judged is how fast it fades
(the half-distance), and what of it arrives over the most steps, both at the end of training; the
start of training is told beside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..settings.concerns import UNSELECTIVE
from .verdict import (
    FAMILY,
    MARKED_BELOW,
    Held,
    Verdict,
    marked,
    needs_learned,
    numbers,
    two_digits,
)

NONE = "none"

GRADIENTS_RULE = (
    "Read is, of each target word, the gradient of its own loss at its aligned source word, "
    "relative to that at the last source position, by the steps between the two without attention: "
    "the half-distance (steps over which the ratio's exponential fit halves; all lengths) and the "
    "ratio in the farthest band of steps that both arms have, in trained networks. Each is clear "
    "if the 95 % interval (bootstrap over sentences) with attention lies wholly above the one "
    "without; a half-distance beyond the steps that were tested counts as infinite. Held if both "
    "are clear in every arm with attention; partly if one of the two is, in every one; else not "
    "held. Not measured without both arms. Equal weights (uniform) are told beside. "
    f"{FAMILY} {needs_learned('none without attention, or none with it')}"
)
UNMEASURED = "no gradient was measured: `bottleneck study gradients` does it"


@dataclass(frozen=True)
class Reach:
    """A number with its 95 % interval; infinite where it lies beyond what was tested.

    ``tested`` are the most steps that were, of a half-distance.
    """

    value: float
    low: float
    high: float
    tested: float = float("nan")

    def above(self, other: "Reach") -> bool:
        """Whether the whole interval lies above the other's."""
        return self.low > other.high

    @property
    def ratio(self) -> str:
        """In words, of a ratio: ``4.7 [4.5, 4.9]``."""
        value, *ends = map(two_digits, (self.value, self.low, self.high))
        return f"{value} [{', '.join(ends)}]"

    @property
    def half(self) -> str:
        """In words, of a half-distance; beyond what was tested there is no number to tell."""
        if self.value == float("inf"):
            known = self.low < float("inf")
            lower = f" (at the interval's lower end every {self.low:.1f})" if known else ""
            return f"does not halve within {self.tested:.0f} steps{lower}"
        value, *ends = map(self._end, (self.value, self.low, self.high))
        return f"halves every {value} [{', '.join(ends)}] steps"

    def _end(self, value: float) -> str:
        return f"over {self.tested:.0f}" if value == float("inf") else f"{value:.1f}"


@dataclass(frozen=True)
class Fading:
    """One arm's gradient by steps: half-distance, and ratio by band, nearest band first.

    ``n`` are the links that the half-distance was measured on.
    """

    arm: str
    attention: str
    n: int
    half: Reach
    ratios: dict[str, Reach]


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C8, from the table of the study ``gradients`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C8", "not measured", GRADIENTS_RULE, UNMEASURED)
    return shorter_path(read_fading(frame, ""), read_fading(frame, "untrained"))


def shorter_path(trained: Sequence[Fading], untrained: Sequence[Fading] = ()) -> Verdict:
    """C8: with attention a gradient fades later, and more of it arrives from far away."""
    others = [arm for arm in trained if arm.attention not in UNSELECTIVE]
    none = next((arm for arm in trained if arm.attention == NONE), None)
    if none is None or not others:
        reason = "both arms are needed, with attention and without, that differ in nothing else"
        return Verdict("C8", "not measured", GRADIENTS_RULE, reason)
    shared = [_farthest(none, arm) for arm in others]
    if not all(shared):
        reason = "the arms share no band of steps"
        return Verdict("C8", "not measured", GRADIENTS_RULE, reason)
    found = [
        (arm.half.above(none.half), arm.ratios[band].above(none.ratios[band]))
        for arm, band in zip(others, shared, strict=True)
    ]
    clauses = [f"how fast the gradient fades: {_halves(trained)}"]
    clauses += [_at_band(none, arm, band) for arm, band in zip(others, shared, strict=True)]
    clauses += [f"before training: {_halves(untrained)}"] if untrained else []
    clauses += [f"under {MARKED_BELOW} links (n = {none.n})"] if marked(none.n) else []
    half, name = none.half, f"half-distance in steps, {none.arm}"
    told = numbers(name, half.value, half.low, half.high)
    return Verdict("C8", _graded(found), GRADIENTS_RULE, "; ".join(clauses), **_finite(told))


def _graded(found: Sequence[tuple[bool, bool]]) -> Held:
    """The rule; each arm's half-distance and ratio are clear or not."""
    if all(half and ratio for half, ratio in found):
        return "held"
    one = all(half for half, _ in found) or all(ratio for _, ratio in found)
    return "partly" if one else "not held"


def _farthest(none: Fading, other: Fading) -> str:
    """The last band of both; empty where there is none."""
    return next((band for band in reversed(none.ratios) if band in other.ratios), "")


def _halves(arms: Sequence[Fading]) -> str:
    return ", ".join(f"of {arm.arm} it {arm.half.half}" for arm in arms)


def _at_band(none: Fading, other: Fading, band: str) -> str:
    return (
        f"over {band} steps it is, of {other.arm}, {other.ratios[band].ratio} times that at the "
        f"last position, of {none.arm} {none.ratios[band].ratio} times"
    )


def _finite(told: dict) -> dict:
    """A verdict's numbers are finite: what is beyond what was tested is left blank."""
    return {name: None if each == float("inf") else each for name, each in told.items()}


def read_fading(frame: pd.DataFrame, control: str) -> list[Fading]:
    """Each arm's numbers over all lengths, from the rows that are means over seeds."""
    mine = frame["seed"].isna() & (frame["bucket"] == "") & (frame["control"] == control)
    read = [_fading(str(arm), held) for arm, held in frame[mine].groupby("arm", sort=False)]
    return [each for each in read if each is not None]


def _fading(arm: str, rows: pd.DataFrame) -> Fading | None:
    halves = rows[rows["measure"] == "half_distance"].to_dict("records")
    if not halves:
        return None
    ratios = rows[rows["measure"] == "ratio"].to_dict("records")
    return Fading(
        arm,
        str(halves[0]["attention"]),
        int(halves[0]["n"]),
        read_half(halves[0]),
        {row["part"]: Reach(row["value"], row["low"], row["high"]) for row in ratios},
    )


def read_half(row: dict) -> Reach:
    """A half-distance; its row's ``note`` says which of value, low and high are open above."""
    ends = [float(row[name]) for name in ("value", "low", "high")]
    sides = (f"{row['note']};;").split(";")[:3]
    opened = [
        float("inf") if side == "at least" else end for end, side in zip(ends, sides, strict=True)
    ]
    tested = max((end for end, side in zip(ends, sides, strict=True) if side), default=float("nan"))
    return Reach(*opened, tested=tested)
