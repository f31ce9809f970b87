"""The verdict on every claim from a results folder, and the table of all verdicts.

One experiment decides each claim, with the arms that come first in its sweep's file. A claim that
cannot be decided is "not measured", with the reason and the command that would measure it.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pandas as pd
from rich.console import Group
from rich.constrain import Constrain
from rich.text import Text

from ..claims.registry import CLAIMS, Claim, study_verdict, verdict_on
from ..claims.verdict import FLOOR_BLEU, Verdict, unlearned
from ..results.bundle import Results, load_probe
from ..results.folders import is_bundle, probe_file, results_inside, runs_in
from ..results.schema import BENCHMARK
from ..scoring.bootstrap import difference
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import UserError, counted
from ..settings.sweep import LONGER, load_sweep
from .comparison import (
    NONE,
    arms_of,
    common_seeds,
    compare,
    compare_sizes,
    declared,
    of_experiment,
    paired,
    pairs,
    rows_of,
    where,
)
from .page import Page
from .render import MEASURE


@dataclass(frozen=True)
class Decision:
    """A claim, its verdict, the runs behind it in words, and the folder with these runs."""

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
        """The command that would measure the claim; empty if there is a verdict."""
        if self.measured:
            return ""
        words = f"bottleneck {self.claim.makes or f'study {self.claim.study}'}"
        bundled = is_bundle(self.folder) and not runs_in(self.folder)
        if self.claim.own_runs or bundled or results_inside(self.folder):
            return words
        option = "--out" if self.claim.makes else "--results"
        return f"{words} {option} {shlex.quote(str(self.folder))}"


def decide_all(folder: Path, conditions: Sequence[str] = ()) -> list[Decision]:
    """Decide every claim by the runs of a folder that meet the conditions of `where`.

    Without conditions, results folders inside it decide the rest; the claim's home comes first.
    """
    bundle = Results.find(folder)
    bundle = bundle and where(bundle, conditions)
    inside, find = [] if conditions else results_inside(folder), cache(Results.find)
    decisions = []
    for claim in CLAIMS:
        decided = decide(claim, folder, bundle)
        homes = sorted(inside, key=lambda home: (home.name != claim.home, home.name))
        for home in [] if decided.measured else homes:
            other = decide(claim, home, find(home))
            if other.measured:
                decided = replace(other, runs=f"{home.name}: {other.runs}")
                break
        decisions.append(decided)
    return decisions


def decide(claim: Claim, folder: Path, bundle: Results | None) -> Decision:
    """Decide a claim by a folder's runs, if any: by its home experiment or the first that can."""
    tables = claim.study, f"{claim.study}-gold"  # the user's gold links decide C7, too
    table = next((name for name in tables if claim.study and probe_file(folder, name)), None)
    used = pd.DataFrame(columns=["run", "arm", "seed"])
    if table:
        frame = load_probe(folder, table)
        verdict, used = judge_study(claim, frame, None if bundle is None else bundle.runs)
    elif claim.study:
        verdict = study_verdict(claim, "there are no numbers yet")
    elif bundle is None:
        verdict = verdict_on(claim.id, reason="the folder holds no finished run")
    else:
        results = []
        names = bundle.runs["experiment"].unique()
        for name in sorted(names, key=lambda name: name != claim.home):
            try:
                results.append(by_experiment(claim.id, of_experiment(bundle, name)))
            except UserError as error:
                results.append((verdict_on(claim.id, reason=str(error)), used))
        verdict, used = min(results, key=lambda item: item[0].verdict == "not measured")
    if table == BENCHMARK:
        question = import_module("...questions.question", __name__).find_question(table)
        return Decision(claim, verdict, question.run_lines(used, question.over)[0], folder, bundle)
    used = used[used["run"] != ""].drop_duplicates("run")
    arms = [repr(arm) if "," in arm else arm for arm in used["arm"].unique()]
    seeds = sorted(set(used["seed"].dropna().astype(int)))
    texts = [*arms, f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"]
    runs = f"{counted(len(used), 'run')}: {', '.join(texts)}" if arms else ""
    return Decision(claim, verdict, runs, folder, bundle)


def by_experiment(claim: str, bundle: Results) -> tuple[Verdict, pd.DataFrame]:
    """The verdict and the runs behind it; a ``UserError`` says why there is none."""
    runs = declared(bundle)
    if claim == "C1":
        arms = [none for none, _ in compare_sizes(bundle, together=True)]
        cells = [bucket for arm in arms for bucket in arm.buckets]
        used = pd.concat([arm.runs for arm in arms])["run"]
        return verdict_on(claim, cells), runs[runs["run"].isin(used)]
    if claim == "L-FAIL":
        none, _ = compare(bundle, alone=True)
        return verdict_on(claim, rows_of(none)), none.runs
    compared = [pair for pair in pairs(runs) if pair[1]["attention"].iloc[0] != "uniform"]
    if not compared:
        raise UserError("no runs with and without attention that differ in nothing else")
    if claim == "C10":
        return _controlled(bundle, *compared[0])
    if claim == "C12":
        for none, attention in compared:
            longer = runs[runs["arm"] == f"{none['arm'].iloc[0]}, {LONGER}"]
            parts = common_seeds(none, longer, attention)
            if len(parts[0]):
                once, twice, attended = arms_of(bundle, *parts)
                return verdict_on(claim, rows_of(once, attended, twice)), pd.concat(parts)
        raise UserError("no arm without attention was trained twice as long")
    pair = paired(bundle, *compared[0])
    return verdict_on(claim, rows_of(*pair)), pd.concat(compared[0])


def _controlled(
    bundle: Results, none: pd.DataFrame, attention: pd.DataFrame
) -> tuple[Verdict, pd.DataFrame]:
    """The verdict on C10 in the longest filled bucket, and the runs behind it.

    A control is an arm that does not select. It is compared with attention on the same test
    sentences and common seeds. A variation is a group in which both arms have the same change.
    """
    runs, base = declared(bundle), none["arm"].iloc[0]
    (selecting,) = arms_of(bundle, attention)
    controls, variations, used = {}, {}, [none, attention]
    for arm, rows in runs.groupby("arm", sort=False):
        kind, name = rows["attention"].iloc[0], str(arm).partition(", ")[2]
        if arm == base:
            name = "no attention"
        elif kind == "uniform" and rows["baseline"].iloc[0] == base:
            name = "uniform weights"
        both = common_seeds(rows, attention)
        same_text = set(rows["corpus_fingerprint"]) == set(none["corpus_fingerprint"])
        if name and kind in UNSELECTIVE and same_text and len(both[0]):
            bleu, attended = (each.longest.bleu for each in arms_of(bundle, *both))
            controls[name if name not in controls else str(arm)] = bleu, attended
            used.append(both[0])
    for pair in pairs(runs):
        plain, varied = paired(bundle, *pair)
        group = varied.name.partition(", ")[2]
        if varied.attention == selecting.attention and group not in ("", LONGER):
            variations[group] = difference(varied.longest.bleu, plain.longest.bleu)
            used += pair
    verdict = verdict_on(
        "C10",
        selecting.longest,
        controls=controls,
        variations=variations,
        lacking=[
            group.name
            for group in load_sweep("controls").groups
            if group.name not in (*controls, *variations, group.settings.get("model.attention"))
        ],
    )
    return verdict, pd.concat(used).drop_duplicates("run")


def judge_study(
    claim: Claim, frame: pd.DataFrame, runs: pd.DataFrame | None
) -> tuple[Verdict, pd.DataFrame]:
    """The verdict on a claim from its study's table, and the rows behind it.

    ``runs`` is the tidy table of the chosen runs, None if there are none. A study's table of other
    runs decides nothing. A claim with ``own_runs`` reads all rows, any other claim one family.
    """
    chosen = set() if runs is None else set(runs.loc[(runs["arm"] != "") | claim.own_runs, "run"])
    missing = sorted(set(frame["run"]) - chosen - {""})
    if missing and not (claim.own_runs and runs is None):
        because = (
            f"probes/{claim.study}.csv has runs that were not chosen, were replaced by later "
            f"ones, or are missing ({', '.join(missing[:3])}{' ...' if missing[3:] else ''}): "
            f"measure again with `bottleneck study {claim.study}`, with the same --where"
        )
        return study_verdict(claim, because), frame[:0]
    if claim.own_runs:
        return study_verdict(claim, frame), frame
    runs = runs[runs["run"].isin(frame["run"])]
    runs = runs.sort_values("experiment", key=lambda names: names != claim.home, kind="stable")
    # Kinds of arms as claims name them: all attentions that can select are one kind.
    kinds = runs["attention"].where(runs["attention"].isin(UNSELECTIVE), "attention")
    bases = runs["baseline"].where(runs["baseline"] != "", runs["arm"])
    family = max(
        (rows for _, rows in runs.assign(kind=kinds).groupby(["experiment", bases], sort=False)),
        key=lambda rows: (
            rows["corpus"].isin(claim.corpora).any(),
            set(claim.arms) <= set(rows["kind"]),
        ),
    )
    # In a family, its attention is enough to name an arm, also in the note of a difference.
    names = frame[frame["run"].isin(family["run"])].set_index("arm")["attention"].to_dict()
    rows = frame[frame["arm"].isin(names)]
    rows = rows.assign(arm=rows["arm"].map(names), note=rows["note"].replace(names))
    low = {}
    for arm, scores in family.groupby("attention", sort=False) if claim.learned else ():
        # BLEU in the shortest filled bucket says whether an arm has learned to translate.
        filled = scores[scores["bleu"].notna()]
        bucket = "every bucket" if filled.empty else str(filled["bucket"].iloc[0])
        bleu = float(filled.loc[filled["bucket"] == bucket, "bleu"].mean())
        if not bleu >= FLOOR_BLEU:
            low[str(arm)] = bucket, bleu
    trained = family[~family["attention"].isin(low)]
    words = {NONE: "without attention", "attention": "with attention"}
    untrained = set(family["kind"]) - set(trained["kind"])
    lost = [words[kind] for kind in claim.arms if kind in untrained]
    if lost or trained.empty:
        bucket = next(bucket for bucket, _ in low.values())
        because = unlearned([*lost, "of every arm"][0], bucket)
        return study_verdict(claim, because), rows
    rows = rows[rows["attention"].isin(trained["attention"])]
    verdict = study_verdict(claim, rows)
    if low:
        named = ", ".join(f"{arm} ({bleu:.1f} in {bucket})" for arm, (bucket, bleu) in low.items())
        note = f"left out as not learned, BLEU under {FLOOR_BLEU:g}: {named}"
        verdict = replace(verdict, because=f"{verdict.because}; {note}")
    return verdict, rows


def claims_page(decisions: Sequence[Decision]) -> Page:
    """Every claim as a row; on a terminal id, verdict, claim, reason, number of runs, command."""
    colours = {"held": "green", "partly": "yellow", "not held": "red", "not measured": "dim"}
    verdicts = [item.verdict.verdict for item in decisions]
    parts = ", ".join(f"{verdicts.count(name)} {name}" for name in colours if name in verdicts)
    title, rows, texts = f"The lecture's {len(verdicts)} claims: {parts}", [], []
    bundles = [item.bundle for item in decisions if item.bundle]
    caption = [
        "The rules were written as code before the reference runs; --format csv prints them. "
        "Ranges are 95 % intervals over test sentences, unless a claim says otherwise. They are "
        "not corrected for the number of claims, buckets or controls.",
        *dict.fromkeys(f"{line}." for bundle in bundles for line in bundle.left_out()),
    ]
    for item in decisions:
        row = vars(item.verdict) | {"id": item.claim.id, "claim": item.claim.says}
        row |= {"runs": item.runs, "command": item.command}
        rows.append(row)
        text = Text(f"\n{item.claim.id} ", "bold")
        text.append(item.verdict.verdict, f"not bold {colours[item.verdict.verdict]}")
        because, ran = row["because"], ", ".join(item.runs.split(": ")[:-1])  # without the arms
        because = f"{because[:1].upper()}{because[1:]}{f' ({ran})' if ran else ''}."
        lines = [f"  {row['claim']}.", because, row["command"]]
        texts.append(text.append("\n".join(filter(None, lines)), "not bold"))
    columns = "id verdict value low high measure claim because rule runs command"
    frame = pd.DataFrame(rows, columns=columns.split())
    frame = frame.astype(dict.fromkeys(("value", "low", "high"), "float64"))
    table = Constrain(Group(Text(title, "bold"), *texts, ""), MEASURE)
    return Page("claims", title, frame, table, [], caption)
