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
from ..claims.controls import CONTROLS_RULE, selection_beats_compression
from ..claims.registry import CLAIMS, Claim, studied
from ..claims.rules import RULES, verdict_on
from ..claims.training import TRAINING_RULE, training_moves_curve
from ..claims.training import UNMEASURED as NOT_TWICE
from ..claims.verdict import Verdict
from ..results.bundle import Bundle, load_bundle
from ..results.discovery import any_finished, results_inside
from ..results.folders import is_bundle, without_runs
from ..results.probes import GOLD, command_of, has_probe, made_of
from ..results.schema import BENCHMARK
from ..settings.errors import UserError
from .caption import failure_verdicts
from .comparison import Comparison, compare, compare_sizes
from .comparison_groups import (
    Pair,
    alone,
    arm_kinds,
    context_size_series,
    describe,
    listed_runs,
    pairs,
    runs_text,
)
from .compression import cells
from .controlled import control_names, controlled, losses, only, trained_lengths, twice_trained
from .judged import judge
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
    folder: Path, conditions: Sequence[str] = (), existing: Bundle | None = None
) -> list[Decision]:
    """Every claim by the runs of a folder that meet the conditions (`selection.where`).

    A folder without finished runs is not refused: a benchmark or a study may lie in it. Without
    conditions, results folders inside it decide what it does not. ``held`` is the folder's
    `bundle_of` where it has been read already.
    """
    bundle = bundle_of(folder) if existing is None else existing
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
    return [item if item.measured else _by_first(item, bundles) for item in decisions]


def _by_first(lacking: Decision, bundles: Mapping[Path, Bundle | None]) -> Decision:
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
    command = _command(claim, folder, bundle) if lacking else ""
    return Decision(claim, verdict, runs, command, folder)


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
        words, suits = f"bottleneck {command_of(GOLD)}", True
    if bundle is not None:
        suits = suits and not claim.own_runs
        suits = suits and set(claim.arms) <= arm_kinds(bundle.runs["attention"])
    in_folder = store and suits and not of_several
    return f"{words} --results {shlex.quote(str(folder))}" if in_folder else words


def _from_runs(claim: Claim, bundle: Bundle | None) -> Judged:
    """A claim that the runs themselves decide."""
    judge, rule = _JUDGES[claim.id]
    reason = NO_RUNS
    if bundle is not None:
        try:
            result = judge(bundle)
        except UserError as error:
            reason = str(error)
        else:
            if not isinstance(result, str):
                return result
            reason = result
    return Verdict(claim.id, "not measured", rule, reason), pd.DataFrame()


def _failure(bundle: Bundle) -> Judged | str:
    """L-FAIL: of the pair that L-VIND reads, else of none on its own."""
    result = _first_compared(bundle)
    rows = result[1] if result else alone(listed_runs(bundle))
    if rows is None:
        return "no run without attention"
    compared = result[0] if result else compare(only(bundle, rows), alone=True)
    return failure_verdicts(compared)[0], rows[rows["attention"] == "none"]


def _vindication(claim: str) -> Callable[[Bundle], Judged | str]:
    """L-VIND, and what else the slide's table says."""

    def judge(bundle: Bundle) -> Judged | str:
        result = _first_compared(bundle)
        return (verdict_on(claim, result[0].scores), result[1]) if result else NO_PAIR

    return judge


@lru_cache(maxsize=1)
def _first_compared(bundle: Bundle) -> tuple[Comparison, pd.DataFrame] | None:
    """The arms of the first pair, compared, and their runs; None without a pair."""
    if not (result := _pairs(bundle)):
        return None
    rows = result[0].runs
    return compare(only(bundle, rows)), rows


@lru_cache(maxsize=1)
def _pairs(bundle: Bundle) -> list[Pair]:
    """Kept, as what is compared is: several claims rest on them."""
    return pairs(listed_runs(bundle))


def _compression(bundle: Bundle) -> Judged | str:
    """C1."""
    rows = context_size_series(listed_runs(bundle))
    if rows is None:
        return "no run without attention"
    sizes = compare_sizes(only(bundle, rows))
    used = rows[rows["run"].isin({run for size in sizes for run in size.none.runs})]
    return compression_predicts_loss(cells(sizes)), used


def _controls(bundle: Bundle) -> Judged | str:
    """C10: of the first of the pairs that have the most controls."""
    candidates = _pairs(bundle)
    if not candidates:
        return NO_PAIR
    runs = listed_runs(bundle)
    most = max(candidates, key=lambda pair: len(set(control_names(runs, pair))))
    measured, used = controlled(bundle, most)
    return selection_beats_compression(measured), used


def _training(bundle: Bundle) -> Judged | str:
    """C12: of the first pair that was trained twice as long."""
    candidates = _pairs(bundle)
    if not candidates:
        return NO_PAIR
    measured = next(filter(None, (twice_trained(bundle, pair) for pair in candidates)), None)
    if measured is None:
        return NOT_TWICE
    buckets, rows = measured
    notes = [losses(rows), trained_lengths(bundle)]
    return training_moves_curve(buckets, [note for note in notes if note]), rows


_JUDGES: Mapping[str, tuple[Callable[[Bundle], Judged | str], str]] = {
    **{claim: (_vindication(claim), rule.text) for claim, rule in RULES.items()},
    "L-FAIL": (_failure, RULES["L-FAIL"].text),
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
    table = next((item for item in tables if has_probe(folder, item)), None)
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
    chosen_runs = judged[judged["run"] != ""].drop_duplicates("run")
    arms = chosen_runs.groupby("arm", sort=False)["seed"]
    seeds = {str(arm): [int(seed) for seed in numbers] for arm, numbers in arms}
    return verdict, runs_text(len(chosen_runs), seeds)


def _named(runs: Sequence[str]) -> str:
    """The first runs by name, and how many more there are."""
    more = len(runs) - NAMED
    return ", ".join(runs[:NAMED]) + (f" and {more} more" if more > 0 else "")
