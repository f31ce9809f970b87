"""Planted runs decide claims: each picks the runs it needs, and flips where they cross its rule."""

import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from planted import write_sizes
from planted_arms import HIGH, LOW, Store, with_controls

from seq2seq_bottleneck.claims.registry import CLAIMS, studied
from seq2seq_bottleneck.claims.verdict import FAMILY
from seq2seq_bottleneck.results.bundle import load_bundle, load_results, setting_columns
from seq2seq_bottleneck.results.discovery import results_inside
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.sweep import load_sweep, make_grid
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.comparison_groups import first, pairs
from seq2seq_bottleneck.tables.controlled import EXPECTED, controls_of, variations_of
from seq2seq_bottleneck.tables.decided import NO_SCORES, decide_results, decision, judge
from seq2seq_bottleneck.tables.pages import study_pages
from seq2seq_bottleneck.tables.run_tables import run_data
from seq2seq_bottleneck.tables.selection import where

BY_ID = {claim.id: claim for claim in CLAIMS}


def decided(folder, claim, conditions=()):
    """The decision on one claim."""
    whole = load_bundle(folder)
    chosen = where(whole, conditions)
    left_out = set(whole.runs["run"]) - set(chosen.runs["run"])
    return decision(BY_ID[claim], folder, chosen, left_out)


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
    gain = run_data("vindication", [compare(two)]).iloc[-1]
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


def test_c10_compares_attention_with_none_in_a_variation_too(tmp_path):
    store = with_controls(tmp_path)
    store.add("bothways", "additive", LOW, model={"reverse_source": True})
    verdict = decided(store.write(), "C10").verdict
    assert verdict.verdict == "partly"
    head = "attention minus none if both arms have the same change: source reversed"
    assert head in verdict.because


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
    conditions = ["attention=none,additive", "reverse_source=false", "seed=1,9"]
    first = compare(where(load_bundle(folder), conditions))
    gain = run_data("vindication", [first]).iloc[-1]
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


def with_table(folder, table):
    """The folder, with the numbers of the study ``length``."""
    write_relisted(folder / "probes" / "length.csv", table.to_csv(index=False))
    return folder


def test_a_studys_table_decides_its_claim_where_its_runs_are_chosen(tmp_path):
    folder = Store(tmp_path).add("additive", "additive", HIGH).add("a", "additive", LOW, 2).write()
    lacking = decided(folder, "C11")
    assert lacking.command == f"bottleneck study length --results {tmp_path}"
    with_table(folder, lengths({"additives1": ("additive", 1.09)}))
    found = decided(folder, "C11")
    assert (found.verdict.verdict, found.verdict.value) == ("held", 1.09)
    assert (found.runs, found.command) == ("1 run: additive, seed 1", "")
    assert study_pages("length", folder)[0].judged == [found.verdict]
    with_table(folder, lengths({"additives1": ("additive", 1.11)}))
    assert decided(folder, "C11").verdict.verdict == "not held"
    assert decided(folder, "C11", ["seed=1"]).verdict.verdict == "not held"
    other = decided(folder, "C11", ["seed=2"])
    assert other.verdict.verdict == "not measured"
    assert "rests on runs that were not chosen (additives1)" in other.verdict.because


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


GOLD = "alignment --gold FILE --source FILE --target FILE"


@pytest.mark.parametrize(
    ("arms", "corpus", "here", "elsewhere"),
    [
        (["none"], "grammar", {"C13": "embeddings", "C14": "reading"},
         {"C6": "information", "C8": "gradients", "C11": "length"}),
        (["additive"], "grammar", {"C11": "length"}, {"C3": "survival", "C14": "reading"}),
        (["uniform"], "grammar", {}, {"C7": "alignment"}),
        (["none", "additive"], "grammar", {"C8": "gradients"}, {"C2": "capacity"}),
        (["none", "additive"], "copy", {"C7": "alignment"},
         {"C3": "survival", "C13": "embeddings"}),
        (["none", "additive"], "files", {"C7": GOLD, "C14": "reading"},
         {"C8": "gradients", "C13": "embeddings"}),
    ],
)  # fmt: skip
def test_a_study_is_put_to_runs_that_have_what_it_asks_for(arms, corpus, here, elsewhere, tmp_path):
    store = Store(tmp_path / "my runs")
    for arm in arms:
        store.add(arm, arm, LOW, corpus={"name": corpus})
    folder = store.write()
    commands = {item.claim.id: item.command for item in decide_results(folder)}
    for claim, words in here.items():
        assert commands[claim] == f"bottleneck study {words} --results '{folder}'"
    for claim, study in elsewhere.items():
        assert commands[claim] == f"bottleneck study {study}"


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
    controls = controls_of(frame, pair)
    assert set(EXPECTED) - set(controls) == {"a larger context"}
    assert set(controls["as many parameters"]["group"]) == {"none with as many parameters"}
    variations = variations_of(frame, pair)
    groups = {group for rows in variations.values() for group in rows["group"]}
    assert groups == {"reversed source", "bidirectional", "zero s_0", "joined"}
    arms = [sorted(rows["attention"]) for rows in variations.values()]
    assert arms == [["additive", "none"]] * 4


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


# Which arms of a study's table its claim is judged on: one group's, and of these what has learned.

LEARNED = [claim for claim in CLAIMS if claim.learned]
BOTH = {"nones1": ("none", 1.0), "additives1": ("additive", 1.0)}
GOOD, BAD, NOTHING = 1.0, 2.0, [1.0] * 5


def runs_of(folder, **arms):
    """The tidy table of a store with one run per arm: its attention, shares lost, and changes."""
    store = Store(folder)
    for name, (attention, shares, changes) in arms.items():
        store.add(name, attention, shares, **changes)
    return load_results(store.write())


@pytest.fixture
def two(tmp_path):
    """Runs of both arms, which have learned."""
    return runs_of(tmp_path, none=("none", LOW, {}), additive=("additive", HIGH, {}))


def scored(runs, attention, first, others=0.0):
    """The runs, of which one arm has these scores in the shortest bucket and in the others."""
    chosen, shortest = runs["attention"] == attention, runs["bucket"] == "5-10"
    return runs.assign(
        bleu=runs["bleu"].mask(chosen & shortest, first).mask(chosen & ~shortest, others)
    )


def judged(claim, frame, runs):
    """The verdict, and the runs of the rows that it rests on."""
    verdict, rows = judge(BY_ID[claim], frame, runs)
    return verdict, set(rows["run"]) - {""}


@pytest.mark.parametrize(
    ("first", "others", "verdict"),
    [
        (50.0, 7.0, "held"),  # as the lecture's arm without attention
        (5.0, 0.0, "held"),
        (4.99, 90.0, "is under 5 in 5-10"),
        (float("nan"), 4.0, "is under 5 in 11-20"),  # the first bucket with sentences
        (float("nan"), 6.0, "held"),
    ],
)
def test_the_shortest_buckets_bleu_decides_whether_there_is_a_verdict(two, first, others, verdict):
    result, _ = judged("C11", lengths(BOTH), scored(two, "additive", first, others))
    if verdict == "held":
        assert (result.verdict, result.value) == ("held", GOOD)
    else:
        assert (result.verdict, result.value) == ("not measured", None)
        assert result.because == (
            f"BLEU with attention {verdict}: nothing has been learned to judge"
        )
        assert result.rule == studied(BY_ID["C11"], None).rule


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
    named = "left out as not learned, BLEU under 5 in 5-10: " + ", ".join(
        f"{arm} (0.2)" for arm in sorted(low, reverse=True)
    )
    assert (named in because) == bool(low and claim.id not in without)


def test_an_arm_that_has_not_learned_is_not_judged(tmp_path):
    arms = {"none": ("none", NOTHING, {}), "additive": ("additive", HIGH, {})}
    table = lengths(BOTH | {"dots1": ("dot", BAD)})
    learned = runs_of(tmp_path / "a", **arms, dot=("dot", HIGH, {}))
    assert judged("C11", table, learned)[0].verdict == "partly"
    verdict, rows = judged("C11", table, runs_of(tmp_path / "b", **arms, dot=("dot", NOTHING, {})))
    assert verdict.verdict == "held"
    assert "none handles" not in verdict.because
    assert "left out as not learned, BLEU under 5 in 5-10: dot (0.0), none (0.0)" in verdict.because
    assert rows == {"additives1"}


def test_an_arm_of_another_group_does_not_count(tmp_path):
    runs = runs_of(
        tmp_path,
        none=("none", LOW, {}), additive=("additive", HIGH, {}),
        reversed=("additive", HIGH, {"model": {"reverse_source": True}}),
        longer=("additive", HIGH, {"training": {"updates": 20}}),
    )  # fmt: skip
    first = {"nones1": ("none", GOOD), "additives1": ("additive reverse_source=false", GOOD)}
    others = {"reverseds1": ("additive reverse_source=true", BAD),
              "longers1": ("additive updates=20", BAD)}  # fmt: skip
    verdict, rows = judged("C11", lengths(first | others), runs)
    assert verdict.verdict == "held"
    assert verdict.because.endswith("; 2 arms of other settings were not judged")
    assert "additive handles 2 of 2" in verdict.because  # the attention says which it is
    assert rows == {"nones1", "additives1"}
    # What lies nearest is judged where the nearer one is not there, or is what went wrong.
    assert judged("C11", lengths(others), runs)[0].verdict == "not held"
    swapped = first | {"additives1": ("additive reverse_source=false", BAD)}
    assert judged("C11", lengths(swapped | others), runs)[0].verdict == "not held"
    one, _ = judged("C11", lengths(first | {"reverseds1": others["reverseds1"]}), runs)
    assert one.because.endswith("; 1 arm of other settings was not judged")


@pytest.mark.parametrize(
    ("sizes", "taken"), [((64, 128), 128), ((64, 256, 512), 256), ((512, 256), 256)]
)
def test_the_lectures_context_is_judged_or_else_the_largest(sizes, taken, tmp_path):
    widths = {"hidden_size": 64, "attention_size": 32}
    arms = {f"n{size}": ("none", LOW, {"model": widths | {"context_size": size}}) for size in sizes}
    table = lengths({f"n{size}s1": (f"none context_size={size}", GOOD) for size in sizes})
    assert judged("C4", table, runs_of(tmp_path, **arms))[1] == {f"n{taken}s1"}


def test_the_fewest_updates_with_the_claims_arms_are_taken(tmp_path):
    runs = runs_of(
        tmp_path,
        short=("none", LOW, {"training": {"updates": 5}}),
        none=("none", LOW, {}), additive=("additive", HIGH, {}),
    )  # fmt: skip
    table = lengths(BOTH | {"shorts1": ("none updates=5", GOOD)})
    assert judged("C4", table, runs)[1] == {"shorts1"}
    assert judged("C8", table, runs)[1] == {"nones1", "additives1"}


def test_a_text_that_knows_what_is_asked_comes_first(tmp_path):
    copied = {"corpus": {"name": "copy"}, "model": {"context_size": 256}, "fingerprint": "other"}
    runs = runs_of(tmp_path, none=("none", LOW, {}), copy=("none", LOW, copied))
    table = lengths({"nones1": ("none corpus.name=grammar", GOOD),
                     "copys1": ("none corpus.name=copy", GOOD)})  # fmt: skip
    assert judged("C3", table, runs)[1] == {"nones1"}
    assert judged("C4", table, runs)[1] == {"copys1"}


def test_without_the_runs_or_their_scores_nothing_is_judged(two):
    for runs in (None, two[two["run"] == "another"]):
        verdict, _ = judged("C11", lengths(BOTH), runs)
        assert (verdict.verdict, verdict.because) == ("not measured", NO_SCORES)


def test_a_difference_still_names_the_arm_that_it_is_from(two):
    first = {"nones1": ("none x=1", GOOD), "additives1": ("additive x=1", GOOD)}
    _, rows = judge(BY_ID["C8"], lengths(first).assign(note="none x=1"), two)
    assert set(rows["arm"]) == {"none", "additive"}
    assert set(rows["note"]) == {"none"}


def test_every_rule_says_which_arms_are_judged_and_what_has_not_learned():
    for claim in CLAIMS:
        if claim.study and not claim.own_runs:
            rule = studied(claim, None).rule
            assert FAMILY in rule
            floor = "An arm whose BLEU in the shortest filled bucket is under 5"
            assert (floor in rule) == claim.learned
    assert [claim.id for claim in LEARNED] == ["C4", "C7", "C8", "C11", "C13", "C14"]


def test_the_studys_page_and_the_claims_say_the_same(tmp_path):
    store = Store(tmp_path).add("none", "none", LOW).add("additive", "additive", NOTHING)
    folder = with_table(store.write(), lengths(BOTH))
    result = decided(folder, "C11")
    assert result.verdict.verdict == "not measured"
    assert result.runs == "2 runs: none, additive, seed 1"
    assert study_pages("length", folder)[0].judged == [result.verdict]
    assert "nothing has been learned to judge" in result.verdict.because


@pytest.mark.parametrize(
    ("fingerprint", "text"),
    [
        ("planted", "the same resamples for every seed and arm; they say nothing of other seeds."),
        ("other", "for every seed, and for arms of one text; they say nothing of other seeds."),
    ],
)
def test_arms_share_their_resamples_if_they_have_one_text(tmp_path, fingerprint, text):
    store = Store(tmp_path).add("none", "none", LOW)
    store.add("additive", "additive", HIGH, fingerprint=fingerprint)
    page = study_pages("length", with_table(store.write(), lengths(BOTH)))[0]
    assert page.caption[-1].endswith(text)
