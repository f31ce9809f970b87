"""C3: does the gist of a sentence survive the fixed context, and is its detail lost?

The slide's own list for its long sentence: the topic, the main fact and who does what are kept;
adjectives, names and what describes the nouns are lost. In word classes: gist is nouns and verbs;
detail is modifiers (adjectives, adverbs, numerals) and names. Exact wording has no class of its
own: every word here counts by its exact form.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .share import Share, read_share
from .verdict import FAMILY, Held, Verdict, marked, numbers

SURVIVES = 0.5
LEARNED = 0.1
"""Recall beyond chance, 0 to 1."""
DETAILS = ("modifiers", "names")

SURVIVAL_RULE = (
    "Read is recall beyond chance, (recall - chance) / (1 - chance) at equal positions, without "
    "attention, in the two longest filled buckets: of the gist (nouns and verbs), and by how much "
    "it exceeds that of modifiers (adjectives, adverbs, numerals) and that of names. Gist survives "
    "better than one of these if the 95 % interval of the difference lies above 0 in both buckets. "
    f"Held if it survives better than both, and itself by at least {SURVIVES:.0%} in both buckets; "
    "partly if it survives better than one of them at least; else not held. Not measured without "
    "word classes, without two filled buckets, with too few words of a class for an interval, or "
    f"where recall beyond chance of all words is under {LEARNED:.0%} in the shortest bucket: what "
    "was not learned cannot be lost. Beside stands the same difference of words as common: in the "
    f"same third of the sentence and of like training frequency, by doublings. {FAMILY}"
)
UNMEASURED = "no word's survival was measured: `bottleneck study survival` does it"


@dataclass(frozen=True)
class Survival:
    """What survives of one arm's sentences of one bucket.

    All are recall beyond chance: ``words`` that of all words, ``gist`` that of nouns and verbs, and
    ``more``, by the names of `DETAILS`, how much more the gist has; ``alike``, of words as common.
    An older table does not have the last.
    """

    bucket: str
    sentences: int
    words: float
    gist: Share
    more: dict[str, Share]
    alike: dict[str, Share]

    @property
    def known(self) -> bool:
        """Whether every difference that is judged has an interval."""
        return all(map(_ranged, self.more.values()))


def verdict(frame: pd.DataFrame | None) -> Verdict:
    """C3, from the table of the study ``survival`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return Verdict("C3", "not measured", SURVIVAL_RULE, UNMEASURED)
    if not (frame["part"] == "gist").any():
        return _unmeasured("the corpus knows no word classes; the grammar does")
    means = frame[frame["seed"].isna()]
    without = means[means["attention"] == "none"]
    others = means[means["attention"] != "none"]
    beside = {str(arm): read_survival(rows) for arm, rows in others.groupby("arm", sort=False)}
    return gist_survives(read_survival(without), beside)


def _unmeasured(reason: str) -> Verdict:
    return Verdict("C3", "not measured", SURVIVAL_RULE, reason)


def gist_survives(
    without: Sequence[Survival], beside: dict[str, list[Survival]] | None = None
) -> Verdict:
    """C3 from the filled buckets of the arm without attention, and of other arms, told beside."""
    if not without:
        return _unmeasured("there is no arm without attention")
    if len(without) < 2:
        return _unmeasured("fewer than two buckets are filled")
    if not without[0].words >= LEARNED:
        return _unmeasured(
            f"recall beyond chance is {without[0].words:.0%} in {without[0].bucket}: nothing has "
            "been learned to judge"
        )
    judged = without[-2:]
    if not all(each.known for each in judged):
        return _unmeasured("a class has too few words in the two longest buckets")
    clear = [name for name in DETAILS if all(each.more[name].low > 0 for each in judged)]
    last = judged[-1]
    least = min(DETAILS, key=lambda name: last.more[name].value)
    told = numbers(
        f"points, gist less {least}, recall beyond chance, none, {last.bucket}",
        *last.more[least].percent,
    )  # fmt: skip
    clauses = [_clause("without attention", each) for each in judged]
    clauses += [f"beside: {_clause(arm, held[-1])}" for arm, held in (beside or {}).items() if held]
    return Verdict("C3", _graded(judged, clear), SURVIVAL_RULE,
                   "; ".join(filter(None, [*clauses, _small(judged)])), **told)  # fmt: skip


def _graded(judged: Sequence[Survival], clear: Sequence[str]) -> Held:
    """The rule."""
    survives = all(each.gist.value >= SURVIVES for each in judged)
    if len(clear) == len(DETAILS) and survives:
        return "held"
    return "partly" if clear else "not held"


def _clause(arm: str, held: Survival) -> str:
    """``without attention, 41+: 40 % [38, 42] of the gist survives, 4 points [1, 7] more ...``."""
    told = f"{arm}, {held.bucket}: {held.gist} of the gist survives, {_points(held.more)}"
    alike = {name: share for name, share in held.alike.items() if _ranged(share)}
    return f"{told} (of words as common {_points(alike)})" if alike else told


def _ranged(share: Share) -> bool:
    """Whether it has an interval: in no resample was a kind without words."""
    return share.low <= share.high


def _points(more: dict[str, Share]) -> str:
    return " and ".join(share.points(f"than of {name}") for name, share in more.items())


def _small(judged: Sequence[Survival]) -> str:
    small = [f"{each.bucket} (n = {each.sentences})" for each in judged if marked(each.sentences)]
    return f"under 100 sentences: {', '.join(small)}" if small else ""


def read_survival(rows: pd.DataFrame) -> list[Survival]:
    """The filled buckets of one arm, shortest first, from its rows that are means over seeds."""
    read = [_survival(str(bucket), held) for bucket, held in rows.groupby("bucket", sort=False)]
    return [each for each in read if each.sentences]


def _survival(bucket: str, rows: pd.DataFrame) -> Survival:
    held = {(row["part"], row["measure"]): row for row in rows.to_dict("records")}
    return Survival(
        bucket=bucket,
        sentences=int(held["", "corrected"]["n"]),
        words=float(held["", "corrected"]["value"]),
        gist=read_share(held["gist", "corrected"]),
        more=_differences(held, "gist_more"),
        alike=_differences(held, "gist_more_alike"),
    )


def _differences(held: dict[tuple[str, str], dict], measure: str) -> dict[str, Share]:
    return {name: read_share(held[name, measure]) for name in DETAILS if (name, measure) in held}
