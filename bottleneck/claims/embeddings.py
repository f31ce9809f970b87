"""C13: does training place similar words near each other?

Similar is what the grammar knows: the word class, and the gender that a noun has in French. The
embedding judged is the encoder's; the decoder's is told beside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .share import Share, read_share
from .verdict import FAMILY, Held, Verdict, needs_learned, numbers

LEAST_ADDED = 0.2
"""Share of a word's neighbours."""
JUDGED, BESIDE = "source", "target"

EMBEDDINGS_RULE = (
    "Read is, of the encoder's embeddings, the share of each word's nearest neighbours (by cosine) "
    "that are of its own word class, and of each noun's nearest nouns whose French has its gender. "
    "Held if in every arm training adds to the class's share, over the same network untrained, at "
    f"least {LEAST_ADDED:.0%} of the neighbours, and adds to the gender's share (lower ends of the "
    f"95 % intervals over words at or above {LEAST_ADDED:.0%} and above 0), and if the class's "
    "interval is above that of words next in frequency, which would be near each other if "
    "embeddings told no more than how often words are met; partly if the class's conditions hold "
    f"in every arm; else not held. {FAMILY} {needs_learned('no arm')}"
)
UNTRAINED = "than untrained"
UNMEASURED = "no embedding was measured: `bottleneck study embeddings` does it"


@dataclass(frozen=True)
class Placed:
    """One arm's neighbours on one side; ``words`` are how many words have them.

    ``trained`` is the share of the same class, ``added`` what of it training added, ``frequency``
    the share among words next in frequency, ``gender`` the share of nouns' neighbours of the same
    gender, ``gender_added`` what of it training added.
    """

    arm: str
    words: int
    trained: Share
    added: Share
    frequency: Share
    gender: Share
    gender_added: Share

    @property
    def by_class(self) -> bool:
        """Whether training placed words of a class near each other."""
        return self.added.low >= LEAST_ADDED and self.trained.low > self.frequency.high

    @property
    def by_gender(self) -> bool:
        """Whether training placed nouns of a gender near each other."""
        return self.gender_added.low > 0


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C13, from the table of the study ``embeddings`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C13", "not measured", EMBEDDINGS_RULE, UNMEASURED)
    return similar_words_near(read_placed(frame, JUDGED), read_placed(frame, BESIDE))


def similar_words_near(arms: Sequence[Placed], beside: Sequence[Placed] = ()) -> Verdict:
    """C13: similar words are near each other, and training placed them so."""
    if not arms:
        reason = "no arm has embeddings of enough words"
        return Verdict("C13", "not measured", EMBEDDINGS_RULE, reason)
    least = min(arms, key=lambda arm: arm.added.value)
    added = least.added
    told = numbers(f"points, same-class neighbours added by training, {least.arm}", *added.percent)
    clauses = [_clause(arm) for arm in arms]
    if beside:
        clauses.append(f"of the decoder's embeddings: {', '.join(_short(arm) for arm in beside)}")
    return Verdict("C13", _graded(arms), EMBEDDINGS_RULE, "; ".join(clauses), **told)


def _graded(arms: Sequence[Placed]) -> Held:
    """The rule."""
    if not all(arm.by_class for arm in arms):
        return "not held"
    return "held" if all(arm.by_gender for arm in arms) else "partly"


def _clause(arm: Placed) -> str:
    return (
        f"{arm.arm}: {arm.trained} of the neighbours of {arm.words:,} words are of the word's own "
        f"class, {arm.added.points(UNTRAINED)} (of the words next in frequency {arm.frequency}), "
        f"and {arm.gender} of nouns' neighbours of the noun's own gender, "
        f"{arm.gender_added.points(UNTRAINED)}"
    )


def _short(arm: Placed) -> str:
    return f"{arm.arm} own class {arm.trained}, own gender {arm.gender}"


def read_placed(frame: pd.DataFrame, side: str) -> list[Placed]:
    """Each arm's numbers of a side, from the rows that are means over seeds."""
    rows = frame[frame["seed"].isna() & (frame["part"] == side)]
    read = [_placed(str(arm), held) for arm, held in rows.groupby("arm", sort=False)]
    return [each for each in read if each is not None]


def _placed(arm: str, rows: pd.DataFrame) -> Placed | None:
    held = {(row["measure"], row["control"]): row for row in rows.to_dict("records")}
    wanted = {
        "trained": ("same_class", ""),
        "added": ("same_class_added", ""),
        "frequency": ("same_class", "frequency"),
        "gender": ("same_gender", ""),
        "gender_added": ("same_gender_added", ""),
    }
    if not all(key in held for key in wanted.values()):
        return None
    shares = {name: read_share(held[key]) for name, key in wanted.items()}
    return Placed(arm, int(held["same_class", ""]["n"]), **shares)
