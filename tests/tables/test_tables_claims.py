"""Planted runs decide claims: each chooses the runs it needs, and flips at its rule's threshold."""

import io
from pathlib import Path

import pandas as pd
import pytest
from listed import write_relisted
from planted import write_sizes
from planted_arms import HIGH, LOW, Store, with_controls
from rich.console import Console

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.claims.verdict import Verdict
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.sweep import LONGER
from seq2seq_bottleneck.tables.claims import (
    Decision,
    claims_page,
    decide,
    decide_all,
    judge_study,
)
from seq2seq_bottleneck.tables.comparison import compare, where
from seq2seq_bottleneck.tables.pages import run_data

BY_ID = {claim.id: claim for claim in CLAIMS}


def decided(folder, claim, conditions=()):
    """The decision on one claim."""
    whole = Results.open(folder)
    return decide(BY_ID[claim], folder, where(whole, conditions))


# The runs themselves decide.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uniform", "reversed_source", "verdict"),
    [(LOW, LOW, "held"), (LOW, HIGH, "partly"), (HIGH, HIGH, "not held")],
)
def test_c10_flips_with_what_the_controls_translate(uniform, reversed_source, verdict, tmp_path):
    result = decided(with_controls(tmp_path, uniform, reversed_source).write(), "C10")
    assert result.verdict.verdict == verdict, result.verdict.because
    assert result.runs.startswith("4 runs: ")


def test_c10_reads_every_arm_of_a_group(tmp_path):
    """A control that translates as well as attention is not hidden by a later one of its group."""
    store = with_controls(tmp_path)
    for width, shares in ((10, HIGH), (11, LOW)):
        changed = {"model": {"hidden_size": width}}
        store.add(f"wide{width}", "none", shares, group="as many parameters", **changed)
    result = decided(store.write(), "C10").verdict
    assert result.verdict == "partly", result.because


@pytest.mark.slow
def test_c12_flips_with_what_twice_the_training_adds(tmp_path):
    verdicts = {}
    for name, shares in {"same": LOW, "some": [*LOW[:4], 0.6], "much": [*LOW[:4], 0.4]}.items():
        store = Store(tmp_path / name).add("none", "none", LOW).add("additive", "additive", HIGH)
        store.add("none", "none", HIGH, 2)  # a seed that only none has does not count
        store.add("none-long", "none", shares, group=LONGER, training={"updates": 20})
        result = decided(store.write(), "C12")
        verdicts[name] = result.verdict.verdict
        assert result.runs == "3 runs: none, 'none, twice the training', additive, seed 1"
    assert verdicts == {"same": "not held", "some": "partly", "much": "held"}


@pytest.mark.slow
def test_the_tables_verdicts_are_those_of_the_first_pair(tmp_path):
    store = Store(tmp_path)
    for arm, shares in {"none": LOW, "additive": HIGH, "dot": LOW}.items():
        store.add(arm, arm, shares).add(f"{arm}only", arm, shares, 9)
        store.add(f"{arm}rev", arm, LOW, group="reversed", model={"reverse_source": True})
    folder = store.write()
    pair = where(Results.open(folder), ["arm=none,additive"])
    gain = run_data("vindication", [compare(pair)]).iloc[-1]
    result = decided(folder, "L-VIND")
    assert result.runs == "4 runs: none, additive, seeds 1, 9"
    ends = (result.verdict.value, result.verdict.low, result.verdict.high)
    assert ends == pytest.approx(tuple(gain[["gain", "gain_low", "gain_high"]]))
    assert decided(folder, "L-FAIL").runs == "2 runs: none, seeds 1, 9"


# Which command to run, and in which folder.


def test_a_folder_without_runs_is_not_refused_and_names_what_to_run(tmp_path):
    decisions = decide_all(tmp_path)
    assert not any(item.measured for item in decisions)
    commands = {item.claim.id: item.command for item in decisions}
    assert commands["L-VIND"] == f"bottleneck reproduce --out {tmp_path}"
    assert commands["C1"] == f"bottleneck sweep context_size --out {tmp_path}"
    assert commands["C13"] == f"bottleneck study embeddings --results {tmp_path}"


@pytest.mark.slow
def test_what_a_folder_does_not_decide_a_results_folder_inside_it_does(tmp_path):
    """A results folder with its own pair of arms, and each sweep in a folder inside it."""
    Store(tmp_path).add("none", "none", LOW).add("additive", "additive", HIGH).write()
    with_controls(tmp_path / "controls", LOW, LOW).write()
    with_controls(tmp_path / "later", HIGH, HIGH).write()
    write_sizes(tmp_path / "sizes", {(size, "none"): LOW for size in (32, 64)})
    (tmp_path / "empty").mkdir()
    result = {item.claim.id: item for item in decide_all(tmp_path)}
    alone = decided(tmp_path / "controls", "C10")
    assert result["C10"].verdict == alone.verdict
    assert result["C10"].runs == f"controls: {alone.runs}"
    assert result["C1"].folder == tmp_path / "sizes"
    assert result["L-VIND"].folder == tmp_path
    assert result["L-VIND"].runs == "2 runs: none, additive, seed 1"
    assert (result["C2"].measured, result["C2"].folder) == (False, tmp_path)


# Which arms of a study's table decide its claim: those of one family that have learned.

BOTH = {"nones1": ("none", 1.0), "additives1": ("additive", 1.0)}


def lengths(ratios):
    """A table of the study ``length``: each run's arm, attention, and ratio in two buckets."""
    rows = []
    for run, (arm, ratio) in ratios.items():
        measures = {"length_ratio": ratio, "empty": 0.0, "unfinished": 0.0, "repeating": 0.0}
        for bucket in ("5-10", "11-20"):
            for measure, value in (measures | {"repeating_references": 0.0}).items():
                row = {"arm": arm, "attention": arm.split()[0], "corpus": "grammar"}
                row |= dict.fromkeys(("run", "control", "note"), "")
                row |= {"context_size": 32, "updates": 10, "bucket": bucket, "part": ""}
                row |= {"measure": measure, "value": value, "low": value, "high": value, "n": 200}
                rows += [row, row | {"run": run, "seed": 1}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS)).astype({"seed": "Int64"})


def runs_of(folder, **arms):
    """The tidy table of a store with one run per arm: attention, shares lost, changes."""
    store = Store(folder)
    for name, (attention, shares, changed) in arms.items():
        store.add(name, attention, shares, **changed)
    return Results.open(store.write(), sentences=False).runs


def judged(claim, frame, runs):
    """The verdict, and the runs of the rows behind it."""
    verdict, rows = judge_study(BY_ID[claim], frame, runs)
    return verdict, set(rows["run"]) - {""}


def test_a_studys_table_decides_its_claim_where_its_runs_are_chosen(tmp_path):
    folder = Store(tmp_path).add("additive", "additive", HIGH).add("a", "additive", LOW, 2).write()
    lacking = decided(folder, "C11")
    assert lacking.command == f"bottleneck study length --results {tmp_path}"
    table = folder / "probes" / "length.csv"
    write_relisted(table, lengths({"additives1": ("additive", 1.09)}).to_csv(index=False))
    result = decided(folder, "C11")
    assert (result.verdict.verdict, result.verdict.value) == ("held", 1.09)
    assert (result.runs, result.command) == ("1 run: additive, seed 1", "")
    write_relisted(table, lengths({"additives1": ("additive", 1.11)}).to_csv(index=False))
    assert decided(folder, "C11", ["seed=1"]).verdict.verdict == "not held"
    other = decided(folder, "C11", ["seed=2"]).verdict
    assert other.verdict == "not measured"
    assert "(additives1)" in other.because


@pytest.mark.parametrize(
    ("shortest", "others", "verdict"),
    [(5.0, 0.0, "held"), (4.99, 90.0, "not measured"), (float("nan"), 4.0, "not measured")],
)
def test_the_shortest_filled_buckets_bleu_decides_whether_there_is_a_verdict(
    shortest, others, verdict, tmp_path
):
    runs = runs_of(tmp_path, none=("none", LOW, {}), additive=("additive", HIGH, {}))
    chosen, short = runs["attention"] == "additive", runs["bucket"] == "5-10"
    bleu = runs["bleu"].mask(chosen & short, shortest).mask(chosen & ~short, others)
    result, _ = judged("C11", lengths(BOTH), runs.assign(bleu=bleu))
    assert result.verdict == verdict
    assert ("BLEU with attention is under 5 in" in result.because) == (verdict != "held")


def test_the_first_family_with_the_claims_arms_on_a_suitable_corpus_is_taken(tmp_path):
    copied = {"corpus": {"name": "copy"}, "group": "copy", "fingerprint": "other"}
    runs = runs_of(
        tmp_path,
        short=("none", LOW, {"group": "short", "training": {"updates": 5}}),
        copy=("none", LOW, copied), none=("none", LOW, {}), additive=("additive", HIGH, {}),
    )  # fmt: skip
    table = lengths(BOTH | {"shorts1": ("none updates=5", 1.0)})
    assert judged("C4", table, runs)[1] == {"shorts1"}
    assert judged("C8", table, runs)[1] == {"nones1", "additives1"}
    table = lengths({"copys1": ("none corpus=copy", 1.0), "nones1": ("none", 1.0)})
    assert judged("C3", table, runs)[1] == {"nones1"}
    assert judged("C4", table, runs)[1] == {"copys1"}


RULE = "Held if the number lies above 0; else not held."


def test_the_terminal_shows_each_claim_in_eighty_columns():
    known = {claim.id: claim for claim in CLAIMS}
    result = Verdict("L-VIND-largest", "held", RULE, "the | gain is so", "gain", 45.71, 41.0, 50.13)
    lacking = Verdict("C10", "not measured", RULE, "nothing was trained")
    decisions = [
        Decision(known["L-VIND-largest"], result, "2 runs: none, additive, seed 1", Path()),
        Decision(known["C10"], lacking, "", Path()),
    ]
    console = Console(file=io.StringIO(), width=80, highlight=False)
    claims_page(decisions).print(console)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "The lecture's 2 claims: 1 held, 1 not measured"
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    for part in ("L-VIND-largest", "The | gain is so (2 runs).", "sweep controls"):
        assert part in text
