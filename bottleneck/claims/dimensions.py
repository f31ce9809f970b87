"""C4: is as much of the context in use as the slide says, 200 of its 256 numbers?

The slide says it of one sentence, and of a sentence nothing can be said: a set of contexts uses
dimensions. Read are those of the bucket that the sentence would be in, by the count that is nearest
to the slide's "numbers in use": the principal components that hold 95 % of the variance.
"""

from dataclasses import dataclass
from math import hypot

import pandas as pd

from .verdict import FAMILY, Held, Verdict, directed, needs_learned, numbers, ranged

SLIDE_USED, SLIDE_SIZE = 200, 256
SENTENCE_WORDS = 30
"""Words of the slide's sentence, which the slide takes for 40 or 42."""
TOLERANCE = 0.25
"""Share of the slide's number."""

DIMENSIONS_RULE = (
    "Read is how many principal components hold 95 % of the variance of the contexts, without "
    f"attention, in the bucket that holds {SENTENCE_WORDS} words, as the slide's sentence does; "
    f"the slide says {SLIDE_USED} of {SLIDE_SIZE}, other context sizes in proportion. Held if the "
    f"95 % interval lies within {TOLERANCE:.0%} of that ({SLIDE_USED * (1 - TOLERANCE):.0f} to "
    f"{SLIDE_USED * (1 + TOLERANCE):.0f} of {SLIDE_SIZE}) and above an untrained encoder's "
    "(interval of the paired difference above 0); partly if it is above the untrained encoder's "
    "and grows from the shortest filled bucket to the longest (interval of the difference above "
    f"0), as a capacity would that sentences use up; else not held. {FAMILY} "
    f"{needs_learned('none without attention')}"
)
UNMEASURED = "no context was measured: `bottleneck study dimensions` does it"


@dataclass(frozen=True)
class Measured:
    """A number of dimensions with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return ranged(self.value, self.low, self.high, "{:z.0f}")

    def directed(self, more: str, less: str) -> str:
        """A difference in the phrase that says its direction."""
        return directed(self.value, self.low, self.high, "{:z.0f}", more, less)

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class InUse:
    """What the rule takes in, of one arm without attention.

    ``used`` are the components of the judged bucket, ``added`` those beyond an untrained encoder's,
    ``at_half`` those of half of the sentences; ``shortest`` and ``longest`` those of the buckets at
    the ends, of other sentences each; ``others`` further measures of the judged bucket by name.
    """

    context_size: int
    bucket: str
    n: int
    used: Measured
    added: Measured
    at_half: float
    shortest: Measured
    longest: Measured
    others: tuple[tuple[str, Measured], ...] = ()

    @property
    def near_slide(self) -> bool:
        """Whether the interval lies within the tolerance of the slide's share."""
        expected = SLIDE_USED / SLIDE_SIZE * self.context_size
        low, high = (expected * (1 + sign * TOLERANCE) for sign in (-1, 1))
        return low <= self.used.low and self.used.high <= high

    @property
    def growth(self) -> Measured:
        """Longest minus shortest: independent, so that the errors' squares add up."""
        value = self.longest.value - self.shortest.value
        half = hypot(self.longest.half, self.shortest.half)
        return Measured(value, value - half, value + half)


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C4, from the table of the study ``dimensions`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C4", "not measured", DIMENSIONS_RULE, UNMEASURED)
    return capacity_used(read_in_use(frame))


def capacity_used(found: InUse | None) -> Verdict:
    """C4: 200 of 256 numbers are in use."""
    if found is None:
        reason = f"no run without attention has contexts of {SENTENCE_WORDS} words"
        return Verdict("C4", "not measured", DIMENSIONS_RULE, reason)
    name = f"components for 95 % of the variance, {found.bucket} words"
    told = numbers(name, found.used.value, found.used.low, found.used.high)
    return Verdict("C4", _graded(found), DIMENSIONS_RULE, _because(found), **told)


def _graded(found: InUse) -> Held:
    """The rule."""
    if not found.added.low > 0:
        return "not held"
    if found.near_slide:
        return "held"
    return "partly" if found.growth.low > 0 else "not held"


def _because(found: InUse) -> str:
    percent = found.used.value / found.context_size
    others = ", ".join(f"{name} {value}" for name, value in found.others)
    clauses = [
        f"{found.used} of {found.context_size} components ({percent:.0%}) hold 95 % of the "
        f"variance of {found.n:,} contexts of {found.bucket} words (the slide: {SLIDE_USED} of "
        f"{SLIDE_SIZE}, {SLIDE_USED / SLIDE_SIZE:.0%})",
        f"of half as many sentences it is {found.at_half:.0f}",
        found.added.directed(
            "training adds {} to an untrained encoder's",
            "training takes {} away from an untrained encoder's",
        ),
        "from the shortest bucket to the longest the number "
        + found.growth.directed("grows by {}", "shrinks by {}"),
        f"by other measures: {others}" if others else "",
    ]
    return "; ".join(clause for clause in clauses if clause)


def read_in_use(frame: pd.DataFrame) -> InUse | None:
    """The bucket that the rule reads without attention; None where there is none with a number."""
    rows = frame[frame["seed"].isna() & (frame["attention"] == "none") & frame["value"].notna()]
    rows = rows[rows["control"] == ""]
    if rows.empty:
        return None
    used = rows[(rows["measure"] == "components") & (rows["part"] == "")]
    buckets = list(used["bucket"])
    bucket = next((each for each in buckets if holds(each, SENTENCE_WORDS)), None)
    if bucket is None:
        return None
    held = rows[rows["bucket"] == bucket]
    return InUse(
        context_size=int(rows["context_size"].iloc[0]),
        bucket=bucket,
        n=int(used.loc[used["bucket"] == bucket, "n"].iloc[0]),
        used=_measured(held, "components"),
        added=_measured(held, "components_added"),
        at_half=_measured(held, "components", "half").value,
        shortest=_measured(rows[rows["bucket"] == buckets[0]], "components"),
        longest=_measured(rows[rows["bucket"] == buckets[-1]], "components"),
        others=(
            ("participation ratio", _measured(held, "participation_ratio")),
            ("effective rank", _measured(held, "effective_rank")),
        ),
    )


def holds(bucket: str, words: int) -> bool:
    """Whether a bucket of this name ("21-30", "41+") holds sentences of so many words."""
    if bucket.endswith("+"):
        return words >= int(bucket[:-1])
    low, _, high = bucket.partition("-")
    return int(low) <= words <= int(high or low)


def _measured(rows: pd.DataFrame, measure: str, part: str = "") -> Measured:
    row = rows[(rows["measure"] == measure) & (rows["part"] == part)].iloc[0]
    return Measured(float(row["value"]), float(row["low"]), float(row["high"]))
