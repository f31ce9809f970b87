"""The verdict on every claim, from what a results folder holds, and all of them as text.

Each claim is decided by one experiment, on the arms that come first in its sweep's file. What
cannot be decided is "not measured", with the reason and the command that would produce what is
lacking. A study of many sweeps has a folder of results folders: what its own runs do not decide,
one of those may. A study's claim says nothing of a network that has not learned to translate.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group
from rich.constrain import Constrain
from rich.text import Text

from ..claims.registry import ATTENTION, CLAIMS, Claim, studied, verdict_on
from ..claims.rules import PLAIN, RULES
from ..claims.rules import UNIFORM as UNIFORM_WEIGHTS
from ..claims.verdict import FLOOR_BLEU, BucketScores, Verdict, conclude, learned, unlearned
from ..results.bundle import Results
from ..results.folders import has_probe, results_inside, without_runs
from ..results.schema import BENCHMARK, GOLD
from ..scoring.bootstrap import difference
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import UserError
from ..settings.sweep import LONGER, load_sweep
from .comparison import (
    NONE,
    TEXT,
    UNIFORM,
    arm_of,
    common_seeds,
    compare,
    compare_sizes,
    declared,
    describe,
    of_experiment,
    paired,
    pairs,
)
from .page import Page
from .render import MEASURE
from .run_tables import cells
from .selection import where

TITLE = "The lecture's claims"
VERDICTS = {"held": "green", "partly": "yellow", "not held": "red", "not measured": "dim"}
"""The verdicts, and how each is coloured on a terminal."""
CAPTION = (
    "The rule of every verdict is in code (bottleneck/claims/), written before the reference runs; "
    "--format csv, markdown and json print it. Ranges are 95 % intervals, over test sentences "
    "unless it is said otherwise. Nothing is corrected for the number of claims, buckets or "
    "controls."
)


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, and the runs it rests on in words.

    ``folder`` has the results that decide it, or those that do not; ``bundle`` are its runs.
    """

    claim: Claim
    verdict: Verdict
    runs: str
    folder: Path
    bundle: Results | None = None

    @property
    def measured(self) -> bool:
        """Whether there is a verdict on the claim."""
        return self.verdict.verdict != "not measured"

    @property
    def command(self) -> str:
        """The command that would produce what a verdict lacks, in this folder if it has runs."""
        words = f"bottleneck {self.claim.command}"
        if not (self.claim.own_runs or without_runs(self.folder) or results_inside(self.folder)):
            option = "--out" if self.claim.makes else "--results"
            words += f" {option} {shlex.quote(str(self.folder))}"
        return "" if self.measured else words


def decide_results(
    folder: Path, conditions: Sequence[str] = (), existing: Results | None = None
) -> list[Decision]:
    """Every claim of `CLAIMS`, by the runs of a folder that meet the conditions of `where`.

    Without conditions, results folders inside it decide what it does not; the claim's own, by its
    name, comes before the others. ``existing`` is the folder's `Results.find` where it has been
    read already.
    """
    whole = Results.find(folder) if existing is None else existing
    bundle = whole and where(whole, conditions)
    inside, find = [] if conditions else results_inside(folder), cache(Results.find)
    decisions = []
    for claim in CLAIMS:
        decided = decision(claim, folder, bundle)
        places = sorted(inside, key=lambda place: (place.name != claim.home, place.name))
        for place in [] if decided.measured else places:
            other = decision(claim, place, find(place))
            if other.measured:
                decided = replace(other, runs=f"{place.name}: {other.runs}")
                break
        decisions.append(decided)
    return decisions


def decision(claim: Claim, folder: Path, bundle: Results | None) -> Decision:
    """The decision on one claim, by a folder's runs; None where there are none."""
    verdict, runs = (_studied if claim.study else _from_runs)(claim, folder, bundle)
    return Decision(claim, verdict, runs, folder, bundle)


def _from_runs(claim: Claim, _: Path, bundle: Results | None) -> tuple[Verdict, str]:
    """A claim that the runs themselves decide: those of its own experiment, or the first that can.

    Where none can, the first says why.
    """
    rule, results = RULES[claim.id][0], []
    if bundle is None:
        return conclude(claim.id, rule, "the folder holds no finished run"), ""
    for name in sorted(bundle.runs["experiment"].unique(), key=lambda name: name != claim.home):
        part = of_experiment(bundle, name)
        try:
            verdict, used = _by_experiment(claim.id, part)
        except UserError as error:
            verdict, used = conclude(claim.id, rule, str(error)), part.runs[:0]
        results.append((verdict, describe(used)))
    return next((item for item in results if item[0].verdict != "not measured"), results[0])


def _by_experiment(claim: str, bundle: Results) -> tuple[Verdict, pd.DataFrame]:
    """The verdict of an experiment's runs, and those it rests on; a ``UserError`` says why not.

    L-VIND, what else the slide's table says and C10 are read from the first pair, L-FAIL from none
    where there is no pair, C12 from the first that was trained twice as long, C1 from the arms
    without attention of `compare_sizes`.
    """
    runs = declared(bundle)
    if claim in ("L-FAIL", "C1"):
        c1 = claim == "C1"
        sizes = compare_sizes(bundle, together=True) if c1 else [compare(bundle, alone=True)]
        used = {run for size in sizes for run in size.none.runs}
        measured = cells(sizes) if c1 else sizes[0].scores
        return verdict_on(claim, measured), runs[runs["run"].isin(used)]
    known = [pair for pair in pairs(runs) if pair[1]["attention"].iloc[0] != UNIFORM]
    if not known:
        raise UserError(
            "no runs with and without attention of one seed that differ in nothing else"
        )
    if claim == "C10":
        controls, used = controlled(bundle, *known[0])
        return verdict_on(claim, **controls), used
    if claim != "C12":
        comparison = paired(bundle, *known[0])
        return verdict_on(claim, comparison.scores), comparison.runs
    for none, attention in known:
        longer = runs[runs["arm"] == f"{none['arm'].iloc[0]}, {LONGER}"]
        parts = common_seeds(none, longer, attention)
        if len(parts[0]):
            once, twice, other = (arm_of(bundle, part) for part in parts)
            estimates = once.estimates, other.estimates, twice.estimates
            rows = zip(once.buckets, once.n, *estimates, strict=True)
            return verdict_on(claim, [BucketScores(*row) for row in rows]), pd.concat(parts)
    raise UserError("no arm without attention was trained twice as long")


def controlled(
    bundle: Results, none: pd.DataFrame, attention: pd.DataFrame
) -> tuple[dict[str, Any], pd.DataFrame]:
    """What the rule of C10 takes, of the longest filled bucket, and the runs that it is of.

    BLEU is 0 to 100. A control is an arm of the pair's test sentences that does not select, by the
    name of its group; it is compared with attention on the seeds that both have. A variation is of
    both arms of a group, in the longest bucket of its own test sentences. ``lacking`` are groups of
    the sweep ``controls`` of which there is neither.
    """
    runs, attending = declared(bundle), arm_of(bundle, attention)
    place, base = attending.longest, none["arm"].iloc[0]
    controls, variations, used = {}, {}, [none, attention]
    for arm, rows in runs.groupby("arm", sort=False):
        kind, name = rows["attention"].iloc[0], str(arm).partition(", ")[2]
        if kind == UNIFORM and rows["baseline"].iloc[0] == base:
            name = UNIFORM_WEIGHTS
        name = PLAIN if arm == base else name
        both = common_seeds(rows, attention)
        alike = set(rows[TEXT]) == set(none[TEXT])
        if name and kind in (NONE, UNIFORM) and alike and len(both[0]):
            controls[name] = tuple(arm_of(bundle, part).estimates[place] for part in both)
            used.append(both[0])
    for other in pairs(runs):
        arm, kind = other[1]["arm"].iloc[0], other[1]["attention"].iloc[0]
        name = arm.partition(", ")[2]
        if arm != attention["arm"].iloc[0] and name not in ("", LONGER) and kind == attending.name:
            both = paired(bundle, *other)
            ends = (part.estimates[part.longest] for part in (both.attention, both.none))
            variations[name] = difference(*ends)
            used.append(both.runs)
    measured = {
        "bucket": attending.buckets[place],
        "sentences": attending.n[place],
        "attention": attending.estimates[place],
        "controls": controls,
        "variations": variations,
        "lacking": [
            group.name
            for group in load_sweep("controls").groups
            if group.name not in (*controls, *variations, group.settings.get("model.attention"))
        ],
    }
    return measured, pd.concat(used).drop_duplicates("run")


def _studied(claim: Claim, folder: Path, bundle: Results | None) -> tuple[Verdict, str]:
    """A claim that a study's table decides; C7 also by the user's gold links."""
    tables = [claim.study, *([GOLD] if claim.study == "alignment" else [])]
    table = next((item for item in tables if has_probe(folder, item)), None)
    if table is None:
        return studied(claim, None), ""
    frame = import_module("...questions.question", __name__).find_question(table).load(folder)
    verdict, judged = judge(claim, frame, None if bundle is None else bundle.runs)
    if table == BENCHMARK:
        return verdict, import_module("...questions.cost", __name__).rests_on(judged)
    return verdict, describe(judged[judged["run"] != ""])


def judge(
    claim: Claim, frame: pd.DataFrame, runs: pd.DataFrame | None
) -> tuple[Verdict, pd.DataFrame]:
    """The verdict on a claim from its study's table, and the rows of the arms it rests on.

    ``runs`` is the tidy table (`schema.RUN_COLUMNS`) of the chosen runs, None where there are none:
    a table that rests on others decides nothing. A claim that is decided by runs of its own takes
    all of them, others one family (`claims.verdict.FAMILY`).
    """
    known = set() if runs is None else set(runs.loc[(runs["arm"] != "") | claim.own_runs, "run"])
    missing = sorted(set(frame["run"]) - known - {""})
    if missing and not (claim.own_runs and runs is None):
        because = (
            f"probes/{claim.study}.csv rests on runs that were not chosen, were replaced by later "
            f"ones, or are not there ({', '.join(missing[:3])}{' ...' if missing[3:] else ''}): "
            f"measure again with `bottleneck study {claim.study}`, with the same --where"
        )
        return replace(studied(claim, None), because=because), frame[:0]
    if claim.own_runs:
        return studied(claim, frame), frame
    rows = runs[runs["run"].isin(frame["run"])]
    rows = rows.sort_values("experiment", key=lambda names: names != claim.home, kind="stable")
    bases = rows["baseline"].where(rows["baseline"] != "", rows["arm"])
    families = [family for _, family in rows.groupby(["experiment", bases], sort=False)]
    family = min(
        families,
        key=lambda rows: (
            not rows["corpus"].isin(claim.known).any(),
            not set(claim.arms) <= _kinds(set(rows["attention"])),
        ),
    )
    low = _low(family) if claim.learned else {}
    # The arms are named by their attention, as is enough; so is a difference's note of an arm.
    arms = frame[frame["run"].isin(family["run"])].set_index("arm")["attention"].to_dict()
    subset = frame[frame["arm"].isin(arms)]
    subset = subset.assign(arm=subset["arm"].map(arms), note=subset["note"].replace(arms))
    judged = set(family["attention"])
    gone = (_kinds(judged) - _kinds(judged - set(low))) & set(claim.arms)
    if gone or judged == set(low):
        words = {NONE: "without attention", ATTENTION: "with attention"}
        kinds = [words[kind] for kind in claim.arms if kind in gone] or ["of every arm"]
        because = unlearned(kinds[0], next(bucket for bucket, _ in low.values()))
        return replace(studied(claim, None), because=because), subset
    subset = subset[~subset["attention"].isin(low)]
    verdict = studied(claim, subset)
    if low:
        named = ", ".join(f"{arm} ({bleu:.1f} in {bucket})" for arm, (bucket, bleu) in low.items())
        note = f"left out as not learned, BLEU under {FLOOR_BLEU:g}: {named}"
        verdict = replace(verdict, because=f"{verdict.because}; {note}")
    return verdict, subset


def _kinds(attentions: set[str]) -> set[str]:
    """`NONE`, and `ATTENTION` if any of these selects: the arms as the claims name them."""
    return attentions & {NONE} | ({ATTENTION} if attentions - set(UNSELECTIVE) else set())


def _low(rows: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """The arms that have not learned to translate: their shortest filled bucket and its BLEU."""
    low = {}
    for arm, scores in rows.groupby("attention", sort=False):
        filled = scores[scores["bleu"].notna()]
        bucket = "every bucket" if filled.empty else str(filled["bucket"].iloc[0])
        bleu = float(filled.loc[filled["bucket"] == bucket, "bleu"].mean())
        if not learned(bleu):
            low[str(arm)] = bucket, bleu
    return low


# All claims as text.


def claims(decisions: Sequence[Decision]) -> pd.DataFrame:
    """A row a claim: id, claim, measure, value, low, high, verdict, because, rule, runs, command.

    ``measure`` says what ``value`` is a number of, else what is to be measured; ``runs`` are those
    that the verdict rests on, ``command`` is what would produce what a verdict lacks. ``low`` to
    ``high`` is the 95 % interval.
    """
    columns = "id claim measure value low high verdict because rule runs command"
    rows = [
        vars(item.verdict)
        | {"id": item.claim.id, "claim": item.claim.says, "runs": item.runs}
        | {"measure": item.verdict.measure, "command": item.command}
        for item in decisions
    ]
    frame = pd.DataFrame(rows, columns=columns.split())
    return frame.astype(dict.fromkeys(("value", "low", "high"), "float64"))


def summary(decisions: Sequence[Decision]) -> str:
    """``17 claims: 5 held, 3 partly, 2 not held, 7 not measured``."""
    verdicts = [decision.verdict.verdict for decision in decisions]
    parts = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS if name in verdicts)
    return f"{len(verdicts)} claims: {parts}"


def number(row: Mapping[str, object]) -> str:
    """``45.7 [41.0, 50.1]``, as many digits as the greatest of them needs; empty without one."""
    known = [row[name] for name in ("value", "low", "high") if not pd.isna(row[name])]
    if pd.isna(row["value"]):
        return ""
    greatest = max(map(abs, known))
    form = f"{{:.{1 if greatest >= 10 else 2 if greatest >= 0.1 else 4}f}}"
    value, *ends = map(form.format, known)
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else value


def claims_page(decisions: Sequence[Decision]) -> Page:
    """Every claim as a row; on a terminal id, verdict, claim, number, why, runs or command."""
    title, frame, texts = f"{TITLE}: {summary(decisions)}", claims(decisions), []
    for row in frame.to_dict("records"):
        value = number(row)
        measured = f"{value}  {row['measure']}" if value else ""
        lines = [f"{row['claim']}.", measured, f"{row['because']}.", row["runs"], row["command"]]
        text = Text.assemble(
            (f"\n{row['id']} ", "bold"), (row["verdict"], VERDICTS[row["verdict"]])
        )
        texts.append(text.append("\n" + "\n".join(line for line in lines if line)))
    table = Constrain(Group(Text(title, "bold"), *texts, ""), MEASURE)
    return Page("claims", title, frame, table, [], [CAPTION])
