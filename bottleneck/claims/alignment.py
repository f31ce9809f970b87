"""C7: is alignment learned for free, and can it be read off the attention weights?

Free is what nobody taught: the weights' links must beat those of the diagonal, which knows no
words, and of IBM model 1, which was made to align and was trained on the same text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .verdict import (
    FAMILY,
    MARKED_BELOW,
    Held,
    Verdict,
    directed,
    marked,
    needs_learned,
    numbers,
    ranged,
)

BASELINES = {"diagonal": "the diagonal", "ibm1": "IBM model 1"}

ALIGNMENT_RULE = (
    "Read is the alignment error rate (AER) of the links that each target word's largest weight "
    "makes, teacher-forced on the references, over all lengths, against the gold links; of a "
    "baseline, its AER minus that of the weights, paired by sentence. Held if of every arm whose "
    "weights select the 95 % intervals of this difference lie above 0 for the diagonal and for IBM "
    "model 1, trained on the run's own training pairs; partly if for the diagonal alone, or not "
    "in every arm; else not held. Equal weights (uniform) have no largest and are not judged. "
    f"{FAMILY} {needs_learned('none with attention')}"
)
UNMEASURED = "no alignment was measured: `bottleneck study alignment` does it"


@dataclass(frozen=True)
class Rate:
    """A rate or a difference of rates, 0 to 1, with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return ranged(self.value, self.low, self.high, "{:z.3f}")

    @property
    def beside(self) -> str:
        """A difference: ``higher by 0.423 [0.413, 0.434]``."""
        ends = self.value, self.low, self.high
        return directed(*ends, "{:z.3f}", "higher by {}", "lower by {}")


@dataclass(frozen=True)
class Aligned:
    """One arm's error rate, the baselines' own, and how far it is below them."""

    arm: str
    n: int
    error: Rate
    baselines: dict[str, Rate]
    gaps: dict[str, Rate]

    @property
    def beaten(self) -> list[str]:
        """The baselines that are clearly worse."""
        return [name for name, gap in self.gaps.items() if gap.low > 0]


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C7, from the table of the study ``alignment`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C7", "not measured", ALIGNMENT_RULE, UNMEASURED)
    return read_off(read_aligned(frame))


def read_off(arms: Sequence[Aligned]) -> Verdict:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    if not arms:
        reason = "no arm with weights that select was measured"
        return Verdict("C7", "not measured", ALIGNMENT_RULE, reason)
    worst = max(arms, key=lambda arm: arm.error.value)
    told = numbers(f"AER of the weights, {worst.arm}",
                   worst.error.value, worst.error.low, worst.error.high)  # fmt: skip
    because = "; ".join([*(_clause(arm) for arm in arms), *_small(arms)])
    return Verdict("C7", _graded(arms), ALIGNMENT_RULE, because, **told)


def _graded(arms: Sequence[Aligned]) -> Held:
    """The rule."""
    if all(set(BASELINES) <= set(arm.beaten) for arm in arms):
        return "held"
    return "partly" if any("diagonal" in arm.beaten for arm in arms) else "not held"


def _clause(arm: Aligned) -> str:
    against = ", ".join(
        f"that of {BASELINES[name]} {arm.baselines[name]} ({gap.beside})"
        for name, gap in arm.gaps.items()
    )
    return f"{arm.arm}: the AER of the weights is {arm.error}, {against}"


def _small(arms: Sequence[Aligned]) -> list[str]:
    fewest = min(arm.n for arm in arms)
    return [f"under {MARKED_BELOW} sentences (n = {fewest})"] if marked(fewest) else []


def read_aligned(frame: pd.DataFrame) -> list[Aligned]:
    """Each arm's numbers over all lengths, from the rows that are means over seeds."""
    rows = frame[frame["seed"].isna() & (frame["bucket"] == "")]
    read = [_aligned(str(arm), held) for arm, held in rows.groupby("arm", sort=False)]
    return [each for each in read if each is not None]


def _aligned(arm: str, rows: pd.DataFrame) -> Aligned | None:
    held = {(row["measure"], row["control"]): row for row in rows.to_dict("records")}
    if ("aer", "") not in held:
        return None
    return Aligned(
        arm,
        int(held["aer", ""]["n"]),
        _rate(held["aer", ""]),
        {name: _rate(held["aer", name]) for name in BASELINES},
        {name: _rate(held["aer_gap", name]) for name in BASELINES},
    )


def _rate(row: dict) -> Rate:
    return Rate(float(row["value"]), float(row["low"]), float(row["high"]))
