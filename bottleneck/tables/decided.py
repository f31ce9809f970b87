"""The verdict on every claim, from what a results folder holds: C1 to C14 and the two tables.

Each claim picks the runs that it needs; nothing is refused. What cannot be decided is "not
measured", with the reason and the command that would produce what is lacking. A study of many
sweeps has a folder of results folders: what its own runs do not decide, one of those may.

A study's table has the runs of every sweep of its folder. Its claim is judged on the arms of one
group, that of the lecture's own settings or what comes nearest to them, and says nothing of a
network that has not learned to translate.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from ..claims.controls import PLAIN, Control, Controlled, Trained, Variation
from ..claims.controls import UNIFORM as UNIFORM_WEIGHTS
from ..claims.registry import ATTENTION, CLAIMS, Claim, studied, verdict_on
from ..claims.verdict import FLOOR_BLEU, Verdict, conclude, learned, unlearned
from ..results.bundle import Bundle, load_bundle
from ..results.folders import (
    finished_runs,
    has_probe,
    is_bundle,
    made_of,
    results_inside,
    without_runs,
)
from ..results.schema import BENCHMARK, GOLD
from ..scoring.bootstrap import difference
from ..settings.errors import UserError, counted
from .comparison import arm_of, compare, compare_sizes
from .comparison_groups import (
    NONE,
    PAIRED,
    SIZE,
    TEXT,
    UNIFORM,
    WIDTHS,
    Pair,
    arm_kinds,
    changed,
    closest,
    common_seeds,
    context_size_series,
    describe,
    first,
    groups,
    listed_runs,
    pairs,
    runs_text,
)
from .run_tables import cells
from .selection import as_condition, only, where

NO_SCORES = "the folder does not have the runs that were measured, nor their scores"
WORDS: Mapping[str, str] = {NONE: "without attention", ATTENTION: "with attention"}

Judged = tuple[Verdict, pd.DataFrame]
"""A verdict, and the runs or the rows of a study's table that it rests on."""


PARAMETERS, LARGER, LONGER = "as many parameters", "a larger context", "twice the training"
SINGLE = {
    "reverse_source=true": "source reversed",
    "bidirectional=true": "encoder bidirectional",
    "initial_state=zero": "decoder started from zero",
}
"""Settings that are a control without attention, and a variation of both arms."""
EXPECTED = (UNIFORM_WEIGHTS, PARAMETERS, LARGER, *SINGLE.values(), LONGER)


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
    conditions, results folders inside it decide what it does not; the claim's own, by its name,
    comes before the others, and where none can decide, it says why. ``existing`` is the folder's
    `bundle_of` where it has been read already.
    """
    whole = bundle_of(folder) if existing is None else existing
    bundle = where(whole, conditions) if whole and conditions else whole
    left_out = set(whole.names) - set(bundle.names) if whole and bundle else set()
    inside = {} if conditions else {place: bundle_of(place) for place in results_inside(folder)}
    decisions = []
    for claim in CLAIMS:
        decided = decision(claim, folder, bundle, left_out)
        for place in sorted(inside, key=lambda place: (place.name != claim.home, place.name)):
            if decided.measured:
                break
            other = decision(claim, place, inside[place])
            if other.measured:
                decided = replace(other, runs=": ".join(filter(None, (place.name, other.runs))))
            elif place.name == claim.home:
                decided = other
        decisions.append(decided)
    return decisions


def bundle_of(folder: Path) -> Bundle | None:
    """The runs of a folder; None where it holds none. Errors as of `load_bundle`."""
    return load_bundle(folder) if holds_results(folder) else None


def holds_results(folder: Path) -> bool:
    """Whether there are finished runs in a folder, or a bundle of them."""
    return bool(finished_runs(folder)) or is_bundle(folder)


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
        try:
            if bundle is None:
                raise UserError("the folder holds no finished run")
            verdict, rows = _from_runs(claim.id, bundle)
            runs = describe(rows)
        except UserError as error:
            verdict, runs = conclude(claim.id, claim.rule, str(error)), ""
    lacking = verdict.verdict == "not measured"
    return Decision(
        claim, verdict, runs, _command(claim, folder, bundle) if lacking else "", folder
    )


def _command(claim: Claim, folder: Path, bundle: Bundle | None) -> str:
    """What measures a claim, in the folder where its runs can be; else in the command's default."""
    words = f"bottleneck {claim.command}"
    several = bundle is None and bool(results_inside(folder))
    if without_runs(folder) and claim.makes != "bench":
        return words
    if claim.makes:
        return f"{words} --out {shlex.quote(str(folder / claim.home if several else folder))}"
    return words if several or claim.own_runs else f"{words} --results {shlex.quote(str(folder))}"


def first_runs(bundle: Bundle) -> pd.DataFrame | None:
    """The runs, of any updates, of the first pair, else of the first arm without attention."""
    runs = listed_runs(bundle)
    known = [pair.group for pair in pairs(runs)] or groups(runs[runs["attention"] == NONE], PAIRED)
    return known[0] if known else None


def _from_runs(claim: str, bundle: Bundle) -> Judged:
    """A claim that the runs themselves decide; where they cannot, a ``UserError`` says why.

    L-VIND and what else the slide's table says is read from the first pair, L-FAIL from none where
    there is no pair, C10 from the first of the pairs that have the most controls, C12 from the
    first that was trained twice as long.
    """
    runs = listed_runs(bundle)
    known = pairs(runs)
    if claim in ("L-FAIL", "C1"):
        rows = first_runs(bundle) if claim == "L-FAIL" else context_size_series(runs)
        if rows is None:
            raise UserError("no run without attention")
        subset = only(bundle, rows["run"])
        sizes = [compare(subset, alone=True)] if claim == "L-FAIL" else compare_sizes(subset)
        used = rows[rows["run"].isin({run for size in sizes for run in size.none.runs})]
        if claim == "L-FAIL":
            return verdict_on(claim, sizes[0].scores), used
        return verdict_on(claim, cells(sizes)), used
    if not known:
        raise UserError(
            "no runs with and without attention of one seed that differ in nothing else"
        )
    if claim == "C10":
        most = max(known, key=lambda pair: len(changes(runs, pair)))
        measured, used = controlled(bundle, most)
        return verdict_on(claim, measured), used
    if claim == "C12":
        trained = next(filter(None, (twice_trained(bundle, pair) for pair in known)), None)
        if trained is None:
            raise UserError("no arm without attention was trained twice as long")
        return verdict_on(claim, trained[0]), trained[1]
    rows = known[0].runs
    return verdict_on(claim, compare(only(bundle, rows["run"])).scores), rows


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
    question = import_module("...questions.question", __name__).find_question(table)
    frame = question.load(folder)
    if others := sorted(set(frame["run"]) & set(left_out)):
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        reason = (
            f"probes/{table}.csv rests on runs that were not chosen "
            f"({', '.join(others[:3])}{more}): measure the chosen ones alone, with the same --where"
        )
        return replace(studied(claim, None), because=reason), ""
    with made_of(folder, table):
        verdict, judged = judge(claim, frame, None if bundle is None else bundle.runs)
    if table == BENCHMARK:
        return verdict, import_module("...questions.cost", __name__).rests_on(judged)
    used = judged[judged["run"] != ""].drop_duplicates("run")
    return verdict, runs_text(zip(used["arm"], used["seed"], strict=True))


def judge(claim: Claim, frame: pd.DataFrame, runs: pd.DataFrame | None) -> Judged:
    """The verdict on a claim from its study's table, and the rows of the arms it rests on.

    ``runs`` is the tidy table (`schema.RUN_COLUMNS`) of the folder, None where it has none. A
    claim that is decided by runs of its own takes all of them. Others take one group, of a text
    that knows what the claim asks for, if one does; where none has the claim's arms, the nearest of
    all: what lacks is for the rule to say.
    """
    if claim.own_runs:
        return studied(claim, frame), frame
    rows = frame.iloc[:0] if runs is None else runs[runs["run"].isin(set(frame["run"]) - {""})]
    if rows.empty:
        return replace(studied(claim, None), because=NO_SCORES), frame.iloc[:0]
    listed = rows.drop_duplicates("run")
    known = listed[listed["corpus"].isin(claim.known)]
    listed = known if len(known) else listed
    group = closest(listed, claim.arms)
    group = closest(listed, ()) if group is None else group
    # The arms are named by their attention, as is enough; so is a difference's note of an arm.
    arms = frame.loc[frame["run"].isin(group["run"]), ["arm", "attention"]].drop_duplicates()
    names = dict(arms.itertuples(index=False))
    subset = frame[frame["arm"].isin(names)]
    subset = subset.assign(arm=subset["arm"].map(names), note=subset["note"].replace(names))
    low = _low(rows[rows["run"].isin(group["run"])]) if claim.learned else {}
    judged = set(group["attention"])
    lacking = arm_kinds(judged) - arm_kinds(judged - set(low))
    kinds = [WORDS[kind] for kind in claim.arms if kind in lacking]
    kinds += [] if judged - set(low) else ["of every arm"]
    if kinds:
        bucket = next(bucket for bucket, _ in low.values())
        verdict, notes = replace(studied(claim, None), because=unlearned(kinds[0], bucket)), []
    else:
        subset = subset[~subset["attention"].isin(low)]
        named = ", ".join(f"{arm} ({bleu:.1f})" for arm, (_, bleu) in low.items())
        head = "left out as not learned, BLEU under"
        notes = [f"{head} {FLOOR_BLEU:g} in {next(iter(low.values()))[0]}: {named}"] if low else []
        verdict = studied(claim, subset)
    if others := len(set(frame["arm"]) - set(names)):
        verb = "was" if others == 1 else "were"
        notes.append(f"{counted(others, 'arm')} of other settings {verb} not judged")
    return replace(verdict, because="; ".join(filter(None, [verdict.because, *notes]))), subset


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


# What the rules of C10 and C12 take: controls and longer training, beside the two arms.


def changes(runs: pd.DataFrame, pair: Pair) -> dict[str, pd.DataFrame]:
    """The runs of the pair's arms and of uniform weights with one thing changed, by its name."""
    bases = {row["attention"]: row for row in map(first, (pair.none, pair.attention))}
    bases[UNIFORM] = bases[NONE]
    parts: dict[str, list[pd.DataFrame]] = {}
    for arm in groups(runs[runs["attention"].isin(list(bases))], {"seed"}):
        row = first(arm)
        name = _change(row, bases[row["attention"]], first(pair.attention)["parameters"])
        parts.setdefault(name, []).append(arm)
    return {name: pd.concat(arms) for name, arms in parts.items() if name}


def _change(row: Mapping[str, Any], base: Mapping[str, Any], parameters: int) -> str:
    """What a run has that the base has not; empty where it is not one thing with a name."""
    differing = changed(row, base)
    if not differing:
        return PLAIN
    if differing == ["attention"]:
        return UNIFORM_WEIGHTS
    if SIZE in differing and {*differing} <= {SIZE, *WIDTHS}:
        return f"{LARGER} ({row[SIZE]})" if row[SIZE] > base[SIZE] else ""
    if len(differing) > 1:
        return ""
    (column,) = differing
    names = {
        "joined": f"{row['joined']} sentences joined",
        "updates": LONGER if row["updates"] == 2 * base["updates"] else "",
        "hidden_size": PARAMETERS if row["parameters"] >= parameters else "",
    }
    return names.get(column) or SINGLE.get(f"{column}={as_condition(row[column])}", "")


def controlled(bundle: Bundle, pair: Pair) -> tuple[Controlled, pd.DataFrame]:
    """Both arms beside the controls that there are, in the longest filled bucket, and the runs.

    BLEU is 0 to 100; every control is compared with attention on the seeds that both have. A
    variation is of both arms, in the longest bucket of its own test sentences.
    """
    attention = arm_of(bundle, pair.attention)
    place, text = attention.longest, pair.none[TEXT].iloc[0]
    controls, variations, used = [], [], [pair.runs]
    for name, rows in changes(listed_runs(bundle), pair).items():
        plain = rows["attention"].isin([NONE, UNIFORM])
        control, base = common_seeds(rows[plain & (rows[TEXT] == text)], pair.attention)
        if len(control):
            arms = (arm_of(bundle, arm).estimates[place] for arm in (control, base))
            controls.append(Control(name, *arms))
            used.append(control)
        both = common_seeds(rows[plain], rows[~plain])
        varies = name in SINGLE.values() or name.endswith("joined")
        if varies and len(both[0]) and rows[TEXT].nunique() == 1:
            none, other = (arm_of(bundle, arm) for arm in both)
            gain = difference(other.estimates[other.longest], none.estimates[none.longest])
            variations.append(Variation(name, gain))
            used += both
    measured = Controlled(
        bucket=attention.buckets[place],
        sentences=attention.n[place],
        attention=attention.estimates[place],
        controls=tuple(controls),
        variations=tuple(variations),
        lacking=tuple(
            name for name in EXPECTED if not any(item.name.startswith(name) for item in controls)
        ),
    )
    return measured, pd.concat(used).drop_duplicates("run")


def twice_trained(bundle: Bundle, pair: Pair) -> tuple[list[Trained], pd.DataFrame] | None:
    """None trained twice as long beside both arms, of common seeds; None where that was not run."""
    longer = changes(listed_runs(bundle), pair).get(LONGER, pair.none[:0])
    parts = common_seeds(pair.none, longer[longer["attention"] == NONE], pair.attention)
    if parts[0].empty:
        return None
    arms = [arm_of(bundle, part) for part in parts]
    rows = zip(arms[0].buckets, arms[0].n, *(arm.estimates for arm in arms), strict=True)
    return [Trained(*row) for row in rows], pd.concat(parts)
