"""The verdict on every claim, from what a results folder holds, and all of them as text.

Each claim is decided by one experiment, on the arms that come first in its sweep's file; nothing
is refused. What cannot be decided is "not measured", with the reason and the command that would
produce what is lacking. A study of many sweeps has a folder of results folders: what its own runs
do not decide, one of those may. A study's claim says nothing of a network that has not learned to
translate.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from ..claims.registry import ATTENTION, CLAIMS, Claim, studied, verdict_on
from ..claims.rules import PLAIN, RULES
from ..claims.rules import UNIFORM as UNIFORM_WEIGHTS
from ..claims.verdict import FLOOR_BLEU, BucketScores, Verdict, conclude, learned, unlearned
from ..results.bundle import Results
from ..results.folders import (
    has_probe,
    made_of,
    results_inside,
    without_runs,
)
from ..results.schema import BENCHMARK, GOLD, SETTING_COLUMNS
from ..scoring.bootstrap import difference
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import UserError, counted
from ..settings.sweep import LONGER
from .comparison import (
    NONE,
    SIZE,
    TEXT,
    UNIFORM,
    WIDTHS,
    Pair,
    arm_of,
    common_seeds,
    compare,
    compare_sizes,
    declared,
    describe,
    following_widths,
    paired,
    pairs,
    runs_text,
    usual,
)
from .page import check_format, csv, json_text, markdown
from .render import MEASURE, print_prose
from .run_tables import cells
from .selection import as_condition, only, where

TITLE = "The lecture's claims"
VERDICTS = {"held": "green", "partly": "yellow", "not held": "red", "not measured": "dim"}
"""The verdicts, and how each is coloured on a terminal."""
LEFT, GAP = 14, 2
"""Columns of the ids and verdicts (``L-VIND-largest``), and between these and the rest."""
FORMATS = ("rich", "csv", "markdown", "json")
"""The forms of the claims; ``rich`` is the terminal's."""
CAPTION = (
    "The rule of every verdict is written in code (bottleneck/claims/), as it was before the "
    "reference runs; changes are dated in results/LOG.md. --format csv, markdown and json have the "
    "rule beside the verdict.",
    "Ranges are 95 % intervals, over test sentences unless it is said otherwise; seeds are small "
    "points in the figures and rows of probes/NAME.csv. Nothing is corrected for the number of "
    "claims, buckets or controls.",
)
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
    folder: Path, conditions: Sequence[str] = (), existing: Results | None = None
) -> list[Decision]:
    """Every claim of `CLAIMS`, by the runs of a folder that meet the conditions of `where`.

    A folder without finished runs is not refused: a benchmark or a study may lie in it. Without
    conditions, results folders inside it decide what it does not; the claim's own, by its name,
    comes before the others, and where none can decide, it says why. Of the experiments of a folder
    the claim's own comes first, too. ``existing`` is the folder's `Results.find` where it has been
    read already.
    """
    whole = Results.find(folder) if existing is None else existing
    bundle = where(whole, conditions) if whole and conditions else whole
    left_out = set(whole.names) - set(bundle.names) if whole and bundle else set()
    inside = {} if conditions else {place: Results.find(place) for place in results_inside(folder)}
    decisions = []
    for claim in CLAIMS:
        decided = _first_decision(claim, folder, bundle, left_out)
        for place in sorted(inside, key=lambda place: (place.name != claim.home, place.name)):
            if decided.measured:
                break
            other = _first_decision(claim, place, inside[place])
            if other.measured:
                decided = replace(other, runs=": ".join(filter(None, (place.name, other.runs))))
            elif place.name == claim.home:
                decided = other
        decisions.append(decided)
    return decisions


def _first_decision(
    claim: Claim, folder: Path, bundle: Results | None, left_out: Collection[str] = frozenset()
) -> Decision:
    """That of the claim's own experiment of the folder, else of the first that decides it."""
    if bundle is None:
        return decision(claim, folder, None, left_out)
    names = sorted(bundle.runs["experiment"].unique(), key=lambda name: name != claim.home)
    parts = (replace(bundle, runs=bundle.runs[bundle.runs["experiment"] == name]) for name in names)
    decisions = [decision(claim, folder, part, left_out) for part in parts]
    return next((item for item in decisions if item.measured), decisions[0])


def decision(
    claim: Claim,
    folder: Path,
    bundle: Results | None,
    left_out: Collection[str] = frozenset(),
) -> Decision:
    """The decision on one claim, by the runs of one experiment, None where there are none.

    ``left_out`` are runs of the folder that the user did not choose: a study's table that rests on
    one of them decides nothing. The command that a verdict lacks is put to the folder where the
    claim's runs can be, else to its own default.
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
            verdict, runs = conclude(claim.id, RULES[claim.id][0], str(error)), ""
    if verdict.verdict != "not measured":
        return Decision(claim, verdict, runs, "", folder)
    command = f"bottleneck {claim.command}"
    several = bundle is None and bool(results_inside(folder))
    if claim.makes == "bench" or not without_runs(folder):
        if claim.makes:
            command += f" --out {shlex.quote(str(folder / claim.home if several else folder))}"
        elif not (several or claim.own_runs):
            command += f" --results {shlex.quote(str(folder))}"
    return Decision(claim, verdict, runs, command, folder)


def first_arms(bundle: Results) -> Results | None:
    """The first pair alone, else the first arm without attention, with those twice trained.

    They are of experiment ``vindication`` if the bundle has it, else of its first. None where there
    is no arm without attention.
    """
    name = min(bundle.runs["experiment"].unique(), key=lambda name: name != "vindication")
    bundle = replace(bundle, runs=bundle.runs[bundle.runs["experiment"] == name])
    runs = declared(bundle)
    none = runs[runs["attention"] == NONE]
    if none.empty:
        return None
    pair = next(iter(_attending(usual(runs))), None)
    arms = usual(none)["arm"].iloc[:1] if pair is None else _arms(pair)
    chosen = runs["arm"].isin([name + end for name in arms for end in ("", f", {LONGER}")])
    return only(bundle, runs.loc[chosen, "run"])


def _attending(runs: pd.DataFrame) -> list[Pair]:
    """The pairs whose weights are learned."""
    return [pair for pair in pairs(runs) if pair.attention["attention"].iloc[0] != UNIFORM]


def _arms(pair: Pair) -> list[str]:
    """The names of a pair's arms."""
    return [arm["arm"].iloc[0] for arm in (pair.none, pair.attention)]


def _from_runs(claim: str, bundle: Results) -> Judged:
    """A claim that the runs themselves decide; where they cannot, a ``UserError`` says why.

    L-VIND, what else the slide's table says and C10 are read from the first pair, L-FAIL from none
    where there is no pair, C12 from the first that was trained twice as long. C1 is read from the
    first arm without attention and those that differ from it in the context size alone, or in all
    widths with it where they always follow.
    """
    runs = declared(bundle)
    if claim == "L-FAIL":
        subset = first_arms(bundle)
        if subset is None:
            raise UserError("no run without attention")
        comparison = compare(subset, alone=True)
        used = runs[runs["run"].isin(comparison.none.runs)]
        return verdict_on(claim, comparison.scores), used
    if claim == "C1":
        none = usual(runs[runs["attention"] == NONE])
        if none.empty:
            raise UserError("no run without attention")
        widths = WIDTHS if following_widths(none) == {*WIDTHS} else ()
        fixed = [name for name in SETTING_COLUMNS if name not in ("seed", SIZE, *widths)]
        codes = none[[*fixed, TEXT]].map(as_condition)
        used = none[(codes == codes.iloc[0]).all(axis=1)]
        return verdict_on(claim, cells(compare_sizes(only(bundle, used["run"])))), used
    known = _attending(usual(runs))
    if not known:
        raise UserError(
            "no runs with and without attention of one seed that differ in nothing else"
        )
    if claim == "C10":
        measured, used = controlled(bundle, known[0])
        return verdict_on(claim, **measured), used
    if claim == "C12":
        trained = next(filter(None, (twice_trained(bundle, pair) for pair in known)), None)
        if trained is None:
            raise UserError("no arm without attention was trained twice as long")
        return verdict_on(claim, trained[0]), trained[1]
    comparison = paired(bundle, known[0])
    return verdict_on(claim, comparison.scores), comparison.runs


def _studied(
    claim: Claim, folder: Path, bundle: Results | None, left_out: Collection[str]
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
    claim that is decided by runs of its own takes all of them. Others take the first family that
    has the claim's arms, of a text that knows what the claim asks for, if one does; where none has
    them, the first of all: what lacks is for the rule to say.
    """
    if claim.own_runs:
        return studied(claim, frame), frame
    rows = frame.iloc[:0] if runs is None else runs[runs["run"].isin(set(frame["run"]) - {""})]
    rows = rows[rows["arm"] != ""]
    if rows.empty:
        missing = "the folder does not have the runs that were measured, nor their scores"
        return replace(studied(claim, None), because=missing), frame.iloc[:0]
    names = sorted(rows["experiment"].unique(), key=lambda name: name != claim.home)
    rows = rows[rows["experiment"] == names[0]]
    listed = rows.drop_duplicates("run")
    known = listed[listed["corpus"].isin(claim.known)]
    listed = known if len(known) else listed
    bases = listed["baseline"].where(listed["baseline"] != "", listed["arm"])
    families = [family for _, family in listed.groupby(bases, sort=False)]
    suiting = (item for item in families if set(claim.arms) <= _arm_kinds(item["attention"]))
    group = next(suiting, families[0])
    # The arms are named by their attention, as is enough; so is a difference's note of an arm.
    arms = frame.loc[frame["run"].isin(group["run"]), ["arm", "attention"]].drop_duplicates()
    names = dict(arms.itertuples(index=False))
    subset = frame[frame["arm"].isin(names)]
    subset = subset.assign(arm=subset["arm"].map(names), note=subset["note"].replace(names))
    low = _low(rows[rows["run"].isin(group["run"])]) if claim.learned else {}
    judged = set(group["attention"])
    lacking = _arm_kinds(judged) - _arm_kinds(judged - set(low))
    words = {NONE: "without attention", ATTENTION: "with attention"}
    kinds = [words[kind] for kind in claim.arms if kind in lacking]
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


def _arm_kinds(attentions: Iterable[str]) -> set[str]:
    """`NONE`, and `ATTENTION` if any of these selects: the arms as the claims name them."""
    names = set(attentions)
    return {NONE} & names | ({ATTENTION} if names - set(UNSELECTIVE) else set())


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


def controlled(bundle: Results, pair: Pair) -> tuple[dict[str, Any], pd.DataFrame]:
    """What the rule of C10 takes, of the longest filled bucket, and the runs that it is of.

    BLEU is 0 to 100. A control is an arm of the pair's test sentences that does not select, by the
    name of its group; it is compared with attention on the seeds that both have. A variation is of
    both arms of a group, in the longest bucket of its own test sentences.
    """
    runs, attention = declared(bundle), arm_of(bundle, pair.attention)
    place, (none, attending) = attention.longest, _arms(pair)
    controls, variations, used = {}, {}, [pair.none, pair.attention]
    for arm, rows in runs.groupby("arm", sort=False):
        kind, name = rows["attention"].iloc[0], str(arm).partition(", ")[2]
        if kind == UNIFORM and rows["baseline"].iloc[0] == none:
            name = UNIFORM_WEIGHTS
        name = PLAIN if arm == none else name
        control, base = common_seeds(rows, pair.attention)
        alike = set(rows[TEXT]) == set(pair.none[TEXT])
        if name and kind in (NONE, UNIFORM) and alike and len(control):
            controls[name] = tuple(
                arm_of(bundle, part).estimates[place] for part in (control, base)
            )
            used.append(control)
    for other in pairs(runs):
        arm, name = _arms(other)[1], _arms(other)[1].partition(", ")[2]
        kind = other.attention["attention"].iloc[0]
        if arm != attending and name not in ("", LONGER) and kind == attention.name:
            both = paired(bundle, other)
            ends = (part.estimates[part.longest] for part in (both.attention, both.none))
            variations[name] = difference(*ends)
            used.append(both.runs)
    measured = {
        "bucket": attention.buckets[place],
        "sentences": attention.n[place],
        "attention": attention.estimates[place],
        "controls": controls,
        "variations": variations,
    }
    return measured, pd.concat(used).drop_duplicates("run")


def twice_trained(bundle: Results, pair: Pair) -> tuple[list[BucketScores], pd.DataFrame] | None:
    """None trained twice as long beside both arms, of common seeds; None where that was not run."""
    runs = declared(bundle)
    longer = runs[runs["arm"] == f"{_arms(pair)[0]}, {LONGER}"]
    parts = common_seeds(pair.none, longer, pair.attention)
    if parts[0].empty:
        return None
    none, twice, attention = (arm_of(bundle, part) for part in parts)
    estimates = none.estimates, attention.estimates, twice.estimates
    rows = zip(none.buckets, none.n, *estimates, strict=True)
    return [BucketScores(*row) for row in rows], pd.concat(parts)


# All claims as text.


def claims(decisions: Sequence[Decision]) -> pd.DataFrame:
    """A row a claim: id, claim, measure, value, low, high, verdict, because, rule, runs, command.

    ``measure`` says what ``value`` is a number of, else what is to be measured; ``runs`` are those
    that the verdict rests on, ``command`` is what would produce what a verdict lacks. ``low`` to
    ``high`` is the 95 % interval.
    """
    columns = ["id", "claim", "measure", "value", "low", "high", "verdict", "because", "rule",
               "runs", "command"]  # fmt: skip
    rows = [
        vars(item.verdict)
        | {"id": item.claim.id, "claim": item.claim.says, "runs": item.runs}
        | {"measure": item.verdict.measure or item.claim.measure, "command": item.command}
        for item in decisions
    ]
    frame = pd.DataFrame(rows, columns=columns)
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


def render(decisions: Sequence[Decision], form: str) -> str:
    """The claims as text in one of `FORMATS` but ``rich``.

    Markdown has a table of ids, verdicts and numbers; below it why, by which rule, and what is
    lacking.
    """
    check_format(form, FORMATS)
    frame = claims(decisions)
    if form == "csv":
        return csv(frame)
    if form == "json":
        return json_text("claims", TITLE, frame, caption=list(CAPTION))
    rows, lines = frame.to_dict("records"), []
    for row in rows:
        lines.append(f"{row['id']}: {row['verdict']}: {row['because']}.")
        lines.append(f"Rule: {row['rule']}")
        lines += [f"Command: {row['command']}"] if row["command"] else []
    short = frame[["id", "claim", "verdict", "measure"]]
    short = short.assign(number=[number(row) for row in rows], runs=frame["runs"])
    return markdown(short, f"{TITLE}: {summary(decisions)}", [*lines, *CAPTION])


def print_claims(decisions: Sequence[Decision], console: Console) -> None:
    """Print every claim: id and verdict on the left; on the right claim, number, why, runs."""
    print_prose(console, f"{TITLE}. {summary(decisions)}", "bold")
    for row in claims(decisions).to_dict("records"):
        grid = Table.grid(padding=(0, GAP, 0, 0))
        grid.add_column(min_width=LEFT, max_width=LEFT)
        grid.add_column()
        left = Text(row["id"], style="bold")
        left.append(f"\n{row['verdict']}", style=f"not bold {VERDICTS[row['verdict']]}")
        value = number(row)
        lines = [
            Text(row["claim"], style="bold"),
            Text(f"{value}  {row['measure']}" if value else ""),
            Text(f"{row['because']}."),
            Text(row["runs"], style="dim"),
        ]
        grid.add_row(left, Group(*filter(None, lines)))
        console.print()
        console.print(Constrain(grid, MEASURE))
        if row["command"]:  # it is copied, so that only the terminal may break it
            console.print(f"{' ' * (LEFT + GAP)}{row['command']}", markup=False, soft_wrap=True)
    console.print()
    print_prose(console, CAPTION, "dim")
