"""C2: curves and growth by hand, planted runs, the rule, the tables, a real run."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from listed import relist, write_relisted
from planted_pages import REFERENCE, printed_words, row_of
from planted_pages import frame as table_of

from seq2seq_bottleneck.corpus.vocabulary import is_word, tokenize
from seq2seq_bottleneck.questions.capacity import QUESTION, points_of
from seq2seq_bottleneck.questions.censored import Censored, censor, change, growth, last_lengths
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.results.folders import ENVIRONMENT, HYPOTHESES, TEXT_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

INF, NAN = math.inf, math.nan


def last(at, survival, *shares):
    """The length of each share of one curve whose points have a hundred words."""
    rows, words = np.array([survival], np.float64), np.full(len(at), 100.0)
    return [float(length[0]) for length in last_lengths(np.array(at, float), rows, words, shares)]


@pytest.mark.parametrize(
    ("at", "survival", "share", "expected"),
    [
        ([5, 10, 20], [1.0, 0.99, 0.95], 0.9, INF),
        ([5, 10, 20], [0.4, 0.2, 0.1], 0.5, -INF),
        ([5, 10, 20], [1.0, 0.5, 0.0], 0.5, 10.0),
        ([5, 10, 20], [1.0, 0.5, 0.0], 0.25, 15.0),
        ([5, 6, 7, 8, 9, 10], [1.0] * 3 + [0.8 - 1e-16] * 3, 0.8, INF),  # less by a rounding
        ([5, 10, 15, 20], [1.0, 0.6, 0.8, 0.2], 0.5, 17.0),  # a rise is pooled: 1, .7, .7, .2
        ([7], [0.6], 0.5, INF),  # of a single point there are bounds
        ([7], [0.4], 0.5, -INF),
    ],
)
def test_a_length_is_the_last_at_the_share_or_a_bound(at, survival, share, expected):
    assert last(at, survival, share) == [pytest.approx(expected)]


def test_a_logistic_curve_crosses_where_its_formula_says():
    at, centre, scale = np.arange(2, 70), 33.0, 6.0
    half, most = last(at, 1 / (1 + np.exp((at - centre) / scale)), 0.5, 0.9)
    assert half == pytest.approx(centre, abs=0.02)
    assert most == pytest.approx(centre - scale * np.log(9), abs=0.05)


def test_values_outside_are_infinite_and_those_on_the_edge_are_not():
    values = np.array([1.0, 2.0, 3.0, 9.0, 9.5, INF, NAN])
    expected = [-INF, 2.0, 3.0, 9.0, INF, INF, NAN]
    assert censor(values, 2.0, 9.0) == pytest.approx(expected, nan_ok=True)


@given(arrays(np.float64, 7, elements=st.floats(0.0, 1.0)))
@example(np.array([5e-324, *[0.0] * 6]))  # a fall that nothing can be divided by
def test_a_higher_share_never_lasts_longer(survival):
    lengths = last([3, 5, 8, 13, 21, 34, 55], survival, 0.9, 0.7, 0.5, 0.2)
    assert lengths == sorted(lengths)


def censored(value, *draws):
    return Censored(value, np.array(draws or [value] * 20, np.float64), 2.0, 40.0)


@pytest.mark.parametrize(
    ("draws", "ends"),
    [
        (np.arange(101.0), (2.0, 98.0)),
        (np.r_[np.full(11, INF), np.arange(90.0)], (2.0, INF)),
        (np.array([5.0, NAN]), (NAN, NAN)),
    ],
)
def test_interval_ends_are_draws_or_beyond_the_range_or_undefined(draws, ends):
    interval = censored(30.0, *draws).interval
    assert (interval.low, interval.high) == pytest.approx(ends, nan_ok=True)


def test_growth_is_the_exponent_names_what_is_censored_and_needs_two_sizes():
    by_size = {size: censored(size**0.7) for size in (16, 32, 64, 128)}
    row = growth(by_size | {512: censored(INF), 8: censored(-INF)})
    assert [row[end] for end in ENDS] == pytest.approx([0.7] * 3)
    assert (row["n"], row["note"]) == (4, "censored: 8, 512")
    assert math.isnan(growth({16: censored(4.0), 32: censored(INF)})["value"])
    row = growth({16: censored(4.0, 4.0, 4.0), 32: censored(8.0, -INF, INF)})
    between = np.quantile(np.log2([2 / 4, 40 / 4]), [0.025, 0.975])
    assert [row["low"], row["high"]] == pytest.approx(between)


@pytest.mark.parametrize(
    ("once", "twice", "expected", "note"),
    [
        ((10.0, 9.0, 11.0), (14.0, 13.5, 14.5), (4.0, 3.5, 4.5), ""),
        # Beyond the longest: at least so much, the upper end open.
        ((10.0, 9.0, 11.0), (INF, INF, INF), (30.0, 29.0, NAN), "value at least"),
        # Once under the shortest: between none and 2 words then.
        ((-INF, -INF, -INF), (5.0, 5.0, 6.0), (3.0, 3.0, 6.0), "value at least"),
        # Both on one side: nothing is known of the value.
        ((INF, INF, 39.0), (INF, INF, INF), (NAN, NAN, NAN), ""),
        # One resample of the doubled is beyond: the interval is open above, the value known.
        ((10.0, 10.0, 10.0), (38.0, 37.0, INF), (28.0, 27.0, NAN), ""),
    ],
)
def test_a_change_says_what_censored_lengths_allow(once, twice, expected, note):
    row = change(censored(*once), censored(*twice))
    assert [row[end] for end in ENDS] == pytest.approx(expected, nan_ok=True)
    assert row["note"] == note


@pytest.mark.parametrize(
    ("counts", "points"),
    [
        # 2 and 3 make 20; 5 has 25; 9 alone would have 19 and takes 30 along.
        ({3: 12, 2: 8, 5: 25, 9: 19, 30: 19}, {2: 0, 3: 0, 5: 1, 9: 2, 30: 2}),
        ({2: 25, 3: 25, 4: 5}, {2: 0, 3: 1, 4: 1}),
        ({4: 1, 5: 1, 6: 1}, {4: 0, 5: 0, 6: 0}),
    ],
)
def test_neighbouring_lengths_are_taken_together_until_they_are_enough(counts, points):
    words = np.repeat(list(counts), list(counts.values()))
    assert points_of(words).tolist() == [points[length] for length in words.tolist()]


LENGTHS = np.repeat(np.arange(2.0, 41.0), 20)
CHANCE = 0.2


def planted(size, updates=100, seed=1, half=10.0, corpus="copy", **model):
    """A run whose words survive as a straight line says: 1 at 0 words, .5 at ``half``."""
    curve = np.clip(1 - LENGTHS / (2 * half), 0.0, 1.0)
    columns = {
        "source_words": LENGTHS,
        "point": LENGTHS - 2,
        "kept": LENGTHS * (CHANCE + (1 - CHANCE) * curve),
        "kept_by_chance": CHANCE * LENGTHS,
        "words": LENGTHS,
        "in_place": LENGTHS * curve,
        "in_place_by_chance": 0.0 * LENGTHS,
        "tokens": LENGTHS,
    }
    settings = resolve("capacity", [f"corpus.name={corpus}", "scoring.resamples=50"]).changed(
        model={"context_size": size} | model, training={"updates": updates, "seed": seed}
    )
    return Probed(Path(f"{corpus}-{size}-{updates}-{seed}"), settings, columns)


def summed(*runs, seed=None):
    """Rows of all lengths by context size, updates, measure and part."""
    return {
        (row["context_size"], row["updates"], row["measure"], row.get("part", "")): row
        for row in QUESTION.summarise(runs)
        if row.get("seed") == seed and not row.get("bucket")
    }


def test_the_length_is_where_the_share_beyond_chance_crosses():
    rows = summed(planted(16))
    for measure in ("length", "length_in_place"):
        row = rows[16, 100, measure, "50 %"]
        assert [row[end] for end in ENDS] == pytest.approx([10] * 3)
        assert (row["n"], row["note"]) == (len(LENGTHS), "")
    # Straight from 1 at no words: .9 is at a fifth of where .5 is, on a tested length.
    assert rows[16, 100, "length", "90 %"]["value"] == pytest.approx(2.0)
    assert not any(measure == "growth" for *_, measure, _ in rows)


def test_seeds_are_averaged_and_listed():
    runs = [planted(16, seed=1, half=6.0), planted(16, seed=2, half=25.0)]
    # Mean survival 1 - n (1/12 + 1/50) / 2 up to 12 words, where the first has none left.
    expected = 0.5 / ((1 / 12 + 1 / 50) / 2)
    assert summed(*runs)[16, 100, "length", "50 %"]["value"] == pytest.approx(expected)
    alone = [summed(*runs, seed=seed)[16, 100, "length", "90 %"] for seed in (1, 2)]
    assert [row["value"] for row in alone] == pytest.approx([2.0, 5.0])
    assert [row["note"] for row in alone] == ["value under", ""]


@pytest.mark.slow
def test_growth_is_the_planted_power_and_a_censored_size_is_named():
    # Half survive at 2, 4, 8 words per 16, 32, 64 numbers: exponent 1; at 256 beyond the lengths.
    rows = summed(*(planted(size, half=size / 4) for size in (16, 32, 64, 256)))
    row = rows[None, 100, "growth", "50 %"]
    assert (row["value"], row["n"]) == (pytest.approx(1.0), 3)
    assert row["note"] == "censored: 256"
    assert rows[None, 100, "growth_in_place", "50 %"]["value"] == pytest.approx(1.0)
    beyond = rows[256, 100, "length", "50 %"]
    assert (beyond["value"], beyond["high"], beyond["note"]) == (40, 40, BEYOND)
    # At 90 % two sizes stay: .9 is at .2 of the length, 2 words at the least of the tested.
    assert "16" in rows[None, 100, "growth", "90 %"]["note"]
    assert rows[16, 100, "length", "90 %"]["note"].startswith("value under")


@pytest.mark.slow
def test_twice_the_training_is_compared_by_its_updates_within_corpus_and_attention():
    runs = [planted(16, 100, half=8.0), planted(16, 200, half=11.0), planted(32, 150, half=9.0)]
    rows = summed(*runs)
    row = rows[16, 200, "added", "50 %"]
    assert [row[end] for end in ENDS] == pytest.approx([3] * 3)
    assert rows[16, 200, "added_in_place", "50 %"]["value"] == pytest.approx(3)
    assert {key[:2] for key in rows if key[2] == "added"} == {(16, 200)}
    others = [planted(16, 200, corpus="grammar"), planted(16, 200, attention="additive")]
    rows = QUESTION.summarise([runs[0], *others])
    assert not any(row["measure"] == "added" for row in rows)
    in_place_rows = [row for row in rows if row["measure"] == "length_in_place"]
    assert {row["corpus"] for row in in_place_rows} == {"copy"}


@pytest.mark.parametrize("size", [16, 32])
def test_runs_that_differ_in_more_are_refused(size):
    other = planted(size, hidden_size=600, dropout=0.1)
    with pytest.raises(UserError, match=r"differ in model.hidden_size, model.dropout, .*--where"):
        QUESTION.summarise([planted(16), other])


def test_a_test_set_of_one_point_is_refused():
    run = planted(16)
    few = {name: column[:39] for name, column in run.found.items()}
    one_point = Probed(run.folder, run.settings, few | {"point": np.zeros(39)})
    with pytest.raises(UserError, match="the 39 test sentences of the copy runs do not make two"):
        QUESTION.summarise([one_point])


ENDS = ("value", "low", "high")
BEYOND = "value at least, low at least, high at least"
ADDED, GROWTH = ("added", "50 %", 3200), ("growth", "50 %", 1600)
HALF, MOST = ("length", "50 %", 1600), ("length", "90 %", 3200)
FINE = {
    ("length", "90 %", 1600): (7.4, 7.0, 7.8, ""),
    HALF: (20.0, 19.0, 21.0, ""),
    MOST: (7.9, 7.5, 8.3, ""),
    ("length", "50 %", 3200): (20.5, 20.0, 21.0, ""),
    ADDED: (0.5, -0.5, 1.5, ""),
    GROWTH: (0.4, 0.3, 0.5, ""),
}


def frame(changes=None, corpus="copy", size=256, attention="none", left_out=""):
    """A study's table of one corpus in which all is well, but for ``changes``."""
    rows = []
    for (measure, part, updates), numbers in (FINE | (changes or {})).items():
        if measure != left_out:
            keys = dict(zip((*ENDS, "note"), numbers, strict=True))
            keys |= {"part": part, "updates": updates, "corpus": corpus, "attention": attention}
            keys["context_size"] = None if measure == "growth" else size
            arm = f"{attention} {corpus} {keys['context_size']} {updates}"
            rows.append(row_of(arm, measure, **keys))
    return table_of(rows)


def verdict_of(table):
    (verdict,) = QUESTION.verdict(table)
    return verdict


OTHER = frame({ADDED: (5.0, 4.0, 6.0, "")}, corpus="grammar")
"""Not copied words, and twice the updates change much."""


@pytest.mark.parametrize(
    ("table", "expected", "words"),
    [
        (frame(), "held", "half of which survive in 256 numbers"),
        (frame({ADDED: (0.5, 0.1, 1.99, "")}), "held", ""),
        (frame({ADDED: (0.5, -0.5, 2.01, "")}), "partly", ""),
        (frame({ADDED: (1.99, 0.1, 4.0, "")}), "partly", ""),
        (frame({ADDED: (2.0, 0.1, 4.0, "")}), "not held", ""),
        (frame({ADDED: (20.0, 19.0, NAN, "value at least")}), "not held", ""),
        (frame({GROWTH: (0.1, 0.001, 0.2, "")}), "held", ""),
        (frame({GROWTH: (0.1, -0.001, 0.2, "")}), "not held", ""),
        # Copied words in a context of 256 are judged, else what there is.
        (pd.concat([OTHER, frame()]), "held", "updates change that by +5.0 [+4.0, +6.0]"),
        (OTHER, "not held", "updates change that by +5.0 [+4.0, +6.0]"),
        (pd.concat([frame(size=size) for size in (16, 512, 256)]), "held", "in 256 numbers"),
        (None, "not measured", "`bottleneck study capacity`"),
        (frame(attention="additive"), "not measured", "no run without attention"),
        (frame(left_out="added"), "not measured", "no run was trained twice as long"),
        (frame(left_out="growth"), "not measured", "fewer than two context sizes"),
        (frame({HALF: (40.0, 40.0, 40.0, BEYOND)}), "not measured", "beyond the tested ones"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(table, expected, words):
    verdict = verdict_of(table)
    assert (verdict.claim, verdict.verdict) == ("C2", expected)
    assert words in f"{verdict.measure}; {verdict.because}"
    known = (None,) * 3 if expected == "not measured" else (20.0, 19.0, 21.0)
    assert (verdict.value, verdict.low, verdict.high) == known


@pytest.mark.parametrize(
    ("half", "number", "text"),
    [
        ((12.0, 5.0, 15.0, "low under"), (12.0, None, 15.0), "up to 12.0 [under 5.0, 15.0] words"),
        (
            (5.3, 5.3, 5.3, "value under, low under, high under"),
            (None, None, None),
            "in sentences of under 5.3 words",
        ),
        ((40.0, 40.0, 40.0, BEYOND), (None, None, None), "in sentences of at least 40.0 words"),
    ],
)
def test_a_bound_is_no_number_of_the_verdict_and_is_called_one(half, number, text):
    verdict = verdict_of(frame({HALF: half}))
    assert (verdict.value, verdict.low, verdict.high) == number
    assert text in verdict.because


def test_the_reason_says_where_90_per_cent_survive():
    most = {MOST: (40.0, 39.9, 40.0, "value at least, high at least")}
    because = verdict_of(frame(most)).because
    assert "of up to 7.4 [7.0, 7.8] words after 1,600 updates, of at least 40.0 [39.9," in because


def test_a_row_a_context_in_each_corpus_with_what_training_adds():
    page = QUESTION.page(QUESTION.load(REFERENCE / "capacity"))
    lines = printed_words(page)
    assert [line[3:] for line in lines if line[2:4] == ["2,400", "256"]] == [
        ["256", "2,400", "<2.0", "12.2", "7.3"],
        ["256", "2,400", "28.6", ">60.0", ">5.1"],
        ["256", "2,400", "6.5", "12.5", "2.8"],
    ]
    assert ["27.9..30.0", "3.6.."] in lines
    assert set(page.frame["context_size"].dropna()) == {16, 32, 64, 128, 256, 512}


@pytest.mark.slow
def test_a_real_run_is_probed_and_summed_up(subject, tmp_path):
    columns = QUESTION.probe(subject, lambda _: None)
    pairs = subject.corpus.test
    assert columns["source_words"].tolist() == [pair.words for pair in pairs]
    assert (columns["kept"] <= columns["words"]).all()
    sources = [tokenize(pair.source) for pair in pairs]
    assert columns["words"].tolist() == [sum(map(is_word, source)) for source in sources]
    assert not np.isnan(columns["kept_by_chance"]).any()
    keep(tmp_path, QUESTION, columns)
    rows = QUESTION.summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    lengths = [row for row in rows if row["measure"] == "length" and "seed" not in row]
    # Hardly trained: even the shortest sentences' words do not survive.
    assert [row["note"].split(",")[0] for row in lengths] == ["value under"] * 2


@pytest.mark.slow
def test_perfect_outputs_keep_every_word_and_are_not_the_others(subject, tmp_path):
    shutil.copy(subject.folder / ENVIRONMENT, tmp_path)
    texts = [(pair.source, pair.target, pair.target) for pair in subject.corpus.test]
    lines = [json.dumps(dict(zip(TEXT_COLUMNS, item, strict=True))) + "\n" for item in texts]
    write_relisted(tmp_path / HYPOTHESES, "".join(lines))
    relist(tmp_path / ENVIRONMENT)
    columns = QUESTION.probe(Subject(tmp_path, subject.trained), lambda _: None)
    assert columns["kept"] == pytest.approx(columns["words"])
    assert columns["in_place"].tolist() == columns["tokens"]
    assert 0 < columns["kept_by_chance"].sum() < 0.6 * columns["words"].sum()
