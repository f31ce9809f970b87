"""Numbers with intervals, and the table of a question's probe that they are read from."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from ..settings.concerns import UNSELECTIVE

KEYS = ("arm", "bucket", "control", "part")
"""What an estimate is of, besides its measure."""


@dataclass(frozen=True)
class Estimate:
    """A number, its 95 % interval, and how many sentences (words, links, states) it is of.

    ``note`` is the row's.
    """

    value: float
    low: float
    high: float
    n: int = 0
    note: str = ""

    def within(self, low: float, high: float) -> bool:
        """Whether the interval lies within these ends."""
        return low <= self.low and self.high <= high

    def scaled(self, factor: float) -> "Estimate":
        """The number in a different unit."""
        return Estimate(factor * self.value, factor * self.low, factor * self.high, self.n)

    def minus(self, other: "Estimate") -> "Estimate":
        """The difference of two independent numbers: the errors' squares add up."""
        value = self.value - other.value
        half = math.hypot(self.high - self.low, other.high - other.low) / 2
        return Estimate(value, value - half, value + half, min(self.n, other.n))

    def text(self, form: str = "{:.1f}", unit: str = "") -> str:
        """``44 % [42, 46]``: the number, its unit, and its interval."""
        value, low, high = (form.format(end) for end in (self.value, self.low, self.high))
        return f"{value}{unit} [{low}, {high}]"

    def change(self, more: str, less: str, form: str = "{:.1f}", unit: str = "") -> str:
        """The number in a phrase for its direction: ``grows by {}`` or ``shrinks by {}``."""
        if self.value >= 0:
            return more.format(self.text(form, unit))
        return less.format(Estimate(-self.value, -self.high, -self.low).text(form, unit))


class Estimates:
    """The means over seeds of ``probes/NAME.csv``: one estimate for each measure, arm, bucket, ...

    ``means`` are their rows as they are.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        texts = frame.reindex(columns=[*KEYS, "note"]).astype("object").fillna("")
        means = frame.assign(**texts)[frame["seed"].isna()]
        self.means = means
        self._rows = {
            (row["measure"], *(row[key] for key in KEYS)): Estimate(
                *(row[end] for end in ("value", "low", "high")),
                n=0 if pd.isna(row["n"]) else int(row["n"]),
                note=row["note"],
            )
            for row in means.to_dict("records")
        }
        self._attention = dict(zip(means["arm"], means["attention"], strict=True))

    def get(
        self, measure: str, arm: str, bucket: str = "", control: str = "", part: str = ""
    ) -> Estimate | None:
        """The estimate with these keys; None where there is none."""
        return self._rows.get((measure, arm, bucket, control, part))

    def attention(self, arm: str) -> str:
        """The attention of an arm."""
        return self._attention[arm]

    def keys(self, measure: str) -> Iterator[tuple[str, str, str, str]]:
        """Arm, bucket, control and part of each estimate of a measure, in the order of the file."""
        return (rest for name, *rest in self._rows if name == measure)

    def arms(self, selective: bool | None = None) -> list[str]:
        """The arms in order; ``selective``: only those that can (or cannot) attend to a word."""
        return [
            arm
            for arm, attention in self._attention.items()
            if selective is None or selective == (attention not in UNSELECTIVE)
        ]

    def buckets(self) -> list[str]:
        """The length buckets, shortest first."""
        return list(dict.fromkeys(bucket for _, _, bucket, _, _ in self._rows if bucket))
