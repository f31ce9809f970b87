"""The tables over context sizes, from planted translations; what they refuse, and choosing."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted import (
    LENGTHS,
    planted_settings,
    sentences,
    translations,
    write_planted,
    write_run,
    write_sizes,
)
from rich.console import Console
from sacrebleu import corpus_bleu

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.tables.comparison import Arm, compare, seed_points
from seq2seq_bottleneck.tables.compression import compression_table, slide_row
from seq2seq_bottleneck.tables.context_size import context_size_table
from seq2seq_bottleneck.tables.pages import TABLES, make_page
from seq2seq_bottleneck.tables.selection import where

BUCKETS = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 35, "41+": 50}
LENGTHS_OF = list(BUCKETS.values())
# The share of words lost is 0.7 % per unit of the ratio (16 numbers per word); attention's is 5.
NONE = {(size, "none"): [0.007 * 16 * n / size for n in LENGTHS_OF] for size in (8, 16, 32)}
CELLS = NONE | {(size, "additive"): [0.05] * 5 for size in (8, 16, 32)}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    made = write_sizes(folder, CELLS, seeds=2, changes={"hidden_size": 32})
    return load_bundle(folder), made


@pytest.fixture
def several(planted):
    return planted[0]


def mean_bleu(hypotheses, length):
    """Sacrebleu's own score of the sentences of one length, mean over seeds."""
    places = [place for place, n in enumerate(LENGTHS) if n == length]
    references = [[sentences()[place] for place in places]]
    return np.mean([corpus_bleu([h[p] for p in places], references).score for h in hypotheses])


@pytest.mark.slow
def test_context_size_has_both_arms_and_sacrebleus_numbers(planted):
    bundle, made = planted
    frame = make_page("context-size", bundle).frame
    expected = "context_size bucket n compression_ratio bleu_none bleu_attention gain"
    assert list(frame.columns[:7]) == expected.split()
    assert list(frame["context_size"]) == [8] * 5 + [16] * 5 + [32] * 5
    assert list(frame["bucket"]) == list(BUCKETS) * 3
    for row in frame.to_dict("records"):
        size, length = row["context_size"], BUCKETS[row["bucket"]]
        none, other = (mean_bleu(made[size, arm], length) for arm in ("none", "additive"))
        assert row["bleu_none"] == pytest.approx(none, abs=1e-9)
        assert row["bleu_attention"] == pytest.approx(other, abs=1e-9)
        assert row["gain"] == pytest.approx(other - none, abs=1e-9)
        assert row["compression_ratio"] == pytest.approx(length * 16 / size)
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
        assert row["brevity_penalty_none"] == 1


def test_one_size_of_the_table_is_the_two_arms_own_comparison(several):
    frame = make_page("context_size", several).frame
    alone = compare(where(several, ["context_size=16"]))
    rows = frame[frame["context_size"] == 16].to_dict("records")
    for row, none in zip(rows, alone.none.estimates, strict=True):
        assert row["bleu_none"] == none.value
        assert (row["bleu_none_low"], row["bleu_none_high"]) == (
            none.interval.low,
            none.interval.high,
        )


def test_compression_is_sorted_and_has_the_slides_words(planted):
    bundle, made = planted
    page = make_page("compression", bundle)
    frame = page.frame
    assert len(frame) == 15
    assert frame["compression_ratio"].is_monotonic_increasing
    for row in frame.to_dict("records"):
        ratio = row["source_words"] * 16 / row["context_size"]
        assert row["numbers"] == row["source_words"] * 16
        assert row["compression_ratio"] == pytest.approx(ratio)
        words = ["Mediocre", "Poor", "Very Poor"]
        place = sum(ratio >= edge for edge in (2000 / 256, 5000 / 256, 10000 / 256))
        assert row["slide_word"] == ["Good", *words][place]
        none = made[row["context_size"], "none"]
        assert row["bleu"] == pytest.approx(mean_bleu(none, BUCKETS[row["bucket"]]), abs=1e-9)
    text = "\n".join(page.caption)
    assert "5 words 2:1 Good; 20 words 8:1 Mediocre; 50 words 20:1 Poor" in text
    assert "context 8 / 16 / 32, hidden 32" in text


@pytest.mark.parametrize(
    ("ratio", "word"),
    [(0.5, "Good"), (7.8, "Good"), (7.82, "Mediocre"), (19.6, "Poor"), (39.1, "Very Poor")],
)
def test_a_slides_word_begins_at_its_unrounded_ratio(ratio, word):
    assert slide_row(ratio).quality == word


def test_planted_on_one_curve_c1_holds_under_both_tables(several):
    for name in ("context-size", "compression"):
        (verdict,) = make_page(name, several).judged
        assert (verdict.claim, verdict.verdict) == ("C1", "held")
        assert "over 15 cells of 3 context sizes" in verdict.because


def test_one_size_is_a_table_without_a_verdict(several):
    page = make_page("compression", where(several, ["context_size=8"]))
    assert len(page.frame) == 5
    assert page.verdicts[0].startswith("C1: not measured: two context sizes and two")


def test_the_caption_lists_seeds_as_points_or_says_that_there_is_one(several):
    text = "\n".join(make_page("context-size", several).caption)
    assert "BLEU by bucket, context 16, additive, seed 2: " in text
    assert "Parameters, context 8: none 1,000, additive 1,300" in text
    single = make_page("context-size", where(several, ["seed=1"])).caption
    assert any(line.startswith("One seed (1)") for line in single)


def test_of_many_seeds_the_caption_says_what_they_lie_between():
    scores = np.arange(50.0).reshape(25, 2)  # seed k has 2k and 2k + 1
    arm = Arm("none", (), tuple(range(25)), 0, (), scores, np.ones(2))
    assert seed_points(arm) == [
        "lowest of 25 seeds: 0.0 1.0",
        "median of 25 seeds: 24.0 25.0",
        "highest of 25 seeds: 48.0 49.0",
        "standard deviation over 25 seeds: 14.7 14.7",
    ]
    few = replace(arm, seeds=(1, 2), by_seed=scores[:2])
    assert seed_points(few) == [
        "seed 1: 0.0 1.0", "seed 2: 2.0 3.0", "standard deviation over 2 seeds: 1.4 1.4",
    ]  # fmt: skip


@pytest.mark.slow
def test_attention_may_be_missing_here_and_there(several):
    kept = where(several, ["run=none8s1,none16s1,additive16s1,additive32s1"])
    page = make_page("context-size", kept)
    frame = page.frame.set_index("context_size")
    assert sorted(set(frame.index)) == [8, 16]
    assert frame.loc[8, "bleu_attention"].isna().all()
    assert frame.loc[16, "gain"].notna().all()
    assert "Left out: context 32 (no run without attention)." in page.caption
    without = make_page("context-size", where(several, ["attention=none"]))
    assert without.frame["gain"].isna().all()


def test_an_empty_bucket_is_blank_and_last(tmp_path):
    short = frozenset({7, 15, 25, 35})
    damage = {"none": [0.1, 0.2, 0.3, 0.4, 0.5]}
    write_planted(tmp_path, damage, seeds=1, keep=short)
    frame = make_page("compression", load_bundle(tmp_path)).frame
    assert list(frame["bucket"]) == list(BUCKETS)
    assert frame.iloc[-1][["n", "slide_word"]].tolist() == [0, ""]
    assert frame.iloc[-1][["bleu", "bleu_low", "compression_ratio"]].isna().all()


def test_failure_pattern_needs_no_attention(several):
    alone = make_page("failure-pattern", where(several, ["attention=none", "context_size=16"]))
    paired = make_page("failure_pattern", where(several, ["context_size=16"]))
    pd.testing.assert_frame_equal(alone.frame, paired.frame)
    assert alone.judged == paired.judged
    assert alone.judged[0].verdict == "held"
    assert "Parameters: none 1,000." in alone.caption


def test_failure_pattern_takes_none_of_several_attentions(tmp_path):
    damage = {(32, arm): [0.1, 0.2, 0.3, 0.4, 0.5] for arm in ("none", "additive", "dot")}
    write_sizes(tmp_path, damage)
    bundle = load_bundle(tmp_path)
    assert "Parameters: none 1,000." in make_page("failure-pattern", bundle).caption
    for name in ("vindication", "context-size"):
        with pytest.raises(UserError, match="choose with `--where attention=none,additive`"):
            make_page(name, bundle)
    chosen = where(bundle, ["attention=none,dot"])
    assert "dot" in make_page("vindication", chosen).title
    with pytest.raises(UserError, match="no run with attention=none; there are add"):
        make_page("compression", where(bundle, ["attention=dot", "attention=additive"]))


@pytest.mark.parametrize("name", ["failure-pattern", "vindication"])
def test_several_sizes_are_named_with_the_way_to_choose(several, name):
    with pytest.raises(UserError) as error:
        make_page(name, several)
    assert str(error.value) == (
        "the results hold several values of context_size (8, 16, 32), this table takes one: "
        "choose with `--where context_size=8`"
    )


def test_a_second_setting_that_varies_is_refused(tmp_path):
    write_sizes(tmp_path / "a", NONE)
    write_sizes(tmp_path / "b", {(8, "none"): [0.1] * 5}, changes={"placement": "output"})
    with pytest.raises(UserError, match=r"several values of placement \(input, output\)"):
        make_page("compression", merged(tmp_path))


def test_the_hidden_size_may_follow_the_context_but_not_vary_within_one(tmp_path):
    write_sizes(tmp_path / "a", NONE)
    bundle = load_bundle(tmp_path / "a")
    assert any("hidden 8 / 16 / 32" in line for line in make_page("compression", bundle).caption)
    write_sizes(tmp_path / "b", {(8, "none"): [0.1] * 5}, seeds=2, changes={"hidden_size": 9})
    with pytest.raises(UserError, match=r"several values of hidden_size \(8, 9, 16, 32\)"):
        make_page("compression", merged(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compression", "context-size"])
def test_a_hidden_size_that_varies_beside_the_context_is_refused(tmp_path, name):
    """A curve over context sizes is not to be one over other sizes as well (C1)."""
    for size, hidden in ((8, 32), (16, 16), (32, 4)):
        for arm in ("none", "additive"):
            settings = planted_settings(
                arm, model={"context_size": size, "hidden_size": hidden, "attention_size": 8}
            )
            texts = translations(sentences(), NONE[size, "none"], [1])
            write_run(tmp_path, f"{arm}{size}", settings, texts, sentences())
    with pytest.raises(UserError) as error:
        make_page(name, load_bundle(tmp_path))
    assert str(error.value) == (
        "the results hold several values of hidden_size (4, 16, 32), this table takes one: "
        "choose with `--where hidden_size=4`"
    )
    assert len(make_page(name, where(load_bundle(tmp_path), ["hidden_size=16"])).frame) == 5


def test_two_runs_of_one_seed_are_refused_with_their_difference(tmp_path):
    write_sizes(tmp_path / "a", {(8, "additive"): [0.1] * 5, (8, "none"): [0.1] * 5})
    other = {(8, "none"): [0.2] * 5}
    write_sizes(tmp_path / "b", other, changes={"attention_size": 5})
    message = r"several values of attention_size \(5, 8\).*--where attention_size=8"
    with pytest.raises(UserError, match=message):
        make_page("vindication", merged(tmp_path))


def test_other_test_sentences_are_refused(tmp_path):
    arms = {"none": [0.1] * 5}
    write_planted(tmp_path / "a", arms, seeds=1)
    write_sizes(tmp_path / "b", {(64, "none"): [0.1] * 5})
    bundle = merged(tmp_path)
    longer = replace(held := bundle.sentences["none64s1"], words=held.words + 1)
    bundle = replace(bundle, sentences=bundle.sentences | {"none64s1": longer})
    with pytest.raises(UserError, match="tested on different sentences"):
        make_page("compression", bundle)


def merged(folder):
    """The bundles in folders a and b as one, b's runs renamed where a has the same name."""
    one, other = (load_bundle(folder / name) for name in "ab")
    names = {
        run: run if run not in set(one.runs["run"]) else f"{run}b" for run in other.runs["run"]
    }
    runs = pd.concat([one.runs, other.runs.assign(run=other.runs["run"].map(names))])
    sentences = one.sentences | {names[run]: held for run, held in other.sentences.items()}
    renamed = {names[run]: facts for run, facts in other.environment["runs"].items()}
    return type(one)(folder, runs, sentences, {"runs": one.environment["runs"] | renamed})


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", TABLES[2:4])
def test_tables_fit_the_terminal(several, name, width):
    held = io.StringIO()
    page = make_page(name, several)
    Console(file=held, width=width).print(page.table)
    lines = held.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert "…" not in held.getvalue()
    column = "bleu" if name == "compression" else "bleu_none"
    row = page.frame.iloc[0]
    for value in (row[column], row[f"{column}_low"], row[f"{column}_high"]):
        assert f"{value:.1f}" in held.getvalue()


@pytest.mark.parametrize("name", TABLES[2:4])
def test_the_widest_numbers_fit_80_columns_too(several, name):
    wide = {"n": 1200, "numbers": 5000.0, "compression_ratio": 156.3, "source_words": 50.0}
    frame = make_page(name, several).frame
    frame = frame.assign(**{key: wide[key] for key in wide if key in frame})
    scores = [column for column in frame if column.startswith(("bleu", "gain"))]
    frame[scores] = 100.0
    two = name == "context-size"
    table = context_size_table(frame, "scaled-dot") if two else compression_table(frame)
    held = io.StringIO()
    Console(file=held, width=80).print(table)
    assert "…" not in held.getvalue()
    ranges = held.getvalue().count("100.0..100.0")
    assert ranges == len(frame) * len([1 for column in scores if column.endswith("_low")])


def test_where_takes_columns_settings_lists_and_alternatives(several):
    def sizes(*conditions):
        return sorted(set(where(several, conditions).runs["context_size"]))

    assert sizes() == [8, 16, 32]
    assert sizes("context_size=8, 32") == sizes("context_size=8", "context_size=32") == [8, 32]
    assert sizes("model.context_size = 16") == [16]
    kept = where(several, ["attention=none", "seed=2", "bidirectional=false"])
    names = {"none8s2", "none16s2", "none32s2"}
    assert set(kept.runs["run"]) == set(kept.sentences) == names
    assert set(kept.environment["runs"]) == names
    assert kept.environment["schema"] == several.environment["schema"]


def test_where_takes_a_group_whose_name_has_a_comma(several):
    grouped = several.runs.assign(group="zero, s_0")
    bundle = type(several)(several.folder, grouped, several.sentences, several.environment)
    assert len(where(bundle, ["group=zero, s_0"]).runs) == len(grouped)


def test_where_takes_the_group_that_was_named_and_none_whose_name_is_in_it(several):
    names = {"none8s2": "a", "none16s2": "a, b", "none32s2": "b"}
    runs = several.runs[several.runs["run"].isin(names)]
    bundle = replace(several, runs=runs.assign(group=runs["run"].map(names)))
    for name, group in names.items():
        assert set(where(bundle, [f"group={group}"]).runs["run"]) == {name}
    assert set(where(bundle, ["group=a, b", "group=a"]).runs["run"]) == {"none8s2", "none16s2"}
    assert set(where(bundle, ["group=b,a"]).runs["run"]) == {"none8s2", "none32s2"}
    with pytest.raises(UserError, match="no run with group=c; there are a, 'a, b', b"):
        where(bundle, ["group=c"])


def test_where_takes_a_blank_text_as_none(several):
    assert len(where(several, ["test_set=none"]).runs) == len(several.runs)
    with pytest.raises(UserError, match="no run with test_set=wmt14; there are none"):
        where(several, ["test_set=wmt14"])
    assert set(where(several, ["attention=none"]).runs["attention"]) == {"none"}


def test_where_takes_edges_which_hold_commas(several):
    assert len(where(several, ["edges=5,11,21,31,41"]).runs) == len(several.runs)


def test_where_lets_a_value_be_of_a_run_that_is_not_done(several):
    begun = {"run9": {"status": "running", "reason": "", "group": "", "settings": None}}
    settings = several.environment["runs"]["none8s2"]["settings"]
    begun["run9"]["settings"] = settings | {"training": settings["training"] | {"seed": 9}}
    held = replace(several, environment=dict(several.environment) | {"unfinished": begun})
    chosen = where(held, ["seed=2,9"])
    assert set(chosen.runs["seed"]) == {2}
    assert set(chosen.environment["unfinished"]) == {"run9"}
    with pytest.raises(UserError, match="no run with seed=8"):
        where(held, ["seed=2,8,9"])


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ("contxt_size=8", UsageError, "did you mean 'context_size'"),
        ("bleu=3", UsageError, "unknown column 'bleu'"),
        ("context_size", UsageError, "write column=value"),
        ("context_size=8,,16", UsageError, "'context_size=8,,16': write column=value"),
        ("context_size=small", UsageError, "context_size is a number"),
        ("bidirectional=perhaps", UsageError, "bidirectional is true or false"),
        ("context_size=64", UserError, "no run with context_size=64; there are 8, 16, 32"),
        ("context_size=8, 64", UserError, "no run with context_size=64; there are 8, 16, 32"),
        ("attention=none,nope", UserError, "no run with attention=nope; there are"),
        ("bidirectional=true", UserError, "there are false"),
        ("teacher_forcing=0.5", UserError, "there are 1"),
    ],
)
def test_where_says_what_is_wrong(several, condition, error, message):
    with pytest.raises(UserError, match=message) as caught:
        where(several, [condition])
    assert type(caught.value) is error
