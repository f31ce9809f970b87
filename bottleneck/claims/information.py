"""C5: are 91 % of a sentence of 30 words discarded? C6: does attention keep every state?

The slides count numbers; judged are bits of the source that reach the decoder. There are two
measures of them: a probe that reads the source back, and the translator's own bits. Neither finds
more than there is, so that each claim is judged by the one that finds more.
"""

from dataclasses import dataclass

import pandas as pd

from ..settings.buckets import holds
from ..settings.concerns import UNSELECTIVE
from .share import Share, read_share
from .verdict import FAMILY, Held, Verdict, numbers, ranged

SLIDE_LOST = 0.91
"""L9: 2,744 of 3,000 numbers."""
LOST_WORDS = 30
TOLERANCE = 0.10
RISES = 0.75
"""Words of the slide's sentence; and the shares (0 to 1) that the rules speak of."""
LEARNED = 0.10
"""Share of the shortest bucket's bits under which nothing has been learned to judge."""

DISCARDED_RULE = (
    "Lost is 1 minus the share of the source's bits that is recovered without attention, by the "
    "probe of the source or by the translator itself, whichever recovers more, in the bucket that "
    f"holds {LOST_WORDS} words; with lower bounds of what is kept it is an upper bound. Held if "
    f"its 95 % interval lies within {100 * TOLERANCE:.0f} points of {SLIDE_LOST:.0%} "
    f"({SLIDE_LOST - TOLERANCE:.0%} or more); partly if not, but more is lost there than in the "
    "shortest filled bucket (interval of the difference above 0); else not held. Not measured "
    "without bits of the source, where that bucket is empty or the shortest, or where of the "
    f"shortest under {LEARNED:.0%} is recovered (lower end): what has not been learned cannot be "
    f"lost. {FAMILY}"
)
KEPT_RULE = (
    "Kept is the share of each further word's bits that arrives: the slope of the bits recovered "
    "over the words, over the slope of the source's bits, in the longer half of the buckets; by "
    "the measure, probe or translator, by which attention keeps more. Held if the 95 % interval "
    f"with attention lies above {RISES:g} and that of attention minus none, paired, above 0; "
    "partly if the latter alone does; else not held. Not measured with fewer than three filled "
    "buckets, without both arms, or where of the shortest bucket attention recovers under "
    f"{LEARNED:.0%} (lower end). {FAMILY} Of several with attention the first is read."
)
STAND_IN = "a translator whose source is hidden stands for the language, and may flatter"
UNLEARNED = (
    f"of the shortest sentences' bits under {LEARNED:.0%} are recovered: nothing has been learned "
    "to judge"
)
UNMEASURED = "no bits were measured: `bottleneck study information` does it"


@dataclass(frozen=True)
class Recovered:
    """What C5's rule takes in: shares of the source's bits by one measure, without attention.

    ``part`` names the measure. ``share`` is that of the judged bucket, ``shortest`` that of the
    shortest filled one; ``others`` are further shares of the judged bucket by name. ``exact`` says
    whether the source's bits are.
    """

    part: str
    context_size: int
    bucket: str
    n: int
    share: Share
    shortest: Share
    others: tuple[tuple[str, Share], ...] = ()
    exact: bool = True

    @property
    def lost(self) -> Share:
        """What was not recovered."""
        return self.share.rest

    @property
    def growth(self) -> Share:
        """What is lost beyond the shortest bucket."""
        return self.shortest.minus(self.share)


@dataclass(frozen=True)
class Kept:
    """What C6's rule takes in: shares of each further word's bits by one measure.

    ``shortest`` is the share of the shortest bucket's bits with attention.
    """

    part: str
    arm: str
    attention: Share
    none: Share
    gain: Share
    shortest: Share
    exact: bool = True


def verdict(frame: pd.DataFrame | None) -> list[Verdict]:
    """C5 and C6, from the table of the study ``information`` (columns `PROBE_COLUMNS`)."""
    if frame is None:
        return [
            Verdict(claim, "not measured", rule, UNMEASURED)
            for claim, rule in (("C5", DISCARDED_RULE), ("C6", KEPT_RULE))
        ]
    means = frame[frame["seed"].isna() & frame["value"].notna()]
    means = means[means["control"] == ""]
    return [discarded(read_recovered(means)), keeps(read_kept(means))]


def discarded(found: Recovered | None) -> Verdict:
    """C5: 91 % of 30 words are discarded."""
    if found is None:
        reason = (
            f"no share of the bits of {LOST_WORDS} words, and of shorter ones, without attention"
        )
        return Verdict("C5", "not measured", DISCARDED_RULE, reason)
    if not found.shortest.low >= LEARNED:
        return Verdict("C5", "not measured", DISCARDED_RULE, UNLEARNED)
    lost = found.lost
    others = ", ".join(f"{name} {_told(share)}" for name, share in found.others)
    clauses = [
        f"{_told(lost)} of the bits of {found.n:,} sentences of {found.bucket} words were not "
        f"recovered by the {found.part} from {found.context_size} numbers "
        f"(the slide: {SLIDE_LOST:.0%})",
        f"that is {found.growth.points()} than of the shortest sentences",
        f"what was recovered otherwise: {others}" if others else "",
        "" if found.exact else STAND_IN,
    ]
    told = numbers(f"% of the bits lost, {found.bucket} words", *lost.percent)
    because = "; ".join(clause for clause in clauses if clause)
    return Verdict("C5", _lost(found), DISCARDED_RULE, because, **told)


def _lost(found: Recovered) -> Held:
    """C5's rule; more than all cannot be lost."""
    if found.lost.low >= SLIDE_LOST - TOLERANCE:
        return "held"
    return "partly" if found.growth.low > 0 else "not held"


def keeps(found: Kept | None) -> Verdict:
    """C6: with attention the bits rise with length, without they level off."""
    if found is None:
        reason = "bits over three lengths with attention and without are needed"
        return Verdict("C6", "not measured", KEPT_RULE, reason)
    if not found.shortest.low >= LEARNED:
        return Verdict("C6", "not measured", KEPT_RULE, UNLEARNED)
    because = (
        f"in the longer half of the buckets {_told(found.attention)} of each further word's bits "
        f"arrive with {found.arm} attention and {_told(found.none)} without{_falling(found.none)}, "
        f"{found.gain.points()} with it (by the {found.part})"
        + ("" if found.exact else f"; {STAND_IN}")
    )
    told = numbers(f"% of a further word's bits arrive, {found.arm}", *found.attention.percent)
    return Verdict("C6", _kept(found), KEPT_RULE, because, **told)


def _told(share: Share) -> str:
    """Per cent as the slide writes it."""
    return ranged(*share.percent, "{:z.0f}", "%")


def _falling(kept: Share) -> str:
    """What a share below 0 means."""
    return " (under 0: their total falls)" if kept.high < 0 else ""


def _kept(found: Kept) -> Held:
    """C6's rule."""
    if not found.gain.low > 0:
        return "not held"
    return "held" if found.attention.low > RISES else "partly"


def read_recovered(means: pd.DataFrame) -> Recovered | None:
    """What C5's rule reads, of the mean rows that have a number; None where it is not there."""
    rows = means[(means["attention"] == "none") & (means["measure"] == "share")]
    if rows.empty:
        return None
    buckets = list(dict.fromkeys(rows["bucket"]))
    bucket = next((each for each in buckets if holds(each, LOST_WORDS)), None)
    if bucket is None or bucket == buckets[0]:
        return None
    held = rows[rows["bucket"] == bucket].sort_values("value", ascending=False)
    part = str(held["part"].iloc[0])
    first = rows[(rows["bucket"] == buckets[0]) & (rows["part"] == part)]
    shares = {str(row["part"]): read_share(row) for row in held.to_dict("records")}
    return Recovered(
        part=part,
        context_size=int(rows["context_size"].iloc[0]),
        bucket=bucket,
        n=int(held["n"].iloc[0]),
        share=shares.pop(part),
        shortest=read_share(first.iloc[0]),
        others=tuple((f"by the {name}", share) for name, share in shares.items()),
        exact=bool((held["note"] == "exact").all()),
    )


def read_kept(means: pd.DataFrame) -> Kept | None:
    """What C6's rule reads: the arm with attention that has one without it beside."""
    gains = means[(means["measure"] == "kept_gain") & ~means["attention"].isin(UNSELECTIVE)]
    if gains.empty:
        return None
    arm = gains["arm"].iloc[0]
    kept = means[(means["measure"] == "kept") & (means["arm"] == arm)]
    kept = kept[kept["part"].isin(gains["part"])].sort_values("value", ascending=False)
    part = str(kept["part"].iloc[0])
    gain = gains[(gains["arm"] == arm) & (gains["part"] == part)].iloc[0]
    without = means[(means["measure"] == "kept") & (means["part"] == part)]
    without = without[without["arm"] == gain["note"]].iloc[0]
    name = part.split()[0]
    shares = means[(means["measure"] == "share") & (means["arm"] == arm) & (means["part"] == name)]
    return Kept(
        part=name,
        arm=str(gain["attention"]),
        attention=read_share(kept.iloc[0]),
        none=read_share(without),
        gain=read_share(gain),
        shortest=read_share(shares.iloc[0]),
        exact=bool((shares["note"] == "exact").all()),
    )
