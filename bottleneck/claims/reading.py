"""C14: is the encoder's state the understanding so far, word by word?

Of "understanding" the part is judged that can be asked for: the words so far. It is a lower bound,
and a state may well have understood a sentence whose words it no longer holds; what the rule can
show is whether the state is a record of the words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .verdict import FAMILY, Held, Verdict, needs_learned, numbers

ENOUGH = 0.5
"""Share of the words that are to be found."""

READING_RULE = (
    "Read is, without attention and by how many words have been read, how many of the last words "
    "(20, or as many as every state of the bucket has read) a linear probe finds in the state "
    "beyond always answering the most frequent word, of those that this leaves to be found. Held "
    f"if in every bucket it is at least {ENOUGH:.0%} of them and more than from an untrained "
    "encoder's states and than from the word just read alone (95 % intervals over test sentences: "
    f"the lower end at or above {ENOUGH:.0%}, the paired difference from the untrained above 0, "
    "the interval above that of the word just read); partly if it is more than both in every "
    f"bucket; else not held. Arms with attention are told beside. {FAMILY} "
    f"{needs_learned('none without attention')}"
)
UNMEASURED = "no state was read: `bottleneck study reading` does it"


@dataclass(frozen=True)
class Words:
    """A number of words with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:z.1f} [{self.low:z.1f}, {self.high:z.1f}]"


@dataclass(frozen=True)
class StateRead:
    """What is read from one arm's states of one bucket of words so far.

    ``asked`` are the words asked for, ``readable`` those that the most frequent word does not
    answer; ``read``, ``untrained`` and ``last_word`` are beyond it; ``added`` is read minus
    untrained, paired.
    """

    arm: str
    bucket: str
    states: int
    asked: int
    readable: float
    read: Words
    untrained: Words
    last_word: Words
    added: Words

    @property
    def share(self) -> float:
        """The words read as a share of those to be found; all of them where there is none."""
        return self.read.value / self.readable if self.readable > 0 else 1.0

    @property
    def enough(self) -> bool:
        """Whether half of the words to be found, or more, are read (lower end of the interval)."""
        return self.read.low >= ENOUGH * self.readable

    @property
    def more(self) -> bool:
        """Whether training is what put them there, and the language alone does not tell them."""
        return self.added.low > 0 and self.read.low > self.last_word.high


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C14, from the table of the study ``reading`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C14", "not measured", READING_RULE, UNMEASURED)
    alone = frame["attention"] == "none"
    return understanding_so_far(read_states(frame[alone]), read_states(frame[~alone]))


def understanding_so_far(
    cells: Sequence[StateRead], attending: Sequence[StateRead] = ()
) -> Verdict:
    """C14: the words so far can be read from the state."""
    if not cells:
        reason = "no arm without attention was measured"
        return Verdict("C14", "not measured", READING_RULE, reason)
    least = min(cells, key=lambda cell: cell.share)
    first, *others = map(_clause, cells)
    clauses = [f"beyond the most frequent word the probe reads {first}", *others]
    clauses += [_beside(cell) for cell in attending if cell.bucket == least.bucket]
    name = f"words read of the last {least.asked}, after {least.bucket} words"
    told = numbers(name, least.read.value, least.read.low, least.read.high)
    return Verdict("C14", _graded(cells), READING_RULE, "; ".join(clauses), **told)


def _graded(cells: Sequence[StateRead]) -> Held:
    """The rule."""
    if not all(cell.more for cell in cells):
        return "not held"
    return "held" if all(cell.enough for cell in cells) else "partly"


def _clause(cell: StateRead) -> str:
    return (
        f"after {cell.bucket} words {cell.read} of the last {cell.asked} ({cell.readable:.1f} "
        f"could be read; {cell.untrained} from untrained states, {cell.last_word} from the word "
        "just read alone)"
    )


def _beside(cell: StateRead) -> str:
    return f"beside, {cell.arm} after {cell.bucket} words: {cell.read}"


def read_states(frame: pd.DataFrame) -> list[StateRead]:
    """The buckets of every arm, from the rows that are means over seeds."""
    rows = frame[frame["seed"].isna() & (frame["part"] == "")]
    grouped = rows.groupby(["arm", "bucket"], sort=False)
    return [_state(str(arm), str(bucket), held) for (arm, bucket), held in grouped]


def _state(arm: str, bucket: str, rows: pd.DataFrame) -> StateRead:
    held = {(row["measure"], row["control"]): row for row in rows.to_dict("records")}
    return StateRead(
        arm=arm,
        bucket=bucket,
        states=int(held["words_asked", ""]["n"]),
        asked=int(held["words_asked", ""]["value"]),
        readable=float(held["words_readable", ""]["value"]),
        read=_words(held["words_read", ""]),
        untrained=_words(held["words_read", "untrained"]),
        last_word=_words(held["words_read", "last_word"]),
        added=_words(held["words_read_added", ""]),
    )


def _words(row: dict) -> Words:
    return Words(float(row["value"]), float(row["low"]), float(row["high"]))
