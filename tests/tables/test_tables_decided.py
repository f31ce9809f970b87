"""Planted runs decide claims: each picks the runs it needs, and flips where they cross its rule."""

import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from planted import write_sizes
from planted_arms import HIGH, LOW, Store, with_controls

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.results.bundle import load_bundle, setting_columns
from seq2seq_bottleneck.results.discovery import results_inside
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.sweep import load_sweep, make_grid
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.comparison_groups import first, pairs
from seq2seq_bottleneck.tables.controlled import EXPECTED, control_names, variation_names
from seq2seq_bottleneck.tables.decided import _named, decide_results, decision
from seq2seq_bottleneck.tables.pages import study_pages
from seq2seq_bottleneck.tables.selection import where
from seq2seq_bottleneck.tables.slides import vindication


def decided(folder, claim, conditions=()):
    """The decision on one claim."""
    asked = next(one for one in CLAIMS if one.id == claim)
    whole = load_bundle(folder)
    chosen = where(whole, conditions)
    left_out = set(whole.runs["run"]) - set(chosen.runs["run"])
    return decision(asked, folder, chosen, left_out)


def test_the_claims_are_the_two_tables_and_c1_to_c14_in_order():
    tables = ["L-FAIL", "L-VIND", "L-VIND-short", "L-VIND-rising", "L-VIND-largest"]
    assert [claim.id for claim in CLAIMS] == [*tables, *(f"C{n}" for n in range(1, 15))]
    assert all(claim.study or claim.makes for claim in CLAIMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uniform", "reversed_source", "verdict"),
    [(LOW, LOW, "held"), (HIGH, LOW, "partly"), (LOW, HIGH, "partly"), (HIGH, HIGH, "not held")],
)
def test_c10_flips_with_what_the_controls_translate(uniform, reversed_source, verdict, tmp_path):
    found = decided(with_controls(tmp_path, uniform, reversed_source).write(), "C10")
    assert found.verdict.verdict == verdict, found.verdict.because
    assert found.runs == "4 runs: none, additive, none reverse_source=true, uniform, seed 1"
    assert found.command == ""


@pytest.mark.slow
def test_c10_gain_is_the_difference_of_the_two_arms_tables(tmp_path):
    folder = with_controls(tmp_path).add("better", "none", [0.1] * 5, 1,
                                         model={"bidirectional": True}).write()  # fmt: skip
    found = decided(folder, "C10").verdict
    # Paired with attention's own seed 1, as a table of these two runs alone has it.
    two = where(load_bundle(folder), ["run=betters1,additives1", "bidirectional=true,false"])
    gain = vindication(compare(two)).iloc[-1]
    assert found.measure == "attention minus encoder bidirectional, BLEU, 41+"
    np.testing.assert_allclose([found.value, found.low, found.high],
                               gain[["gain", "gain_low", "gain_high"]].tolist())  # fmt: skip


@pytest.mark.slow
def test_c10_takes_no_control_that_differs_in_more_than_is_named(tmp_path):
    store = with_controls(tmp_path)
    two = {"reverse_source": True, "bidirectional": True}
    store.add("two", "none", HIGH, model=two)
    store.add("wide", "none", HIGH, model={"hidden_size": 33}, parameters=1299)
    store.add("other", "none", HIGH, fingerprint="another", training={"learning_rate": 0.5})
    store.add("small", "none", HIGH, model={"context_size": 16})
    store.add("thrice", "none", HIGH, training={"updates": 30})
    store.add("text", "uniform", HIGH, fingerprint="another")
    found = decided(store.write(), "C10")
    assert found.verdict.verdict == "held"
    assert found.runs.startswith("4 runs:")
    told = "not tried: as many parameters, a larger context, encoder bidirectional, decoder started"
    assert told in found.verdict.because


@pytest.mark.slow
@pytest.mark.parametrize(
    ("concerns", "name"),
    [
        ({"model": {"hidden_size": 33}, "parameters": 1300}, "as many parameters"),
        ({"model": {"context_size": 64}}, "a larger context (64)"),
        ({"model": {"initial_state": "zero"}}, "decoder started from zero"),
        ({"training": {"updates": 20}}, "twice the training"),
    ],
)
def test_c10_knows_each_control_by_its_settings(concerns, name, tmp_path):
    found = decided(with_controls(tmp_path).add("new", "none", HIGH, **concerns).write(), "C10")
    assert found.verdict.verdict == "partly"
    assert f"the best control, {name}" in found.verdict.because


def test_c10_holds_attention_against_none_in_a_variation_too(tmp_path):
    store = with_controls(tmp_path)
    store.add("bothways", "additive", LOW, model={"reverse_source": True})
    found = decided(store.write(), "C10").verdict
    assert found.verdict == "partly"
    assert (
        "attention minus none if both arms have the same change: source reversed" in found.because
    )


@pytest.mark.slow
def test_c12_flips_with_what_twice_the_training_adds(tmp_path):
    verdicts = {}
    for name, shares in {"same": LOW, "some": [*LOW[:4], 0.6], "much": [*LOW[:4], 0.4]}.items():
        store = Store(tmp_path / name).add("none", "none", LOW).add("additive", "additive", HIGH)
        store.add("none", "none", HIGH, 2)  # a seed of none alone counts in neither
        store.add("none-long", "none", shares, training={"updates": 20})
        found = decided(store.write(), "C12")
        verdicts[name] = found.verdict.verdict
        assert found.runs == "3 runs: none, none updates=20, additive, seed 1"
    assert verdicts == {"same": "not held", "some": "partly", "much": "held"}


def test_c12_tells_of_training_on_shorter_sentences(tmp_path):
    store = Store(tmp_path).add("none", "none", LOW).add("additive", "additive", HIGH)
    store.add("long", "none", LOW, training={"updates": 20})
    assert "trained on at most" not in decided(store.write(), "C12").verdict.because
    shorter = {"corpus": {"train_max_words": 10}, "fingerprint": "shortened"}
    store.add("short", "none", [0.95] * 5, **shorter)
    because = decided(store.write(), "C12").verdict.because
    assert "BLEU in 41+ where trained on at most: additive 60 words" in because
    assert "none 10 words" in because


@pytest.mark.slow
def test_c1_flips_with_the_order_of_the_cells_and_takes_one_family(tmp_path):
    falling = {(32, "none"): LOW, (64, "none"): [0, 0.1, 0.3, 0.45, 0.55]}
    rising = {key: shares[::-1] for key, shares in falling.items()}
    write_sizes(tmp_path / "falling", falling)
    write_sizes(tmp_path / "rising", rising)
    found = decided(tmp_path / "falling", "C1")
    assert found.verdict.verdict != "not held"
    assert found.verdict.value < -0.8
    assert found.runs == "2 runs: none context_size=32, none context_size=64, seed 1"
    assert decided(tmp_path / "rising", "C1").verdict.verdict == "not held"


@pytest.mark.slow
def test_c1_prefers_context_alone_to_the_whole_network(tmp_path):
    store = Store(tmp_path)
    for size in (16, 32, 64):
        store.add(f"grown{size}", "none", LOW, model={"context_size": size})
        store.add(f"apart{size}", "none", LOW, model={"context_size": size, "hidden_size": 64,
                                                      "attention_size": 32})  # fmt: skip
    found = decided(store.write(), "C1")
    assert found.runs.startswith("3 runs: none context_size=16,")
    assert "of 3 context sizes" in found.verdict.because
    seen = decided(tmp_path, "C1", ["hidden_size=64"])
    assert (seen.verdict, seen.runs) == (found.verdict, found.runs)


@pytest.mark.slow
def test_the_tables_verdicts_are_those_of_the_runs_nearest_the_lecture(tmp_path):
    store = with_controls(tmp_path)
    for arm, shares in {"none": HIGH, "additive": LOW, "dot": HIGH}.items():
        store.add(f"{arm}rev", arm, shares, 3, model={"reverse_source": True})
        store.add(f"{arm}only", arm, shares, 9)  # further seeds
    folder = store.write()
    gain = vindication(compare(where(load_bundle(folder), [
        "attention=none,additive", "reverse_source=false", "seed=1,9",
    ]))).iloc[-1]  # fmt: skip
    found = decided(folder, "L-VIND")
    assert found.runs == "4 runs: none, additive, seed 1, 9"
    assert found.verdict.value == pytest.approx(gain["gain"])
    assert found.verdict.low == pytest.approx(gain["gain_low"])
    assert decided(folder, "L-FAIL").runs == "2 runs: none, seed 1, 9"
    turned = decided(folder, "L-VIND", ["reverse_source=true", "seed=3"])
    assert turned.verdict.verdict == "not held"


@pytest.mark.slow
def test_without_attention_the_failure_pattern_alone_is_decided(tmp_path):
    folder = Store(tmp_path).add("none", "none", LOW).write()
    assert decided(folder, "L-FAIL").verdict.verdict == "held"
    for claim in ("L-VIND", "C1", "C10", "C12"):
        found = decided(folder, claim)
        assert found.verdict.verdict == "not measured"
        assert found.command.startswith("bottleneck ")
        assert found.command.endswith(f" --out {tmp_path}")


def length_table(folder, ratio, run):
    """A table of the study ``length`` with this ratio in both buckets."""
    measures = {"length_ratio": ratio, "empty": 0.0, "unfinished": 0.0, "repeating": 0.0}
    rows = [
        {"arm": "additive", "attention": "additive", "bucket": bucket, "measure": measure}
        | {"value": value, "low": value, "high": value, "n": 200}
        for bucket in ("5-10", "11-20")
        for measure, value in (measures | {"repeating_references": 0.0}).items()
    ]
    rows += [row | {"run": run, "seed": 1} for row in rows]
    frame = pd.DataFrame(rows, columns=list(PROBE_COLUMNS))
    frame["seed"] = frame["seed"].astype("Int64")
    write_relisted(folder / "probes" / "length.csv", frame.to_csv(index=False))


def test_a_studys_table_decides_its_claim_where_its_runs_are_chosen(tmp_path):
    folder = Store(tmp_path).add("additive", "additive", HIGH).add("a", "additive", LOW, 2).write()
    lacking = decided(folder, "C11")
    assert lacking.command == f"bottleneck study length --results {tmp_path}"
    length_table(folder, 1.09, "additives1")
    found = decided(folder, "C11")
    assert (found.verdict.verdict, found.verdict.value) == ("held", 1.09)
    assert (found.runs, found.command) == ("1 run: additive, seed 1", "")
    assert study_pages("length", folder)[0].judged == [found.verdict]
    length_table(folder, 1.11, "additives1")
    assert decided(folder, "C11").verdict.verdict == "not held"
    assert decided(folder, "C11", ["seed=1"]).verdict.verdict == "not held"
    other = decided(folder, "C11", ["seed=2"])
    assert other.verdict.verdict == "not measured"
    assert "rests on runs that were not chosen (additives1)" in other.verdict.because


@pytest.mark.parametrize(("count", "told"), [(3, "a, b, c"), (5, "a, b, c and 2 more")])
def test_of_many_runs_three_are_named(count, told):
    assert _named("abcde"[:count]) == told


def test_a_folder_without_runs_is_not_refused_and_names_what_to_run(tmp_path):
    found = decide_results(tmp_path)
    assert {one.verdict.verdict for one in found} == {"not measured"}
    assert all(one.command.endswith(str(tmp_path)) for one in found)
    commands = {one.claim.id: one.command.removesuffix(f" {tmp_path}") for one in found}
    assert commands["L-VIND"] == "bottleneck reproduce --out"
    assert commands["C1"] == "bottleneck sweep context_size --out"
    assert commands["C9"] == "bottleneck bench --out"
    assert commands["C10"] == "bottleneck sweep controls --out"
    assert commands["C12"] == "bottleneck reproduce --check-schedule --out"
    assert commands["C13"] == "bottleneck study embeddings --results"


def test_a_bundle_without_its_store_is_not_named_as_the_place_of_new_runs(tmp_path):
    folder = Store(tmp_path / "one").add("none", "none", LOW).write()
    shutil.rmtree(folder / "runs")
    commands = {one.claim.id: one.command for one in decide_results(folder)}
    assert commands["L-VIND"] == "bottleneck reproduce"
    assert commands["C3"] == "bottleneck study survival"
    assert commands["C9"] == f"bottleneck bench --out {folder}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "claim", "lacking"),
    [("none", "C8", True), ("none", "C11", True), ("none", "C6", True), ("none", "C14", False),
     ("additive", "C3", True), ("additive", "C14", True), ("additive", "C11", False),
     ("uniform", "C7", True), ("none", "C13", False)],
)  # fmt: skip
def test_a_study_is_not_put_to_runs_that_lack_an_arm(arm, claim, lacking, tmp_path):
    folder = Store(tmp_path / "my runs").add("one", arm, LOW).write()
    study = next(one.study for one in CLAIMS if one.id == claim)
    where = "" if lacking else f" --results '{folder}'"
    assert decided(folder, claim).command == f"bottleneck study {study}{where}"


def test_capacity_is_not_asked_of_the_runs_of_another_question(tmp_path):
    folder = Store(tmp_path).add("none", "none", LOW).add("a", "additive", LOW).write()
    assert decided(folder, "C2").command == "bottleneck study capacity"


def test_what_the_users_own_text_does_not_know_is_asked_of_the_grammar(tmp_path):
    store = Store(tmp_path).add("none", "none", LOW, corpus={"name": "files"})
    folder = store.add("own", "additive", LOW, corpus={"name": "files"}).write()
    commands = {one.claim.id: one.command for one in decide_results(folder)}
    gold = "--gold FILE --source FILE --target FILE"
    assert commands["C7"] == f"bottleneck study alignment {gold} --results {folder}"
    assert commands["C8"] == "bottleneck study gradients"
    assert commands["C13"] == "bottleneck study embeddings"
    assert commands["C14"] == f"bottleneck study reading --results {folder}"


def test_copied_words_have_links_and_no_classes(tmp_path):
    store = Store(tmp_path).add("none", "none", LOW, corpus={"name": "copy"})
    folder = store.add("own", "additive", LOW, corpus={"name": "copy"}).write()
    commands = {one.claim.id: one.command for one in decide_results(folder)}
    assert commands["C7"] == f"bottleneck study alignment --results {folder}"
    assert commands["C13"] == "bottleneck study embeddings"
    assert commands["C3"] == "bottleneck study survival"


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
    write_relisted(folder / "probes" / "alignment_gold.csv", frame.to_csv(index=False))
    found = decided(folder, "C7")
    assert (found.verdict.verdict, found.verdict.value) == ("held", 0.3)
    assert found.runs == "1 run: additive, seed 1"


def test_every_group_of_the_sweep_of_controls_is_known_to_c10():
    cells = make_grid(load_sweep("controls"), [], None).cells
    rows = [setting_columns(cell.settings) | {"group": cell.group} for cell in cells]
    frame = pd.DataFrame(rows).assign(
        run=[str(place) for place in range(len(rows))],
        corpus_fingerprint=["joined" if row["joined"] > 1 else "text" for row in rows],
        # As the file counts them.
        parameters=[1_700_824 if row["hidden_size"] == 257 else 1_694_081 for row in rows],
    )
    pair = next(pair for pair in pairs(frame) if first(pair.none)["group"] == "baseline none")
    names = control_names(frame, pair)
    assert set(EXPECTED) - set(names) == {"a larger context"}
    assert set(names[frame["group"] == "none with as many parameters"]) == {"as many parameters"}
    varied = variation_names(frame, pair)
    both = frame[varied != ""].groupby("group")["attention"].agg(sorted)
    assert set(both.index) == {"reversed source", "bidirectional", "zero s_0", "joined"}
    assert all(arms == ["additive", "none"] for arms in both)


@pytest.mark.slow
def test_what_a_folder_does_not_decide_a_results_folder_inside_it_does(tmp_path):
    """A study of many sweeps: its own pair, and each sweep in a folder of its own."""
    Store(tmp_path).add("none", "none", LOW).add("additive", "additive", HIGH).write()
    with_controls(tmp_path / "controls", LOW, LOW).write()
    with_controls(tmp_path / "later", HIGH, HIGH).write()
    write_sizes(tmp_path / "sizes", {(size, "none"): LOW for size in (32, 64)})
    (tmp_path / "empty").mkdir()
    found = {one.claim.id: one for one in decide_results(tmp_path)}
    alone = {name: decided(tmp_path / "controls", name) for name in ("C10", "L-VIND")}
    assert found["C10"].verdict == alone["C10"].verdict
    assert found["C10"].runs == f"controls: {alone['C10'].runs}"
    assert found["C10"].folder == tmp_path / "controls"
    assert found["C1"].folder == tmp_path / "sizes"
    assert (found["L-VIND"].folder, found["L-VIND"].runs) == (
        tmp_path, "2 runs: none, additive, seed 1",
    )  # fmt: skip
    lacking = found["C2"]
    assert (lacking.measured, lacking.folder) == (False, tmp_path)
    assert lacking.command == "bottleneck study capacity"
    assert (found["C12"].measured, found["C12"].folder) == (False, tmp_path / "controls")
    # Conditions choose among the folder's own runs.
    chosen = {one.claim.id: one for one in decide_results(tmp_path, ["seed=1"])}
    assert not chosen["C10"].measured


@pytest.mark.slow
def test_where_no_folder_decides_that_of_the_claims_sweep_says_why(tmp_path):
    Store(tmp_path / "controls").add("none", "none", LOW).add("additive", "additive", HIGH).write()
    Store(tmp_path / "anything").add("none", "none", LOW).write()
    found = {one.claim.id: one for one in decide_results(tmp_path)}
    alone = decided(tmp_path / "controls", "C10")
    assert not alone.measured
    assert found["C10"] == alone
    # Without such a folder it is said of the whole, and made in a folder of its own.
    assert (found["C2"].measured, found["C2"].folder) == (False, tmp_path)
    place = shlex.quote(str(tmp_path / "context_size"))
    assert found["C1"].command == f"bottleneck sweep context_size --out {place}"
    assert found["C2"].command == "bottleneck study capacity"


def test_a_store_and_a_run_are_no_results_inside_a_folder(tmp_path):
    folder = Store(tmp_path / "one").add("none", "none", LOW).write()
    assert results_inside(folder) == []
    assert results_inside(folder / "runs") == []
    assert results_inside(tmp_path) == [folder]
    assert results_inside(tmp_path / "missing") == []
