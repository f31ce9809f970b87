"""The verdict on every claim, from what a results folder holds: C1 to C14 and the two tables.

Each claim picks the runs that it needs; nothing is refused. What cannot be decided is "not
measured", with the reason and the command that would produce what is lacking. A study of many
sweeps has a folder of results folders: what its own runs do not decide, one of those may.
"""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.compression import COMPRESSION_RULE, compression_predicts_loss
from ..claims.controls import CONTROLS_RULE, Controlled, selection_beats_compression
from ..claims.registry import CLAIMS, Claim, studied
from ..claims.rules import FAILURE_RULE, VINDICATION_RULES
from ..claims.training import TRAINING_RULE, Trained, training_moves_curve
from ..claims.training import UNMEASURED as NOT_TWICE
from ..claims.verdict import Verdict
from ..results.bundle import Bundle, load_bundle
from ..results.folders import is_bundle, without_runs
from ..results.found import any_finished
from ..results.inside import results_inside
from ..results.probes import has_probe, made_of
from ..results.schema import BENCHMARK
from ..results.study_files import GOLD
from ..settings.errors import UserError
from .caption import failure_verdicts
from .comparison import Comparison, compare, compare_sizes
from .compression import cells
from .controlled import control_names, controlled, losses, only, trained_lengths, twice_trained
from .families import Pair, alone, describe, kinds, listed_runs, over_sizes, pairs, runs_told
from .judged import judge
from .names import GOLD_STUDY
from .selection import where
from .studied import load_study

NAMED = 3
"""So many runs that are in the way are named, and the others counted."""
OWN_TEXT = "files"
NO_RUNS = "the folder holds no finished run"
NO_PAIR = "no runs with and without attention of one seed that differ in nothing else"

Judged = tuple[Verdict, pd.DataFrame]
"""A verdict, and the runs it rests on, a row each."""


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
    folder: Path, conditions: Sequence[str] = (), held: Bundle | None = None
) -> list[Decision]:
    """Every claim by the runs of a folder that meet the conditions (`selection.where`).

    A folder without finished runs is not refused: a benchmark or a study may lie in it. Without
    conditions, results folders inside it decide what it does not. ``held`` is the folder's
    `bundle_of` where it has been read already.
    """
    bundle = bundle_of(folder) if held is None else held
    if not conditions:
        return by_folders_inside(decide(folder, bundle), folder)
    if bundle is None:
        return decide(folder, None)
    chosen = where(bundle, conditions)
    left_out = set(bundle.runs["run"]) - set(chosen.runs["run"])
    return decide(folder, chosen, left_out)


def by_folders_inside(decisions: Sequence[Decision], folder: Path) -> list[Decision]:
    """Claims that are not decided, decided by the first results folder inside that can.

    The claim's own, by its name, comes before the others; where none can, it says why it does not.
    """
    bundles = {place: bundle_of(place) for place in results_inside(folder)}
    return [each if each.measured else _by_first(each, bundles) for each in decisions]


def _by_first(lacking: Decision, bundles: Mapping[Path, Bundle | None]) -> Decision:
    claim = lacking.claim
    for place in sorted(bundles, key=lambda place: (place.name != claim.home, place.name)):
        found = decision(claim, place, bundles[place])
        if found.measured:
            return replace(found, runs=": ".join(filter(None, (place.name, found.runs))))
        if place.name == claim.home:
            lacking = found
    return lacking


def bundle_of(folder: Path) -> Bundle | None:
    """The runs of a folder; None where it holds none. Errors as of `load_bundle`."""
    return load_bundle(folder) if holds_results(folder) else None


def holds_results(folder: Path) -> bool:
    """Whether there are finished runs in a folder, or a bundle of them."""
    return any_finished(folder) or is_bundle(folder)


def decide(
    folder: Path, bundle: Bundle | None, left_out: Collection[str] = frozenset()
) -> list[Decision]:
    """Every claim of `CLAIMS` in order; ``bundle`` is None for a folder without finished runs.

    ``left_out`` are runs of the folder that the user did not choose: a study's table that rests on
    one of them decides nothing.
    """
    return [decision(claim, folder, bundle, left_out) for claim in CLAIMS]


def decision(
    claim: Claim,
    folder: Path,
    bundle: Bundle | None,
    left_out: Collection[str] = frozenset(),
) -> Decision:
    """One claim of `CLAIMS`; the rest as for all of them."""
    if claim.study:
        verdict, runs = _studied(claim, folder, bundle, left_out)
    else:
        verdict, rows = _from_runs(claim, bundle)
        runs = describe(rows) if len(rows) else ""
    lacking = verdict.verdict == "not measured"
    told = _command(claim, folder, bundle) if lacking else ""
    return Decision(claim, verdict, runs, told, folder)


def _command(claim: Claim, folder: Path, bundle: Bundle | None) -> str:
    """What measures a claim, in the folder where its runs can be; else in the command's default."""
    words, where, store = f"bottleneck {claim.command}", folder, not without_runs(folder)
    of_several = bundle is None and bool(results_inside(folder))
    if claim.makes:
        where = folder / claim.home if of_several else folder
        takes = store or claim.makes == "bench"
        return f"{words} --out {shlex.quote(str(where))}" if takes else words
    texts = set() if bundle is None else set(bundle.runs["corpus"].unique())
    suits = not (claim.known and texts and texts.isdisjoint(claim.known))
    if claim.id == "C7" and store and texts == {OWN_TEXT}:
        words, suits = f"bottleneck {GOLD_STUDY}", True
    if bundle is not None:
        suits = suits and not claim.apart and set(claim.arms) <= kinds(bundle.runs["attention"])
    in_folder = store and suits and not of_several
    return f"{words} --results {shlex.quote(str(folder))}" if in_folder else words


def _from_runs(claim: Claim, bundle: Bundle | None) -> Judged:
    """A claim that the runs themselves decide."""
    judge, rule = _JUDGES[claim.id]
    reason = NO_RUNS
    if bundle is not None:
        try:
            found = judge(bundle)
        except UserError as error:
            reason = str(error)
        else:
            if not isinstance(found, str):
                return found
            reason = found
    return Verdict(claim.id, "not measured", rule, reason), pd.DataFrame()


def _failure(bundle: Bundle) -> Judged | str:
    """L-FAIL: of the pair that L-VIND reads, else of none on its own."""
    found = _first_compared(bundle)
    rows = found[1] if found else alone(listed_runs(bundle))
    if rows is None:
        return "no run without attention"
    compared = found[0] if found else compare(only(bundle, rows), alone=True)
    return failure_verdicts(compared)[0], rows[rows["attention"] == "none"]


def _vindication(claim: str) -> Callable[[Bundle], Judged | str]:
    """L-VIND, and what else the slide's table says."""

    def judge(bundle: Bundle) -> Judged | str:
        found = _first_compared(bundle)
        decide = VINDICATION_RULES[claim][0]
        return (decide(found[0].scores), found[1]) if found else NO_PAIR

    return judge


@lru_cache(maxsize=1)
def _first_compared(bundle: Bundle) -> tuple[Comparison, pd.DataFrame] | None:
    """The arms of the first pair, compared, and their runs; None without a pair."""
    if not (found := _pairs(bundle)):
        return None
    rows = found[0].runs
    return compare(only(bundle, rows)), rows


@lru_cache(maxsize=1)
def _pairs(bundle: Bundle) -> list[Pair]:
    """Kept, as what is compared is: several claims rest on them."""
    return pairs(listed_runs(bundle))


def _compression(bundle: Bundle) -> Judged | str:
    """C1."""
    rows = over_sizes(listed_runs(bundle))
    if rows is None:
        return "no run without attention"
    sizes = compare_sizes(only(bundle, rows))
    used = rows[rows["run"].isin({run for one in sizes for run in one.none.runs})]
    return compression_predicts_loss(cells(sizes)), used


def _controls(bundle: Bundle) -> Judged | str:
    """C10."""
    found = measured_controls(bundle)
    return found if isinstance(found, str) else (selection_beats_compression(found[0]), found[1])


def measured_controls(bundle: Bundle) -> tuple[Controlled, pd.DataFrame] | str:
    """What C10 is judged by, and its runs: of the first of the pairs that have the most controls.

    In words why there is none.
    """
    found = _pairs(bundle)
    if not found:
        return NO_PAIR
    runs = listed_runs(bundle)
    most = max(found, key=lambda pair: len(set(control_names(runs, pair))))
    return controlled(bundle, most)


def _training(bundle: Bundle) -> Judged | str:
    """C12."""
    found = measured_training(bundle)
    if isinstance(found, str):
        return found
    buckets, rows = found
    beside = [losses(rows), trained_lengths(bundle)]
    return training_moves_curve(buckets, [told for told in beside if told]), rows


def measured_training(bundle: Bundle) -> tuple[list[Trained], pd.DataFrame] | str:
    """What C12 is judged by, and its runs: of the first pair that was trained twice as long.

    In words why there is none.
    """
    found = _pairs(bundle)
    if not found:
        return NO_PAIR
    return next(filter(None, (twice_trained(bundle, pair) for pair in found)), NOT_TWICE)


_JUDGES: Mapping[str, tuple[Callable[[Bundle], Judged | str], str]] = {
    "L-FAIL": (_failure, FAILURE_RULE),
    **{claim: (_vindication(claim), rule) for claim, (_, rule) in VINDICATION_RULES.items()},
    "C1": (_compression, COMPRESSION_RULE),
    "C10": (_controls, CONTROLS_RULE),
    "C12": (_training, TRAINING_RULE),
}
"""By claim: what gives the verdict or, in words, why there is none; and the rule."""


def _studied(
    claim: Claim, folder: Path, bundle: Bundle | None, left_out: Collection[str]
) -> tuple[Verdict, str]:
    """A claim that a study's table decides, where that rests on no run that was left out.

    Alignment's is that of the corpus' own links, or else of the user's gold links. The bundle's
    scores say which arms have learned.
    """
    tables = [claim.study, *([GOLD] if claim.study == "alignment" else [])]
    table = next((each for each in tables if has_probe(folder, each)), None)
    if table is None:
        return studied(claim, None), ""
    frame = load_study(folder, table)
    if others := sorted(set(frame["run"]) & set(left_out)):
        reason = (
            f"probes/{table}.csv rests on runs that were not chosen ({_named(others)}): "
            "measure the chosen ones alone, with the same --where"
        )
        return replace(studied(claim, None), because=reason), ""
    with made_of(folder, table):
        verdict, judged = judge(claim, frame, None if bundle is None else bundle.runs)
    if table == BENCHMARK:
        return verdict, import_module("...questions.cost", __name__).rests_on(judged)
    own = judged[judged["run"] != ""].drop_duplicates("run")
    arms = own.groupby("arm", sort=False)["seed"]
    seeds = {str(arm): [int(seed) for seed in held] for arm, held in arms}
    return verdict, runs_told(len(own), seeds)


def _named(runs: Sequence[str]) -> str:
    """The first runs by name, and how many more there are."""
    more = len(runs) - NAMED
    return ", ".join(runs[:NAMED]) + (f" and {more} more" if more > 0 else "")
