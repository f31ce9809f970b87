"""C2: do 256 numbers hold so many words and no more?

A length at which words survive is what one budget of training reached, so that a number of words is
only ever "at least N". That the size of the context sets it is seen where it grows with the size;
that nothing else does, where more training leaves it as it is.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .verdict import Held, Verdict, numbers

READ_SIZE = 256
"""Numbers of the lecture's context."""
ASKED = 40
"""Words of the lecture's opening question."""
MOST_ADDED = 0.1
"""Share of the length; see the rule."""

CAPACITY_RULE = (
    "Read is the length at which half of the words survive beyond chance, without attention, in "
    f"the context of {READ_SIZE} numbers (else the largest), on `copy` where it was trained on; "
    "another corpus is told beside. Held if it grows with the context size (95 % interval of the "
    "exponent above 0) and twice the updates add less than "
    f"{MOST_ADDED:.0%} to it (upper end of the interval of what they add); not held if it does not "
    "grow so, or if twice the updates add an amount whose interval lies above 0 and which is "
    f"{MOST_ADDED:.0%} of it or more: the number of words is then the training's; partly if it "
    "grows and what they add is neither. Not measured without several context sizes, without runs "
    "trained twice as long, or where the length is beyond the tested ones."
)
ENDS = ("value", "low", "high")
UNMEASURED = "no capacity was measured: `bottleneck study capacity` does it"


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval, as the study has it.

    ``note`` names those of ``value``, ``low`` and ``high`` that are bounds: the true one is beyond
    the tested lengths. What is not known is nan.
    """

    value: float
    low: float
    high: float
    note: str = ""

    def side(self, end: str) -> str:
        """``at least`` or ``under`` where an end is a bound, else empty."""
        found = re.search(rf"{end} (at least|under)", self.note)
        return found[1] if found else ""

    def known(self, end: str) -> float:
        """An end where it is a number; nan where it is a bound."""
        return math.nan if self.side(end) else float(getattr(self, end))

    def told(self, form: str = "{:.1f}") -> str:
        """``14.2 [13.8, 14.9]``, bounds by their words; one bound for all three is told once."""
        value, low, high = (self._end(end, form) for end in ENDS)
        return value if self.side("value") and value == low == high else f"{value} [{low}, {high}]"

    def _end(self, end: str, form: str) -> str:
        number = getattr(self, end)
        return "open" if math.isnan(number) else f"{self.side(end)} {form.format(number)}".strip()


@dataclass(frozen=True)
class Budget:
    """Lengths in words that so many updates reached, at 90 % and at 50 % of the words."""

    updates: int
    most: Measured
    half: Measured


@dataclass(frozen=True)
class Capacity:
    """What a context holds on one corpus.

    ``budgets`` are by updates, ascending. ``once`` is the one that was doubled (else the first),
    ``added`` what that added to ``half``, in words, and ``growth`` the exponent of ``half`` after
    ``once`` in the context size; None where there is none.
    """

    corpus: str
    context_size: int
    budgets: tuple[Budget, ...]
    once: Budget
    added: Measured | None = None
    growth: Measured | None = None


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C2, from the table of the study ``capacity`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C2", "not measured", CAPACITY_RULE, UNMEASURED)
    found = read_capacities(frame)
    if not found:
        reason = "no run without attention was measured"
        return Verdict("C2", "not measured", CAPACITY_RULE, reason)
    found.sort(key=lambda one: one.corpus != "copy")
    return so_many_and_no_more(found[0], found[1:])


def so_many_and_no_more(found: Capacity, beside: Sequence[Capacity] = ()) -> Verdict:
    """C2, from what is read; ``beside`` is told with it and decides nothing."""
    because = "; ".join(clause for one in (found, *beside) for clause in (_told(one), answer(one)))
    name = f"words of {found.corpus}, half of which survive in {found.context_size} numbers"
    half = found.once.half
    told = numbers(name, *map(half.known, ENDS)) if not half.side("value") else {}
    if reason := _unmeasured(found):
        return Verdict("C2", "not measured", CAPACITY_RULE, f"{reason}; {because}", **told)
    return Verdict("C2", _graded(found), CAPACITY_RULE, because, **told)


def _unmeasured(found: Capacity) -> str:
    """Why it cannot be judged; empty where it can."""
    if found.added is None:
        return "no run was trained twice as long"
    if found.once.half.side("value"):
        return "the length is beyond the tested ones"
    if found.growth is None or math.isnan(found.growth.value):
        return "fewer than two context sizes have a length within the tested ones"
    return ""


def _graded(found: Capacity) -> Held:
    """The rule; what is not known is on neither side of a number."""
    added, most = found.added, MOST_ADDED * found.once.half.value
    if not found.growth.low > 0 or (added.low > 0 and added.value >= most):
        return "not held"
    return "held" if added.high < most else "partly"


def _told(found: Capacity) -> str:
    """The lengths, what training adds, and the growth, in words."""
    half = [f"{_up_to(one.half)} words after {one.updates:,} updates" for one in found.budgets]
    clauses = [
        f"on {found.corpus} half of the words survive in {found.context_size} numbers in sentences "
        f"of {', of '.join(half)}",
        f"twice the updates change that by {_bound(found.added, '{:+z.1f}')}"
        if found.added
        else "",
        f"the length grows with the context size to the power {found.growth.told('{:.2f}')}"
        if found.growth and not math.isnan(found.growth.value)
        else "",
    ]
    return "; ".join(clause for clause in clauses if clause)


def _up_to(length: Measured) -> str:
    """``up to 14.2 [13.8, 14.9]``; a bound says itself on which side it is."""
    return length.told() if length.side("value") else f"up to {length.told()}"


def _bound(found: Measured, form: str) -> str:
    return "an amount that is not known" if math.isnan(found.value) else found.told(form)


def answer(found: Capacity) -> str:
    """What the numbers say to the lecture's question: how many words at least, never how many."""
    best = max(found.budgets, key=lambda one: (one.most.low, one.updates))
    most = best.most
    trained = f"with this training ({best.updates:,} updates) {found.context_size} numbers"
    if most.side("low") == "under":
        keep = "do not keep" if most.side("value") == "under" else "are not sure to keep"
        return (
            f"{trained} {keep} 90 % of the words of {found.corpus} even at the "
            f"{most.low:.1f} words of the shortest sentences; what they could hold with more it "
            "does not say"
        )
    words = math.floor(most.low)
    held = f"{trained} hold at least {words} words of {found.corpus} (90 % survive)"
    if words >= ASKED:
        return f"{held}: {ASKED} words they can hold"
    return f"{held}; whether they could hold {ASKED} with more it does not say"


def read_capacities(frame: pd.DataFrame) -> list[Capacity]:
    """Of each corpus (and placement), without attention, the context of 256, else the largest."""
    rows = frame[frame["seed"].isna() & (frame["attention"] == "none")]
    return [
        _read(str(corpus), held)
        for (corpus, _), held in rows.groupby(["corpus", "placement"], sort=False)
        if (held["measure"] == "length").any()
    ]


def _read(corpus: str, rows: pd.DataFrame) -> Capacity:
    sizes = {int(size) for size in rows["context_size"].dropna()}
    size = READ_SIZE if READ_SIZE in sizes else max(sizes)
    own = rows[rows["context_size"] == size]
    updates = sorted({int(each) for each in own["updates"]})
    budgets = tuple(
        Budget(each, *(_measured(own, "length", part, each) for part in ("90 %", "50 %")))
        for each in updates
    )
    doubled = [one for one in budgets if 2 * one.updates in updates]
    once = (doubled or budgets)[0]
    return Capacity(
        corpus,
        size,
        budgets,
        once,
        added=_measured(own, "added", "50 %", 2 * once.updates),
        growth=_measured(rows, "growth", "50 %", once.updates),
    )


def _measured(rows: pd.DataFrame, measure: str, part: str, updates: int) -> Measured | None:
    """The one row with these keys; None where there is none."""
    keys = {"measure": measure, "part": part, "updates": updates}
    for name, value in keys.items():
        rows = rows[rows[name] == value]
    if rows.empty:
        return None
    row = rows.iloc[0]
    note = row["note"] if isinstance(row["note"], str) else ""
    return Measured(float(row["value"]), float(row["low"]), float(row["high"]), note)
