"""Planted runs decide claims: each picks the runs it needs, and flips where they cross its rule.

Then the claims as text: rows, the terminal's blocks, Markdown, CSV, JSON.
"""

import io
import json
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
from seq2seq_bottleneck.scoring.bootstrap import difference
from seq2seq_bottleneck.settings.sweep import LONGER
from seq2seq_bottleneck.tables.claims import (
    Decision,
    decide_results,
    decision,
    judge,
    number,
    print_claims,
)
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.pages import study_page
from seq2seq_bottleneck.tables.run_tables import run_data
from seq2seq_bottleneck.tables.selection import where

BY_ID = {claim.id: claim for claim in CLAIMS}


def decided(folder, claim, conditions=()):
    """The decision on one claim."""
    whole = Results.open(folder)
    return decision(BY_ID[claim], folder, where(whole, conditions))


# The runs themselves decide.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uniform", "reversed_source", "verdict"),
    [(LOW, LOW, "held"), (HIGH, LOW, "partly"), (LOW, HIGH, "partly"), (HIGH, HIGH, "not held")],
)
def test_c10_flips_with_what_the_controls_translate(uniform, reversed_source, verdict, tmp_path):
    result = decided(with_controls(tmp_path, uniform, reversed_source).write(), "C10")
    assert result.verdict.verdict == verdict, result.verdict.because
    assert result.runs.startswith("4 runs: ")
    assert result.command == ""
    assert "not tried: bidirectional, zero s_0, as many parameters, twice" in result.verdict.because


@pytest.mark.slow
def test_c10_gain_is_the_difference_of_the_two_arms_tables(tmp_path):
    changed = {"group": "bidirectional", "model": {"bidirectional": True}}
    store = with_controls(tmp_path).add("better", "none", [0.1] * 5, **changed)
    result = decided(store.write(), "C10").verdict
    assert result.measure == "attention minus bidirectional, BLEU, 41+"
    bundle = Results.open(tmp_path)
    better = compare(where(bundle, ["run=betters1"]), alone=True).none.estimates[-1]
    attention = compare(where(bundle, ["run=nones1,additives1"])).attention.estimates[-1]
    gain = difference(attention, better)
    ends = gain.value, gain.interval.low, gain.interval.high
    assert (result.value, result.low, result.high) == pytest.approx(ends)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "concerns", "name"),
    [
        ("none", {"group": "wide", "model": {"hidden_size": 33}}, "wide"),
        ("none", {"group": LONGER, "training": {"updates": 20}}, LONGER),
        # Of no group, or tested on another text, it is no control.
        ("none", {"model": {"context_size": 16}}, ""),
        ("none", {"group": "joined", "corpus": {"joined": 2}, "fingerprint": "another"}, ""),
    ],
)
def test_c10_takes_the_controls_that_the_sweep_declares(arm, concerns, name, tmp_path):
    result = decided(with_controls(tmp_path).add("new", arm, HIGH, **concerns).write(), "C10")
    assert result.verdict.verdict == ("partly" if name else "held")
    assert f"the best control, {name}" in result.verdict.because
    assert result.runs.startswith("5 runs:" if name else "4 runs:")


def test_c10_compares_attention_with_none_in_a_changed_group_too(tmp_path):
    changed = {"group": "reversed source", "model": {"reverse_source": True}}
    store = with_controls(tmp_path).add("bothways", "additive", LOW, **changed)
    verdict = decided(store.write(), "C10").verdict
    head = "attention minus none if both arms have the same change: reversed source"
    assert (verdict.verdict, head in verdict.because) == ("partly", True)


@pytest.mark.slow
def test_c12_flips_with_what_twice_the_training_adds(tmp_path):
    verdicts = {}
    for name, shares in {"same": LOW, "some": [*LOW[:4], 0.6], "much": [*LOW[:4], 0.4]}.items():
        store = Store(tmp_path / name).add("none", "none", LOW).add("additive", "additive", HIGH)
        store.add("none", "none", HIGH, 2)  # a seed of none alone counts in neither
        store.add("none-long", "none", shares, group=LONGER, training={"updates": 20})
        result = decided(store.write(), "C12")
        verdicts[name] = result.verdict.verdict
        assert result.runs == "3 runs: none, 'none, twice the training', additive, seed 1"
    assert verdicts == {"same": "not held", "some": "partly", "much": "held"}


@pytest.mark.slow
def test_c1_reads_the_arms_that_differ_from_the_first_in_context_alone(tmp_path):
    store, widths = Store(tmp_path), {"hidden_size": 64, "attention_size": 32}
    for size in (16, 32, 64):
        store.add(f"apart{size}", "none", LOW, model=widths | {"context_size": size})
    store.add("other", "none", LOW, model=widths | {"context_size": 8, "cell": "rnn"})
    result = decided(store.write(), "C1")
    assert result.runs.startswith("3 runs: none cell=gru context_size=16, ")
    assert "of 3 context sizes" in result.verdict.because


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
    turned = decided(folder, "L-VIND", ["reverse_source=true", "attention=none,additive"])
    assert turned.verdict.verdict == "not held"


@pytest.mark.slow
def test_of_several_experiments_the_claims_own_decides_or_the_first_that_can(tmp_path):
    folder = with_controls(tmp_path).write()
    pair = {"nones1": ["none", ""], "uniforms1": ["uniform", "none"]}
    more = {"additives1": ["additive", "none"], "reverseds1": ["none, reversed source", ""]}
    experiments = {"pair": pair, "controls": pair | more}
    write_relisted(folder / "experiments.json", json.dumps(experiments))
    result = {item.claim.id: item for item in decide_results(folder)}
    assert result["C10"].verdict.verdict == "held"
    assert result["L-FAIL"].runs == "1 run: none, seed 1"
    assert result["L-VIND"].runs == "2 runs: none, additive, seed 1"


@pytest.mark.slow
def test_without_attention_the_failure_pattern_alone_is_decided(tmp_path):
    folder = Store(tmp_path).add("none", "none", LOW).write()
    assert decided(folder, "L-FAIL").verdict.verdict == "held"
    for claim in ("L-VIND", "C1", "C10", "C12"):
        result = decided(folder, claim)
        assert result.verdict.verdict == "not measured"
        assert result.command.startswith("bottleneck ")
        assert result.command.endswith(f" --out {tmp_path}")


# What is to be run, and in which folder.


def test_a_folder_without_runs_is_not_refused_and_names_what_to_run(tmp_path):
    decisions = decide_results(tmp_path)
    assert not any(item.measured for item in decisions)
    commands = {item.claim.id: item.command.removesuffix(f" {tmp_path}") for item in decisions}
    assert {name: commands[name] for name in ("L-VIND", "C1", "C9", "C12", "C13")} == {
        "L-VIND": "bottleneck reproduce --out",
        "C1": "bottleneck sweep context_size --out",
        "C9": "bottleneck bench --out",
        "C12": "bottleneck reproduce --check-schedule --out",
        "C13": "bottleneck study embeddings --results",
    }


@pytest.mark.slow
def test_what_a_folder_does_not_decide_a_results_folder_inside_it_does(tmp_path):
    """A study of many sweeps: its own pair, and each sweep in a folder of its own."""
    Store(tmp_path).add("none", "none", LOW).add("additive", "additive", HIGH).write()
    with_controls(tmp_path / "controls", LOW, LOW).write()
    with_controls(tmp_path / "later", HIGH, HIGH).write()
    write_sizes(tmp_path / "sizes", {(size, "none"): LOW for size in (32, 64)})
    (tmp_path / "empty").mkdir()
    result = {item.claim.id: item for item in decide_results(tmp_path)}
    alone = decided(tmp_path / "controls", "C10")
    assert result["C10"].verdict == alone.verdict
    assert result["C10"].runs == f"controls: {alone.runs}"
    assert result["C1"].folder == tmp_path / "sizes"
    assert result["L-VIND"].folder == tmp_path
    assert result["L-VIND"].runs == "2 runs: none, additive, seed 1"
    assert (result["C2"].measured, result["C2"].folder) == (False, tmp_path)
    assert result["C2"].command == "bottleneck study capacity"
    # The folder of the claim's sweep says why it does not decide.
    assert (result["C12"].measured, result["C12"].folder) == (False, tmp_path / "controls")
    # Conditions choose among the folder's own runs.
    chosen = {item.claim.id: item for item in decide_results(tmp_path, ["seed=1"])}
    assert not chosen["C10"].measured


# Which arms of a study's table its claim is judged on: one group's, and of these what has learned.

LEARNED = [claim for claim in CLAIMS if claim.learned]
BOTH = {"nones1": ("none", 1.0), "additives1": ("additive", 1.0)}
GOOD, BAD, NOTHING = 1.0, 2.0, [1.0] * 5


def lengths(ratios):
    """A table of the study ``length``: by run, its arm, attention, and ratio in two buckets."""
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


def with_table(folder, table, study="length"):
    """The folder, with the numbers of a study."""
    write_relisted(folder / "probes" / f"{study}.csv", table.to_csv(index=False))
    return folder


def runs_of(folder, **arms):
    """The tidy table of a store with one run per arm: its attention, shares lost, and changes."""
    store = Store(folder)
    for name, (attention, shares, changed) in arms.items():
        store.add(name, attention, shares, **changed)
    return Results.open(store.write(), sentences=False).runs


@pytest.fixture
def two(tmp_path):
    """Runs of both arms, which have learned."""
    return runs_of(tmp_path, none=("none", LOW, {}), additive=("additive", HIGH, {}))


def scored(runs, attention, shortest, others=0.0):
    """The runs, of which one arm has these scores in the shortest bucket and in the others."""
    chosen, short = runs["attention"] == attention, runs["bucket"] == "5-10"
    bleu = runs["bleu"].mask(chosen & short, shortest).mask(chosen & ~short, others)
    return runs.assign(bleu=bleu)


def judged(claim, frame, runs):
    """The verdict, and the runs of the rows that it rests on."""
    verdict, rows = judge(BY_ID[claim], frame, runs)
    return verdict, set(rows["run"]) - {""}


def test_a_studys_table_decides_its_claim_where_its_runs_are_chosen(tmp_path):
    folder = Store(tmp_path).add("additive", "additive", HIGH).add("a", "additive", LOW, 2).write()
    lacking = decided(folder, "C11")
    assert lacking.command == f"bottleneck study length --results {tmp_path}"
    with_table(folder, lengths({"additives1": ("additive", 1.09)}))
    result = decided(folder, "C11")
    assert (result.verdict.verdict, result.verdict.value) == ("held", 1.09)
    assert (result.runs, result.command) == ("1 run: additive, seed 1", "")
    assert study_page("length", folder).judged == [result.verdict]
    with_table(folder, lengths({"additives1": ("additive", 1.11)}))
    assert decided(folder, "C11", ["seed=1"]).verdict.verdict == "not held"
    other = decided(folder, "C11", ["seed=2"]).verdict
    assert other.verdict == "not measured"
    assert "rests on runs that were not chosen, were replaced by later" in other.because
    assert "(additives1)" in other.because


def test_c7_is_decided_by_the_users_gold_links_where_there_are_no_others(tmp_path):
    folder = Store(tmp_path).add("own", "additive", LOW, corpus={"name": "files"}).write()
    values = {("aer", ""): 0.3, ("aer", "diagonal"): 0.6, ("aer", "ibm1"): 0.4,
              ("aer_gap", "diagonal"): 0.3, ("aer_gap", "ibm1"): 0.1}  # fmt: skip
    rows = [
        {"arm": "additive", "attention": "additive", "measure": measure, "control": control}
        | {"value": value, "low": value - 0.05, "high": value + 0.05, "n": 300}
        for (measure, control), value in values.items()
    ]
    rows.append(rows[0] | {"run": "owns1", "seed": 1})
    frame = pd.DataFrame(rows, columns=list(PROBE_COLUMNS)).astype({"seed": "Int64"})
    result = decided(with_table(folder, frame, "alignment_gold"), "C7")
    assert (result.verdict.verdict, result.verdict.value) == ("held", 0.3)
    assert result.runs == "1 run: additive, seed 1"


@pytest.mark.parametrize(
    ("shortest", "others", "verdict"),
    [
        (50.0, 7.0, "held"),  # as the lecture's arm without attention
        (5.0, 0.0, "held"),
        (4.99, 90.0, "is under 5 in 5-10"),
        (float("nan"), 4.0, "is under 5 in 11-20"),  # the first bucket with sentences
        (float("nan"), 6.0, "held"),
    ],
)
def test_the_shortest_buckets_bleu_decides_whether_there_is_a_verdict(
    two, shortest, others, verdict
):
    result, _ = judged("C11", lengths(BOTH), scored(two, "additive", shortest, others))
    if verdict == "held":
        assert (result.verdict, result.value) == ("held", GOOD)
    else:
        assert (result.verdict, result.value) == ("not measured", None)
        assert result.because == (
            f"BLEU with attention {verdict}: nothing has been learned to judge"
        )


NONE = dict.fromkeys(("C4", "C8", "C14"), "without attention")
ATTENTION = dict.fromkeys(("C7", "C8", "C11"), "with attention")


@pytest.mark.parametrize("claim", LEARNED, ids=lambda claim: claim.id)
@pytest.mark.parametrize(
    ("low", "without"),
    [
        (["none"], NONE),
        (["additive"], ATTENTION),
        (["none", "additive"], ATTENTION | NONE | {"C13": "of every arm"}),
        ([], {}),
    ],
)
def test_each_claim_needs_its_arms_to_have_learned(claim, low, without, two):
    for arm in low:
        two = scored(two, arm, 0.2)
    because = judged(claim.id, lengths(BOTH), two)[0].because
    reason = f"BLEU {without.get(claim.id)} is under 5 in 5-10: nothing has been learned to judge"
    assert (reason in because) == (claim.id in without)
    names = ", ".join(f"{arm} (0.2 in 5-10)" for arm in sorted(low, reverse=True))
    named = f"left out as not learned, BLEU under 5: {names}"
    assert (named in because) == bool(low and claim.id not in without)


def test_an_arm_of_another_family_does_not_count(tmp_path):
    runs = runs_of(
        tmp_path,
        none=("none", LOW, {}), additive=("additive", HIGH, {}),
        reversed=("additive", HIGH, {"group": "r", "model": {"reverse_source": True}}),
        longer=("additive", HIGH, {"group": LONGER, "training": {"updates": 20}}),
    )  # fmt: skip
    first = {"nones1": ("none", GOOD), "additives1": ("additive reverse_source=false", GOOD)}
    others = {"reverseds1": ("additive reverse_source=true", BAD),
              "longers1": ("additive updates=20", BAD)}  # fmt: skip
    verdict, rows = judged("C11", lengths(first | others), runs)
    assert verdict.verdict == "held"
    assert verdict.because.endswith("; not judged: 2 arms of other settings")
    assert "additive handles 2 of 2" in verdict.because  # the attention says which it is
    assert rows == {"nones1", "additives1"}
    # A later family is judged where the first is not there.
    assert judged("C11", lengths(others), runs)[0].verdict == "not held"
    swapped = first | {"additives1": ("additive reverse_source=false", BAD)}
    assert judged("C11", lengths(swapped | others), runs)[0].verdict == "not held"
    _, rows = judge(BY_ID["C8"], lengths(first).assign(note="none"), runs)
    assert set(rows["arm"]) == {"none", "additive"}
    assert set(rows["note"]) == {"none"}


def test_the_first_family_with_the_claims_arms_and_a_text_that_knows_is_taken(tmp_path):
    copied = {"corpus": {"name": "copy"}, "group": "copy", "fingerprint": "other"}
    runs = runs_of(
        tmp_path,
        short=("none", LOW, {"group": "short", "training": {"updates": 5}}),
        copy=("none", LOW, copied), none=("none", LOW, {}), additive=("additive", HIGH, {}),
    )  # fmt: skip
    table = lengths(BOTH | {"shorts1": ("none updates=5", GOOD)})
    assert judged("C4", table, runs)[1] == {"shorts1"}
    assert judged("C8", table, runs)[1] == {"nones1", "additives1"}
    table = lengths({"copys1": ("none corpus=copy", GOOD), "nones1": ("none", GOOD)})
    assert judged("C3", table, runs)[1] == {"nones1"}
    assert judged("C4", table, runs)[1] == {"copys1"}


def test_without_the_runs_or_their_scores_nothing_is_judged(two):
    for runs in (None, two[two["run"] == "another"]):
        verdict, _ = judged("C11", lengths(BOTH), runs)
        assert verdict.verdict == "not measured"
        assert "or are not there (additives1, nones1)" in verdict.because


def test_runs_that_no_sweep_declared_are_to_be_declared(two):
    undeclared = two.assign(experiment="", arm="", baseline="")
    verdict, rows = judged("C11", lengths(BOTH), undeclared)
    assert (verdict.verdict, rows) == ("not measured", set())
    assert "rests on runs of no experiment: run the command that trained them" in verdict.because


# The claims as text.

HERE = Path("here")
RULE = "Held if the number lies above 0; else not held."
COMMAND = "bottleneck sweep controls --out a/folder/with/a/name/so/long/that/no/terminal/has/it"


@pytest.fixture
def decisions():
    known = {claim.id: claim for claim in CLAIMS}
    held = Verdict("L-VIND-largest", "held", RULE, "the | gain is so", "gain", 45.71, 41.0, 50.13)
    alone = Verdict("C4", "not held", RULE, "one number", "dimensions", 0.5)
    lacking = Verdict("C10", "not measured", RULE, "nothing was trained")
    return [
        Decision(known["L-VIND-largest"], held, "2 runs: none, additive, seed 1", "", HERE),
        Decision(known["C4"], alone, "1 run: none, seed 1", "", HERE),
        Decision(known["C10"], lacking, "", COMMAND, HERE),
    ]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ((45.71, 41.0, 50.13), "45.7 [41.0, 50.1]"),
        ((0.985, 0.91, 1.034), "0.98 [0.91, 1.03]"),
        ((0.012, 0.001, 0.03), "0.0120 [0.0010, 0.0300]"),
        ((-0.5, float("nan"), float("nan")), "-0.50"),
        ((float("nan"),) * 3, ""),
    ],
)
def test_a_number_has_the_digits_that_it_needs(row, shown):
    assert number(dict(zip(("value", "low", "high"), row, strict=True))) == shown


def test_the_terminal_shows_all_in_eighty_columns_and_breaks_no_command(decisions):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_claims(decisions, console)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "The lecture's claims. 3 claims: 1 held, 1 not held, 1 not measured"
    assert all(len(line) <= 80 or COMMAND in line for line in lines)
    text = " ".join(" ".join(lines).split())
    for part in ("L-VIND-largest", "45.7 [41.0, 50.1] gain", "the | gain is so.", COMMAND):
        assert part in text
    assert f"{' ' * 16}{COMMAND}" in lines
    assert "…" not in text
