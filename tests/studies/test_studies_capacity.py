"""Capacity: planted curves through the summing up, censored changes, and a real run measured."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted

from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.probes.censored import Censored
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.subject import open_subject, source_words
from seq2seq_bottleneck.questions.word_survival import is_word
from seq2seq_bottleneck.results.columns import setting_columns
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.folders import ENVIRONMENT, HYPOTHESES
from seq2seq_bottleneck.results.outputs import COLUMNS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies.capacity import STUDY, in_place, points_of, probe, summarise
from seq2seq_bottleneck.studies.capacity_rows import change
from seq2seq_bottleneck.tables.selection import meeting

LENGTHS = np.repeat(np.arange(2, 41), 20)
CHANCE = 0.2


def _probed(folder, size, updates=100, seed=1, half=10.0, corpus="copy", **model):
    """A run whose words survive as a straight line says: 1 at 0 words, .5 at ``half``."""
    curve = np.clip(1 - LENGTHS / (2 * half), 0.0, 1.0)
    columns = {
        "source_words": LENGTHS,
        "point": LENGTHS - 2,
        "bits": 7.0 * LENGTHS + 5.3,
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
    run = folder / f"{corpus}-{size}-{updates}-{seed}"
    keep(run, STUDY, columns)
    return read_kept(run, settings, STUDY)


def _held(rows, seed=None):
    """Rows by context size, updates, measure and part."""
    return {
        (row["context_size"], row["updates"], row["measure"], row.get("part", "")): row
        for row in rows
        if row.get("seed") == seed and not row.get("bucket")
    }


def test_the_length_is_where_the_share_beyond_chance_crosses(tmp_path):
    held = _held(summarise([_probed(tmp_path, 16, half=10.0)]))
    for measure in ("length", "length_in_place"):
        row = held[16, 100, measure, "50 %"]
        assert (row["value"], row["low"], row["high"]) == pytest.approx((10, 10, 10))
        assert (row["n"], row["note"]) == (len(LENGTHS), "")
    # Straight from 1 at no words: .9 is at a fifth of where .5 is, on a tested length.
    assert held[16, 100, "length", "90 %"]["value"] == pytest.approx(2.0)
    # With chance in it, half of the words are there until .2 + .8 s is a half: s = .375.
    assert held[16, 100, "length_uncorrected", "50 %"]["value"] == pytest.approx(12.5)


def test_bits_are_those_of_the_surviving_words_alone(tmp_path):
    held = _held(summarise([_probed(tmp_path, 16, half=10.0)]))
    assert held[16, 100, "bits_a_word", ""]["value"] == pytest.approx(7.0)
    assert held[16, 100, "bits", "50 %"]["value"] == pytest.approx(0.5 * 10 * 7)
    assert held[16, 100, "bits_a_number", "50 %"]["value"] == pytest.approx(35 / 16)


def test_survival_and_chance_are_told_by_length_bucket(tmp_path):
    rows = summarise([_probed(tmp_path, 16, half=10.0)])
    (row,) = [
        each
        for each in rows
        if each.get("bucket") == "6-10" and each["measure"] == "survival" and "seed" not in each
    ]
    lengths = np.arange(6, 11)
    assert row["value"] == pytest.approx((lengths * (1 - lengths / 20)).sum() / lengths.sum())
    chances = [each for each in rows if each["measure"] == "chance"]
    assert [each["value"] for each in chances if each["n"]] == pytest.approx([CHANCE] * 12)
    assert all(np.isnan(each["value"]) for each in chances if not each["n"])


def test_seeds_are_averaged_and_listed(tmp_path):
    rows = summarise(
        [_probed(tmp_path, 16, seed=1, half=6.0), _probed(tmp_path, 16, seed=2, half=12.0)]
    )
    both = _held(rows)[16, 100, "length", "50 %"]["value"]
    # Mean survival 1 - n/16 up to 12 words, where the first has none left.
    assert both == pytest.approx(8.0)
    alone = [_held(rows, seed)[16, 100, "length", "50 %"]["value"] for seed in (1, 2)]
    assert alone == pytest.approx([6.0, 12.0])


@pytest.mark.slow
def test_growth_is_the_planted_power_and_a_censored_size_is_named(tmp_path):
    # Half survive at 2, 4, 8 words per 16, 32, 64 numbers: exponent 1; at 256 beyond the lengths.
    runs = [_probed(tmp_path, size, half=size / 4) for size in (16, 32, 64, 256)]
    held = _held(summarise(runs))
    row = held[None, 100, "growth", "50 %"]
    assert (row["value"], row["n"]) == (pytest.approx(1.0), 3)
    assert row["note"] == "censored: 256"
    assert held[None, 100, "growth_in_place", "50 %"]["value"] == pytest.approx(1.0)
    beyond = held[256, 100, "length", "50 %"]
    assert (beyond["value"], beyond["high"]) == (40, 40)
    assert beyond["note"] == "value at least, low at least, high at least"
    # At 90 % two sizes stay: .9 is at .2 of the length, 2 words at the least of the tested.
    ninety = held[None, 100, "growth", "90 %"]
    assert "16" in ninety["note"]
    assert held[16, 100, "length", "90 %"]["note"].startswith("value under")


def test_one_context_size_has_no_growth(tmp_path):
    assert not any(row["measure"] == "growth" for row in summarise([_probed(tmp_path, 16)]))


@pytest.mark.slow
def test_twice_the_training_stands_beside_by_its_own_updates(tmp_path):
    runs = [
        _probed(tmp_path, 16, updates=100, half=8.0),
        _probed(tmp_path, 16, updates=200, half=11.0),
        _probed(tmp_path, 32, updates=150, half=9.0),
    ]
    held = _held(summarise(runs))
    row = held[16, 200, "added", "50 %"]
    assert (row["value"], row["low"], row["high"]) == pytest.approx((3, 3, 3))
    assert held[16, 200, "added_in_place", "50 %"]["value"] == pytest.approx(3)
    assert {key[:2] for key in held if key[2] == "added"} == {(16, 200)}


@pytest.mark.slow
def test_corpora_and_attention_are_families_of_their_own(tmp_path):
    runs = [
        _probed(tmp_path / "a", 16, updates=100, half=8.0),
        _probed(tmp_path / "b", 16, updates=200, half=9.0, corpus="grammar"),
        _probed(tmp_path / "c", 16, updates=200, half=9.0, attention="additive"),
    ]
    rows = summarise(runs)
    assert not any(row["measure"] == "added" for row in rows)
    in_place_rows = [row for row in rows if row["measure"] == "length_in_place"]
    assert {row["corpus"] for row in in_place_rows} == {"copy"}


def test_runs_that_differ_in_something_else_are_refused_by_its_name(tmp_path):
    runs = [_probed(tmp_path / "a", 16), _probed(tmp_path / "b", 32, embedding_size=50)]
    with pytest.raises(UserError, match=r"embedding_size .*--where model.embedding_size=50"):
        summarise(runs)


@pytest.mark.parametrize(
    "changed",
    [
        {"corpus": {"seed": 2}},
        {"scoring": {"seed": 2}},
        {"corpus": {"train_pairs": 70_000}},
        {"model": {"hidden_size": None}},
        {"model": {"hidden_size": 600}},
        {"corpus": {"train_max_words": 20}},
        {"scoring": {"edges": "2,6,11"}},
        {"model": {"tied_output": True}},
    ],
)
def test_the_condition_that_the_refusal_names_leaves_the_runs_that_have_it(tmp_path, changed):
    one = _probed(tmp_path, 16)
    other = Probed(tmp_path / "other", one.settings.changed(**changed), one.found)
    table = pd.DataFrame([setting_columns(run.settings) for run in (one, other)])
    with pytest.raises(UserError, match="--where") as refused:
        summarise([one, other])
    condition = str(refused.value).partition("--where ")[2].rstrip("`")
    assert len(meeting(table, [condition])) == 1


def test_a_test_set_of_one_point_is_refused_in_words(tmp_path):
    one = _probed(tmp_path, 16)
    few = {name: column[:30] for name, column in one.found.items()} | {"point": np.zeros(30)}
    with pytest.raises(UserError, match=r"30 test sentences of the copy runs.*corpus.test_pairs"):
        summarise([Probed(one.folder, one.settings, few)])


def _censored(value, *draws):
    return Censored(value, np.array(draws, np.float64), 2.0, 40.0)


@pytest.mark.parametrize(
    ("once", "twice", "expected", "note"),
    [
        ((10.0, 9.0, 11.0), (14.0, 13.5, 14.5), (4.0, 3.5, 4.5), ""),
        # Beyond the longest: at least so much, the upper end open.
        ((10.0, 9.0, 11.0), (np.inf, np.inf, np.inf), (30.0, 29.0, np.nan), "value at least"),
        # Once under the shortest: between none and 2 words then.
        ((-np.inf, -np.inf, -np.inf), (5.0, 5.0, 6.0), (3.0, 3.0, 6.0), "value at least"),
        # Both on one side: nothing is known of the value.
        ((np.inf, np.inf, 39.0), (np.inf, np.inf, np.inf), (np.nan, np.nan, np.nan), ""),
        # One resample of the doubled is beyond: the interval is open above, the value known.
        ((10.0, 10.0, 10.0), (38.0, 37.0, np.inf), (28.0, 27.0, np.nan), ""),
    ],
)
def test_a_change_says_what_censored_lengths_allow(once, twice, expected, note):
    found = change(_censored(*once), _censored(*twice))
    assert (found["value"], found["low"], found["high"]) == pytest.approx(expected, nan_ok=True)
    assert found["note"] == note


def test_neighbouring_lengths_are_taken_together_until_they_are_enough():
    words = np.repeat([3, 2, 5, 9, 30], [12, 8, 25, 19, 19])
    points = points_of(words)
    # 2 and 3 make 20; 5 has 25; 9 alone would have 19 and takes 30 along.
    assert dict(zip(words.tolist(), points.tolist(), strict=True)) == {
        2: 0,
        3: 0,
        5: 1,
        9: 2,
        30: 2,
    }
    assert points_of(np.repeat([2, 3, 4], [25, 25, 5])).tolist() == [0] * 25 + [1] * 30
    assert set(points_of(np.array([4, 5, 6]))) == {0}


def test_words_in_place_are_counted_up_to_the_shorter():
    references = [["a", "b", "c"], ["a"]]
    assert in_place(references, [["a", "c", "c", "d"], []]).tolist() == [2.0, 0.0]


@pytest.fixture(scope="module")
def subject(finished):
    """A real run without attention."""
    opened = map(open_subject, finished_runs(finished))
    return next(one for one in opened if one.settings.model.attention == "none")


@pytest.mark.slow
def test_a_real_run_is_probed_and_summed_up(subject, tmp_path):
    columns = probe(subject, lambda _: None)
    words = source_words(subject.corpus.test)
    assert columns["source_words"].tolist() == words.tolist()
    assert (columns["kept"] <= columns["words"]).all()
    sources = [tokenize(pair.source) for pair in subject.corpus.test]
    assert columns["words"].tolist() == [sum(map(is_word, source)) for source in sources]
    assert not np.isnan(columns["kept_by_chance"]).any()
    keep(tmp_path, STUDY, columns)
    rows = summarise([read_kept(tmp_path, subject.settings, STUDY)])
    lengths = [row for row in rows if row["measure"] == "length" and "seed" not in row]
    # Hardly trained: even the shortest sentences' words do not survive.
    assert [row["note"].split(",")[0] for row in lengths] == ["value under"] * 2


@pytest.mark.slow
def test_perfect_outputs_keep_every_word_and_are_not_the_others(subject, tmp_path):
    shutil.copy(subject.folder / ENVIRONMENT, tmp_path)
    texts = [(pair.source, pair.target, pair.target) for pair in subject.corpus.test]
    lines = [json.dumps(dict(zip(COLUMNS, each, strict=True))) + "\n" for each in texts]
    write_relisted(tmp_path / HYPOTHESES, "".join(lines))
    relist(tmp_path / ENVIRONMENT)
    columns = probe(replace(subject, folder=tmp_path), lambda _: None)
    assert columns["kept"] == pytest.approx(columns["words"])
    assert columns["in_place"].tolist() == columns["tokens"]
    assert 0 < columns["kept_by_chance"].sum() < 0.6 * columns["words"].sum()
