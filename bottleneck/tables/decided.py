"""The verdict on every claim, from what a results folder holds: C1 to C14 and the two tables.

Each claim picks the runs that it needs; nothing is refused. What cannot be decided is "not
measured", with the reason and the command that would produce what is lacking. A study of many
sweeps has a folder of results folders: what its own runs do not decide, one of those may.

A study's table has the runs of every sweep of its folder. Its claim is judged on the arms of one
group, that of the lecture's own settings or what comes nearest to them, and says nothing of a
network that has not learned to translate.
"""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.registry import ATTENTION, CLAIMS, Claim, studied, verdict_on
from ..claims.verdict import FLOOR_BLEU, Verdict, conclude, learned, unlearned
from ..results.bundle import Bundle, load_bundle
from ..results.discovery import any_finished, results_inside
from ..results.folders import is_bundle, without_runs
from ..results.probes import GOLD, command_of, has_probe, made_of
from ..results.schema import BENCHMARK
from ..settings.errors import UserError
from .comparison import compare, compare_sizes
from .comparison_groups import (
    NONE,
    Pair,
    alone,
    arm_kinds,
    closest,
    context_size_series,
    describe,
    listed_runs,
    pairs,
    runs_text,
)
from .controlled import controlled, controls_of, losses, only, trained_lengths, twice_trained
from .run_tables import cells
from .selection import where
from .studied import load_study

NAMED = 3
"""So many runs that are in the way are named, and the others counted."""
NO_SCORES = "the folder does not have the runs that were measured, nor their scores"
WORDS: Mapping[str, str] = {NONE: "without attention", ATTENTION: "with attention"}

Judged = tuple[Verdict, pd.DataFrame]
"""A verdict, and the runs or the rows of a study's table that it rests on."""


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, the runs it rests on in words, and the command that it lacks.

    ``folder`` has the results that decide it, or those that do not.
    """

    claim: Claim
    verdict: Verdict
    runs: str
    command: str
    folder: Path

    @property
    def measured(self) -> bool:
        """Whether there is a verdict on the claim."""
        return self.verdict.verdict != "not measured"


def decide_results(
    folder: Path, conditions: Sequence[str] = (), existing: Bundle | None = None
) -> list[Decision]:
    """Every claim of `CLAIMS`, by the runs of a folder that meet the conditions of `where`.

    A folder without finished runs is not refused: a benchmark or a study may lie in it. Without
    conditions, results folders inside it decide what it does not. ``existing`` is the folder's
    `bundle_of` where it has been read already.
    """
    whole = bundle_of(folder) if existing is None else existing
    bundle = where(whole, conditions) if whole and conditions else whole
    left_out = set(whole.runs["run"]) - set(bundle.runs["run"]) if whole and bundle else set()
    decisions = [decision(claim, folder, bundle, left_out) for claim in CLAIMS]
    if conditions:
        return decisions
    inside = {place: bundle_of(place) for place in results_inside(folder)}
    return [item if item.measured else _by_first(item, inside) for item in decisions]


def _by_first(lacking: Decision, bundles: Mapping[Path, Bundle | None]) -> Decision:
    """A claim that is not decided, decided by the first results folder that can.

    The claim's own, by its name, comes before the others; where none can, it says why it does not.
    """
    claim = lacking.claim
    for place in sorted(bundles, key=lambda place: (place.name != claim.home, place.name)):
        result = decision(claim, place, bundles[place])
        if result.measured:
            return replace(result, runs=": ".join(filter(None, (place.name, result.runs))))
        if place.name == claim.home:
            lacking = result
    return lacking


def bundle_of(folder: Path) -> Bundle | None:
    """The runs of a folder; None where it holds none. Errors as of `load_bundle`."""
    return load_bundle(folder) if holds_results(folder) else None


def holds_results(folder: Path) -> bool:
    """Whether there are finished runs in a folder, or a bundle of them."""
    return any_finished(folder) or is_bundle(folder)


def decision(
    claim: Claim,
    folder: Path,
    bundle: Bundle | None,
    left_out: Collection[str] = frozenset(),
) -> Decision:
    """The decision on one claim; ``bundle`` is None for a folder without finished runs.

    ``left_out`` are runs of the folder that the user did not choose: a study's table that rests on
    one of them decides nothing.
    """
    if claim.study:
        verdict, runs = _studied(claim, folder, bundle, left_out)
    else:
        verdict, rows = _from_runs(claim, bundle)
        runs = describe(rows) if len(rows) else ""
    lacking = verdict.verdict == "not measured"
    command = _command(claim, folder, bundle) if lacking else ""
    return Decision(claim, verdict, runs, command, folder)


def _command(claim: Claim, folder: Path, bundle: Bundle | None) -> str:
    """What measures a claim, in the folder where its runs can be; else in the command's default."""
    words, store = f"bottleneck {claim.command}", not without_runs(folder)
    of_several = bundle is None and bool(results_inside(folder))
    if claim.makes:
        place = folder / claim.home if of_several else folder
        takes = store or claim.makes == "bench"
        return f"{words} --out {shlex.quote(str(place))}" if takes else words
    suits = True
    if bundle is not None:
        texts = set(bundle.runs["corpus"])
        suits = not claim.known or bool(texts & set(claim.known))
        if claim.id == "C7" and store and texts == {"files"}:
            words, suits = f"bottleneck {command_of(GOLD)}", True
        has_arms = set(claim.arms) <= arm_kinds(bundle.runs["attention"])
        suits = suits and has_arms and not claim.own_runs
    in_folder = store and suits and not of_several
    return f"{words} --results {shlex.quote(str(folder))}" if in_folder else words


def _from_runs(claim: Claim, bundle: Bundle | None) -> Judged:
    """A claim that the runs themselves decide."""
    reason = "the folder holds no finished run"
    if bundle is not None:
        try:
            return _JUDGES.get(claim.id, _vindication(claim.id))(bundle)
        except UserError as error:
            reason = str(error)
    return conclude(claim.id, claim.rule, reason), pd.DataFrame()


def _failure(bundle: Bundle) -> Judged:
    """L-FAIL: of the pair that L-VIND reads, else of none on its own."""
    runs = listed_runs(bundle)
    rows = next((pair.runs for pair in pairs(runs)), alone(runs))
    if rows is None:
        raise UserError("no run without attention")
    scores = compare(only(bundle, rows), alone=True).scores
    return verdict_on("L-FAIL", scores), rows[rows["attention"] == NONE]


def _vindication(claim: str) -> Callable[[Bundle], Judged]:
    """L-VIND, and what else the slide's table says: of the first pair."""

    def judge_runs(bundle: Bundle) -> Judged:
        rows = _pairs(bundle)[0].runs
        return verdict_on(claim, compare(only(bundle, rows)).scores), rows

    return judge_runs


def _pairs(bundle: Bundle) -> list[Pair]:
    if result := pairs(listed_runs(bundle)):
        return result
    raise UserError("no runs with and without attention of one seed that differ in nothing else")


def _compression(bundle: Bundle) -> Judged:
    """C1."""
    rows = context_size_series(listed_runs(bundle))
    if rows is None:
        raise UserError("no run without attention")
    sizes = compare_sizes(only(bundle, rows))
    used = rows[rows["run"].isin({run for size in sizes for run in size.none.runs})]
    return verdict_on("C1", cells(sizes)), used


def _controls(bundle: Bundle) -> Judged:
    """C10: of the first of the pairs that have the most controls."""
    runs = listed_runs(bundle)
    most = max(_pairs(bundle), key=lambda pair: len(controls_of(runs, pair)))
    measured, used = controlled(bundle, most)
    return verdict_on("C10", measured), used


def _training(bundle: Bundle) -> Judged:
    """C12: of the first pair that was trained twice as long."""
    candidates = (twice_trained(bundle, pair) for pair in _pairs(bundle))
    measured = next(filter(None, candidates), None)
    if measured is None:
        raise UserError("no arm without attention was trained twice as long")
    buckets, rows = measured
    notes = [losses(rows), trained_lengths(bundle)]
    return verdict_on("C12", buckets, [note for note in notes if note]), rows


_JUDGES: Mapping[str, Callable[[Bundle], Judged]] = {
    "L-FAIL": _failure,
    "C1": _compression,
    "C10": _controls,
    "C12": _training,
}
"""By claim what gives the verdict, or raises why there is none; the others are of L-VIND."""


def _studied(
    claim: Claim, folder: Path, bundle: Bundle | None, left_out: Collection[str]
) -> tuple[Verdict, str]:
    """A claim that a study's table decides, where that rests on no run that was left out.

    Alignment's is that of the corpus' own links, or else of the user's gold links. The bundle's
    scores say which arms have learned.
    """
    tables = [claim.study, *([GOLD] if claim.study == "alignment" else [])]
    table = next((item for item in tables if has_probe(folder, item)), None)
    if table is None:
        return studied(claim, None), ""
    frame = load_study(folder, table)
    if others := sorted(set(frame["run"]) & set(left_out)):
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        return _unmeasured(
            claim,
            f"probes/{table}.csv rests on runs that were not chosen "
            f"({', '.join(others[:NAMED])}{more}): measure the chosen ones alone, with the same "
            "--where",
        ), ""
    with made_of(folder, table):
        verdict, judged = judge(claim, frame, None if bundle is None else bundle.runs)
    if table == BENCHMARK:
        return verdict, import_module("...questions.cost", __name__).rests_on(judged)
    chosen_runs = judged[judged["run"] != ""].drop_duplicates("run")
    arms = chosen_runs.groupby("arm", sort=False)["seed"]
    seeds = {str(arm): [int(seed) for seed in numbers] for arm, numbers in arms}
    return verdict, runs_text(len(chosen_runs), seeds)


def _unmeasured(claim: Claim, reason: str) -> Verdict:
    """Not measured, by the rule of the claim's study, for this reason."""
    return replace(studied(claim, None), because=reason)


def judge(claim: Claim, frame: pd.DataFrame, runs: pd.DataFrame | None) -> Judged:
    """The verdict on a claim from its study's table, and the rows of the arms it rests on.

    ``runs`` is the tidy table (`schema.RUN_COLUMNS`) of the folder, None where it has none. A
    claim that is decided by runs of its own takes all of them.
    """
    if claim.own_runs:
        return studied(claim, frame), frame
    rows = None if runs is None else runs[runs["run"].isin(set(frame["run"]) - {""})]
    group = None if rows is None else _group(claim, rows.drop_duplicates("run"))
    if group is None:
        return _unmeasured(claim, NO_SCORES), frame.iloc[:0]
    subset = of_group(frame, group)
    low = _low(rows[rows["run"].isin(group["run"])]) if claim.learned else {}
    judged = set(group["attention"])
    lacking = arm_kinds(judged) - arm_kinds(judged - set(low))
    kinds = [WORDS[kind] for kind in claim.arms if kind in lacking]
    kinds += [] if judged - set(low) else ["of every arm"]
    bucket = next((bucket for bucket, _ in low.values()), "")
    if kinds:
        verdict, notes = _unmeasured(claim, unlearned(kinds[0], bucket)), []
    else:
        subset = subset[~subset["attention"].isin(low)]
        named = ", ".join(f"{arm} ({bleu:.1f})" for arm, (_, bleu) in low.items())
        head = f"left out as not learned, BLEU under {FLOOR_BLEU:g} in {bucket}"
        verdict, notes = studied(claim, subset), [f"{head}: {named}"] if low else []
    others = set(frame["arm"]) - set(frame.loc[frame["run"].isin(group["run"]), "arm"])
    if len(others) == 1:
        notes.append("1 arm of other settings was not judged")
    elif others:
        notes.append(f"{len(others)} arms of other settings were not judged")
    return replace(verdict, because="; ".join(filter(None, [verdict.because, *notes]))), subset


def _group(claim: Claim, listed: pd.DataFrame) -> pd.DataFrame | None:
    """The runs that the claim is judged on, of a text that knows what it asks for, if one does.

    Where no group has the claim's arms the nearest of all: what lacks is for the rule to say.
    """
    known = listed[listed["corpus"].isin(claim.known)]
    listed = known if len(known) else listed
    group = closest(listed, claim.arms)
    return closest(listed, ()) if group is None else group


def of_group(frame: pd.DataFrame, group: pd.DataFrame) -> pd.DataFrame:
    """The table's rows of these runs' arms, which are named by their attention, as is enough."""
    arms = frame.loc[frame["run"].isin(group["run"]), ["arm", "attention"]]
    names = dict(arms.drop_duplicates().itertuples(index=False))
    subset = frame[frame["arm"].isin(names)]
    # The note of a difference names the arm that it is from.
    return subset.assign(arm=subset["arm"].map(names), note=subset["note"].replace(names))


def _low(rows: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """The arms that have not learned to translate: their shortest filled bucket and its BLEU."""
    low = {}
    for arm, subset in rows.groupby("attention", sort=False):
        filled = subset[subset["bleu"].notna()]
        bucket = "every bucket" if filled.empty else str(filled["bucket"].iloc[0])
        bleu = float(filled.loc[filled["bucket"] == bucket, "bleu"].mean())
        if not learned(bleu):
            low[str(arm)] = bucket, bleu
    return low
