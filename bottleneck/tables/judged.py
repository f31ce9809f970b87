"""Which arms of a study's table its claim is judged on: those of one family that have learned.

A folder may hold the runs of several sweeps, and a study's table has them all. A claim is about the
lecture's own settings, or what comes nearest to them, and says nothing of a network that has not
learned to translate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ..claims.registry import ATTENTION, NONE, Claim, studied
from ..claims.verdict import FLOOR_BLEU, Verdict, learned, unlearned
from .comparison_groups import TEXT, arm_kinds, closest

NO_SCORES = "the folder does not have the runs that were measured, nor their scores"
WORDS: Mapping[str, str] = {NONE: "without attention", ATTENTION: "with attention"}


@dataclass(frozen=True)
class Low:
    """BLEU of an arm, the mean over seeds, in the shortest bucket that has sentences."""

    bucket: str
    bleu: float


def judge(
    claim: Claim, frame: pd.DataFrame, runs: pd.DataFrame | None
) -> tuple[Verdict, pd.DataFrame]:
    """The verdict on a claim from its study's table, and the rows of the arms it rests on.

    ``runs`` is the tidy table (`schema.RUN_COLUMNS`) of the folder, None where it has none. A
    claim that is decided by runs of its own takes all of them.
    """
    if claim.own_runs:
        return studied(claim, frame), frame
    measured = set(frame["run"]) - {""}
    rows = None if runs is None else runs[runs["run"].isin(measured)]
    family = None if rows is None else _family(claim, rows.drop_duplicates("run"))
    if family is None:
        return _unmeasured(claim, NO_SCORES), frame.iloc[:0]
    subset = of_family(frame, family)
    low = _low(rows[rows["run"].isin(family["run"])]) if claim.learned else {}
    notes = [_others(frame, family)]
    if reason := _nothing_learned(claim, family["attention"], low):
        verdict = _unmeasured(claim, reason)
    else:
        subset = subset[~subset["attention"].isin(low)]
        verdict, notes = studied(claim, subset), [_left_out(low), *notes]
    because = "; ".join(filter(None, [verdict.because, *notes]))
    return replace(verdict, because=because), subset


def _unmeasured(claim: Claim, reason: str) -> Verdict:
    """Not measured, by the rule of the claim's study, for this reason."""
    return replace(studied(claim, None), because=reason)


def _family(claim: Claim, listed: pd.DataFrame) -> pd.DataFrame | None:
    """The runs that the claim is judged on, of a text that knows what it asks for, if one does.

    Where no family has the claim's arms the nearest of all: what lacks is for the rule to say.
    """
    known = listed[listed["corpus"].isin(claim.known)]
    listed = known if len(known) else listed
    family = closest(listed, claim.arms)
    return closest(listed, ()) if family is None else family


def of_family(frame: pd.DataFrame, family: pd.DataFrame) -> pd.DataFrame:
    """The table's rows of these runs' arms, which are named by their attention, as is enough."""
    arms = frame.loc[frame["run"].isin(family["run"]), ["arm", "attention"]]
    names = dict(arms.drop_duplicates().itertuples(index=False))
    subset = frame[frame["arm"].isin(names)]
    # The note of a difference names the arm that it is from.
    return subset.assign(arm=subset["arm"].map(names), note=subset["note"].replace(names))


def with_texts(frame: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The table with the fingerprint of each row's text, blank where its runs are not there."""
    texts = dict(zip(runs["run"], runs[TEXT], strict=True))
    listed = frame[frame["run"] != ""].drop_duplicates("arm")
    known = {arm: texts.get(run, "") for arm, run in zip(listed["arm"], listed["run"], strict=True)}
    return frame.assign(**{TEXT: [known.get(arm, "") for arm in frame["arm"]]})


def _low(rows: pd.DataFrame) -> dict[str, Low]:
    """The arms that have not learned to translate, by their attention."""
    scores = {str(arm): _shortest(subset) for arm, subset in rows.groupby("attention", sort=False)}
    return {arm: low for arm, low in scores.items() if not learned(low.bleu)}


def _shortest(rows: pd.DataFrame) -> Low:
    filled = rows[rows["bleu"].notna()]
    bucket = "every bucket" if filled.empty else str(filled["bucket"].iloc[0])
    return Low(bucket, float(filled.loc[filled["bucket"] == bucket, "bleu"].mean()))


def _nothing_learned(claim: Claim, attentions: Iterable[str], low: Mapping[str, Low]) -> str:
    """Why there is nothing to judge, where the floor leaves no arm that the claim needs."""
    names = set(attentions)
    left, where = arm_kinds(names - set(low)), next((score.bucket for score in low.values()), "")
    for kind in claim.arms:
        if kind in arm_kinds(names) - left:
            return unlearned(WORDS[kind], where)
    return "" if names - set(low) else unlearned("of every arm", where)


def _left_out(low: Mapping[str, Low]) -> str:
    """``left out as not learned, BLEU under 5 in 5-10: none (0.2)``."""
    if not low:
        return ""
    bucket = next(score.bucket for score in low.values())
    named = ", ".join(f"{arm} ({score.bleu:.1f})" for arm, score in low.items())
    return f"left out as not learned, BLEU under {FLOOR_BLEU:g} in {bucket}: {named}"


def _others(frame: pd.DataFrame, family: pd.DataFrame) -> str:
    """How many arms of the table are of other families."""
    arms = frame.loc[frame["run"].isin(family["run"]), "arm"]
    count = len(set(frame["arm"]) - set(arms))
    text = "1 arm of other settings was" if count == 1 else f"{count} arms of other settings were"
    return f"{text} not judged" if count else ""
