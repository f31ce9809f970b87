"""C11: does one network serve any length, in and out?

Judged is what shows without a look at the words: whether outputs are as long as they should be, end
by themselves, and do not go round in circles. An arm without attention is judged by the same
conditions and told beside; the verdict is on the arms with attention. What has not learned to
translate is in neither: `tables.judged` leaves it out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..settings.concerns import UNSELECTIVE
from .verdict import FAMILY, MARKED_BELOW, Held, Verdict, marked, needs_learned, numbers

RATIO = (0.9, 1.1)
MOST_FAULTS = 0.05
ENOUGH = 0.5
"""Ends of the length ratio; shares (0 to 1) of the outputs, and of the buckets."""

LENGTH_RULE = (
    "An arm serves a bucket if the length ratio of its outputs to the references (tokens) has a "
    f"95 % interval within {RATIO[0]:g} to {RATIO[1]:g}, and if the upper ends of the intervals of "
    "the shares of empty, of unfinished and of repeating outputs, the latter less the references' "
    f"own share, are under {MOST_FAULTS:.0%} each. Held if the arms with attention (all that there "
    f"are) serve every filled bucket; partly if they serve at least {ENOUGH:.0%} of them; else not "
    "held. Arms without attention are told beside. Not measured with fewer than two filled "
    f"buckets. {FAMILY} {needs_learned('none with attention')}"
)
UNMEASURED = "the lengths of the outputs have not been counted: `bottleneck study length` does it"


@dataclass(frozen=True)
class Outputs:
    """One arm's outputs in one bucket.

    ``ratio`` is the length ratio with its interval, ``faults`` the upper ends of the shares (0 to
    1) of outputs that went wrong, by kind.
    """

    arm: str
    bucket: str
    n: int
    ratio: float
    low: float
    high: float
    faults: Mapping[str, float]

    @property
    def served(self) -> bool:
        """Whether the outputs are as long as they should be, and few of them went wrong."""
        return not self.wrong

    @property
    def wrong(self) -> list[str]:
        """What keeps the arm from serving the bucket, in words."""
        found = [
            f"{name} up to {share:.0%}"
            for name, share in self.faults.items()
            if not share < MOST_FAULTS
        ]
        within = RATIO[0] <= self.low and self.high <= RATIO[1]
        return found if within else [f"ratio {self.shown}", *found]

    @property
    def shown(self) -> str:
        """The ratio with its interval."""
        return f"{self.ratio:.2f} [{self.low:.2f}, {self.high:.2f}]"


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C11, from the table of the study ``length`` (columns `PROBE_COLUMNS`); None: not measured."""
    if frame is None:
        return Verdict("C11", "not measured", LENGTH_RULE, UNMEASURED)
    attending = ~frame["attention"].isin(UNSELECTIVE)
    return any_length(read_outputs(frame[attending]), read_outputs(frame[~attending]))


def read_outputs(frame: pd.DataFrame) -> list[Outputs]:
    """The filled buckets of every arm, from the rows that are means over seeds."""
    rows = frame[frame["seed"].isna()].groupby(["arm", "bucket"], sort=False)
    read = [_outputs(str(arm), str(bucket), held) for (arm, bucket), held in rows]
    return [each for each in read if each.n]


def _outputs(arm: str, bucket: str, rows: pd.DataFrame) -> Outputs:
    held = rows.set_index("measure")
    ratio, high = held.loc["length_ratio"], held["high"]
    return Outputs(
        arm=arm,
        bucket=bucket,
        n=int(ratio["n"]),
        ratio=float(ratio["value"]),
        low=float(ratio["low"]),
        high=float(ratio["high"]),
        faults={
            "empty": float(high["empty"]),
            "unfinished": float(high["unfinished"]),
            "repeating": float(high["repeating"] - held["value"]["repeating_references"]),
        },
    )


def any_length(attending: Sequence[Outputs], others: Sequence[Outputs]) -> Verdict:
    """C11: outputs are as long as they should be, whatever the length."""
    if not attending:
        return Verdict("C11", "not measured", LENGTH_RULE, "no arm with attention was counted")
    if len({each.bucket for each in attending}) < 2:
        return Verdict("C11", "not measured", LENGTH_RULE, "fewer than two buckets are filled")
    worst = max(attending, key=lambda each: abs(each.ratio - 1))
    clauses = [
        _clauses(attending),
        f"the length ratio furthest from 1 is {worst.shown} ({worst.arm}, {worst.bucket})",
        f"beside: {_counts(others)}" if others else "",
        _small(attending),
    ]
    told = numbers(
        f"length ratio furthest from 1 ({worst.arm}, {worst.bucket})",
        worst.ratio,
        worst.low,
        worst.high,
    )
    because = "; ".join(clause for clause in clauses if clause)
    return Verdict("C11", _graded(attending), LENGTH_RULE, because, **told)


def _graded(cells: Sequence[Outputs]) -> Held:
    """The rule."""
    share = sum(each.served for each in cells) / len(cells)
    if share == 1:
        return "held"
    return "partly" if share >= ENOUGH else "not held"


def _clauses(cells: Sequence[Outputs]) -> str:
    """What each arm serves, and what it does not and why."""
    return "; ".join(_clause(arm, held) for arm, held in _by_arm(cells).items())


def _counts(cells: Sequence[Outputs]) -> str:
    """``none serves 1 of 5 length buckets, uniform 0 of 5``: why not, the study's table tells."""
    shares = {
        arm: f"{sum(each.served for each in held)} of {len(held)}"
        for arm, held in _by_arm(cells).items()
    }
    (first, share), *others = shares.items()
    rest = [f"{arm} {share}" for arm, share in others]
    return ", ".join([f"{first} serves {share} length buckets", *rest])


def _by_arm(cells: Sequence[Outputs]) -> dict[str, list[Outputs]]:
    arms = dict.fromkeys(each.arm for each in cells)
    return {arm: [each for each in cells if each.arm == arm] for arm in arms}


def _clause(arm: str, cells: Sequence[Outputs]) -> str:
    """``additive serves 4 of 5 length buckets, not 41+ (unfinished up to 7%)``."""
    lost = [f"{each.bucket} ({', '.join(each.wrong)})" for each in cells if not each.served]
    told = f"{arm} serves {len(cells) - len(lost)} of {len(cells)} length buckets"
    return f"{told}, not {', '.join(lost)}" if lost else told


def _small(cells: Sequence[Outputs]) -> str:
    small = {each.bucket: each.n for each in cells if marked(each.n)}
    named = ", ".join(f"{bucket} (n = {n})" for bucket, n in small.items())
    return f"under {MARKED_BELOW} sentences: {named}" if named else ""
