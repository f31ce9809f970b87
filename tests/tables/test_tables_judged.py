"""Which arms a study's claims are judged on: one family's, and of these what has learned."""

import pandas as pd
import pytest
from listed import write_relisted
from planted_arms import HIGH, LOW, Store

from seq2seq_bottleneck.claims.registry import CLAIMS, studied
from seq2seq_bottleneck.claims.verdict import FAMILY
from seq2seq_bottleneck.results.bundle import load_results
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.decided import decide_results
from seq2seq_bottleneck.tables.judged import NO_SCORES, judge, of_family, with_texts
from seq2seq_bottleneck.tables.pages import study_pages
from seq2seq_bottleneck.tables.studied import resampled

BY_ID = {claim.id: claim for claim in CLAIMS}
LEARNED = [claim for claim in CLAIMS if claim.learned]
TURNED = {"model": {"reverse_source": True}}
NOTHING = [1.0] * 5
GOOD, BAD = 1.0, 2.0


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
    own = runs["attention"] == attention
    shortest = runs["bucket"] == "5-10"
    return runs.assign(bleu=runs["bleu"].mask(own & shortest, first).mask(own & ~shortest, others))


def found(claim, frame, runs):
    return judge(BY_ID[claim], frame, runs)[0]


BOTH = {"nones1": ("none", GOOD), "additives1": ("additive", GOOD)}


def test_the_shortest_buckets_bleu_flips_whether_there_is_a_verdict(two):
    table = lengths(BOTH)
    # As the lecture's arm without attention: 50 in the shortest bucket, 7 in the longest.
    assert found("C11", table, scored(two, "additive", 50.0, 7.0)).verdict == "held"
    assert found("C11", table, scored(two, "additive", 5.0)).verdict == "held"
    low = found("C11", table, scored(two, "additive", 4.99, 90.0))
    assert (low.verdict, low.value) == ("not measured", None)
    assert low.because == (
        "BLEU with attention is under 5 in 5-10: nothing has been learned to judge"
    )
    assert low.rule == studied(BY_ID["C11"], None).rule


def test_the_first_bucket_with_sentences_is_the_shortest(two):
    runs = scored(two, "additive", float("nan"), 4.0)
    assert "is under 5 in 11-20" in found("C11", lengths(BOTH), runs).because
    assert found("C11", lengths(BOTH), scored(two, "additive", float("nan"), 6.0)).value == GOOD


@pytest.mark.parametrize("claim", LEARNED, ids=lambda claim: claim.id)
@pytest.mark.parametrize(
    ("low", "without"),
    [
        (["none"], {"C4": "without attention", "C8": "without attention",
                    "C14": "without attention"}),
        (["additive"], {"C7": "with attention", "C8": "with attention", "C11": "with attention"}),
        (["none", "additive"],
         {"C4": "without attention", "C7": "with attention", "C8": "without attention",
          "C11": "with attention", "C13": "of every arm", "C14": "without attention"}),
        ([], {}),
    ],
)  # fmt: skip
def test_each_claim_needs_its_own_arm_to_have_learned(claim, low, without, two):
    for arm in low:
        two = scored(two, arm, 0.2)
    because = found(claim.id, lengths(BOTH), two).because
    reason = f"BLEU {without.get(claim.id)} is under 5 in 5-10: nothing has been learned to judge"
    assert (reason in because) == (claim.id in without)
    named = "left out as not learned, BLEU under 5 in 5-10: " + ", ".join(
        f"{arm} (0.2)" for arm in sorted(low, reverse=True)
    )
    assert (named in because) == bool(low and claim.id not in without)


def test_an_arm_that_has_not_learned_is_neither_judged_nor_told_beside(tmp_path):
    arms = {"none": ("none", NOTHING, {}), "additive": ("additive", HIGH, {})}
    table = lengths(BOTH | {"dots1": ("dot", BAD)})
    learned = runs_of(tmp_path / "a", **arms, dot=("dot", HIGH, {}))
    assert found("C11", table, learned).verdict == "partly"
    verdict, rows = judge(
        BY_ID["C11"], table, runs_of(tmp_path / "b", **arms, dot=("dot", NOTHING, {}))
    )
    assert verdict.verdict == "held"
    assert "none handles" not in verdict.because
    assert "left out as not learned, BLEU under 5 in 5-10: dot (0.0), none (0.0)" in verdict.because
    assert set(rows["arm"]) == {"additive"}


def test_an_arm_of_another_family_does_not_count(tmp_path):
    runs = runs_of(
        tmp_path,
        none=("none", LOW, {}), additive=("additive", HIGH, {}),
        turned=("additive", HIGH, TURNED),
        longer=("additive", HIGH, {"training": {"updates": 20}}),
    )  # fmt: skip
    own = {"nones1": ("none", GOOD), "additives1": ("additive reverse_source=false", GOOD)}
    others = {"turneds1": ("additive reverse_source=true", BAD),
              "longers1": ("additive updates=20", BAD)}  # fmt: skip
    verdict, rows = judge(BY_ID["C11"], lengths(own | others), runs)
    assert verdict.verdict == "held"
    assert verdict.because.endswith("; 2 arms of other settings were not judged")
    assert "additive handles 2 of 2" in verdict.because  # the attention says which it is
    assert set(rows["run"]) == {"", "nones1", "additives1"}
    # What lies nearest is judged where the nearer one is not there, or is what went wrong.
    assert found("C11", lengths(others), runs).verdict == "not held"
    swapped = own | {"additives1": ("additive reverse_source=false", BAD)}
    assert found("C11", lengths(swapped | others), runs).verdict == "not held"
    one = found("C11", lengths(own | {"turneds1": others["turneds1"]}), runs)
    assert one.because.endswith("; 1 arm of other settings was not judged")


def sized(size):
    return {"model": {"context_size": size, "hidden_size": 64, "attention_size": 32}}


@pytest.mark.parametrize(
    ("sizes", "judged"), [((64, 128), 128), ((64, 256, 512), 256), ((512, 256), 256)]
)
def test_the_lectures_context_is_judged_or_else_the_largest(sizes, judged, tmp_path):
    arms = {f"n{size}": ("none", LOW, sized(size)) for size in sizes}
    runs = runs_of(tmp_path, **arms)
    table = lengths({f"n{size}s1": (f"none context_size={size}", GOOD) for size in sizes})
    rows = judge(BY_ID["C4"], table, runs)[1]
    assert set(rows["run"]) == {"", f"n{judged}s1"}


def test_the_fewest_updates_with_the_claims_arms_are_taken(tmp_path):
    once = {"training": {"updates": 5}}
    runs = runs_of(
        tmp_path,
        short=("none", LOW, once), none=("none", LOW, {}), additive=("additive", HIGH, {}),
    )  # fmt: skip
    table = lengths(BOTH | {"shorts1": ("none updates=5", GOOD)})
    taken = {claim: set(judge(BY_ID[claim], table, runs)[1]["run"]) - {""}
             for claim in ("C4", "C8")}  # fmt: skip
    assert taken == {"C4": {"shorts1"}, "C8": {"nones1", "additives1"}}


def test_a_text_that_knows_what_is_asked_comes_first(tmp_path):
    copied = {"corpus": {"name": "copy"}, "model": {"context_size": 256}, "fingerprint": "other"}
    runs = runs_of(tmp_path, none=("none", LOW, {}), copy=("none", LOW, copied))
    table = lengths({"nones1": ("none corpus.name=grammar", GOOD),
                     "copys1": ("none corpus.name=copy", GOOD)})  # fmt: skip
    taken = {claim: set(judge(BY_ID[claim], table, runs)[1]["run"]) - {""}
             for claim in ("C3", "C4")}  # fmt: skip
    assert taken == {"C3": {"nones1"}, "C4": {"copys1"}}


def test_without_the_runs_or_their_scores_nothing_is_judged(two):
    for runs in (None, two[two["run"] == "another"]):
        verdict = found("C11", lengths(BOTH), runs)
        assert (verdict.verdict, verdict.because) == ("not measured", NO_SCORES)


@pytest.mark.slow
def test_a_difference_still_names_the_arm_that_it_is_from(two):
    own = {"nones1": ("none x=1", GOOD), "additives1": ("additive x=1", GOOD)}
    table = lengths(own).assign(note="none x=1")
    held = of_family(table, two.drop_duplicates("run"))
    assert set(held["arm"]) == {"none", "additive"}
    assert set(held["note"]) == {"none"}


def test_every_rule_says_which_arms_are_judged_and_what_has_not_learned():
    for claim in CLAIMS:
        if claim.study and not claim.own_runs:
            rule = studied(claim, None).rule
            assert FAMILY in rule
            assert ("An arm whose BLEU in the shortest filled bucket is under 5" in rule) == (
                claim.learned
            )
    assert [claim.id for claim in LEARNED] == ["C4", "C7", "C8", "C11", "C13", "C14"]


def written(folder, table):
    write_relisted(folder / "probes" / "length.csv", table.to_csv(index=False))
    return folder


def test_the_studys_page_and_the_claims_say_the_same(tmp_path):
    store = Store(tmp_path).add("none", "none", LOW).add("additive", "additive", NOTHING)
    folder = written(store.write(), lengths(BOTH))
    (decision,) = [one for one in decide_results(folder) if one.claim.id == "C11"]
    assert decision.verdict.verdict == "not measured"
    assert decision.runs == "2 runs: none, additive, seed 1"
    assert study_pages("length", folder)[0].judged == [decision.verdict]
    assert "nothing has been learned to judge" in decision.verdict.because


def test_the_same_resamples_are_told_of_arms_of_one_text_alone(tmp_path):
    store = Store(tmp_path / "one").add("none", "none", LOW).add("additive", "additive", HIGH)
    same = study_pages("length", written(store.write(), lengths(BOTH)))[0]
    told = "the same resamples for every seed and arm; they say nothing of other seeds."
    assert same.caption[-1].endswith(told)
    store = Store(tmp_path / "two").add("none", "none", LOW)
    store.add("additive", "additive", HIGH, fingerprint="other")
    other = study_pages("length", written(store.write(), lengths(BOTH)))[0]
    assert "for every seed, and for arms of one text; they say" in other.caption[-1]
    assert "for every seed, and for arms of one text" in resampled(lengths(BOTH))
    texts = with_texts(lengths(BOTH), load_results(tmp_path / "two"))
    assert dict(zip(texts["arm"], texts["corpus_fingerprint"], strict=True)) == {
        "none": "planted", "additive": "other",
    }  # fmt: skip
