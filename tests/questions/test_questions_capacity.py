"""C2: curves and growth by hand, planted runs, the rule, the tables, a real run."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from planted_pages import frame as table_of
from planted_pages import kept_rows, row_of

from seq2seq_bottleneck.corpus.vocabulary import is_word, tokenize
from seq2seq_bottleneck.questions.capacity import QUESTION, change, growth
from seq2seq_bottleneck.questions.censored import Censored
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

INF, NAN = math.inf, math.nan


def censored(value, *draws):
    return Censored(value, np.array(draws or [value] * 20, np.float64), 2.0, 40.0)


def test_growth_is_the_exponent_names_what_is_censored_and_needs_two_sizes():
    by_size = {size: censored(size**0.7) for size in (16, 32, 64, 128)}
    row = growth(by_size | {512: censored(INF), 8: censored(-INF)})
    assert [row[end] for end in ENDS] == pytest.approx([0.7] * 3)
    assert (row["n"], row["note"]) == (4, "censored: 8, 512")
    assert math.isnan(growth({16: censored(4.0), 32: censored(INF)})["value"])


@pytest.mark.parametrize(
    ("once", "twice", "expected", "note"),
    [
        ((10.0, 9.0, 11.0), (14.0, 13.5, 14.5), (4.0, 3.5, 4.5), ""),
        # Beyond the longest: a lower bound, the upper end is open.
        ((10.0, 9.0, 11.0), (INF, INF, INF), (30.0, 29.0, NAN), "value at least"),
        # Both beyond the same end: the value is unknown.
        ((INF, INF, 39.0), (INF, INF, INF), (NAN, NAN, NAN), ""),
    ],
)
def test_a_change_says_what_censored_lengths_allow(once, twice, expected, note):
    row = change(censored(*once), censored(*twice))
    assert [row[end] for end in ENDS] == pytest.approx(expected, nan_ok=True)
    assert row["note"] == note


def test_neighbouring_lengths_are_taken_together_until_they_are_enough(monkeypatch):
    words = np.repeat([2, 3, 5, 9, 30], [8, 12, 25, 19, 19])
    pairs = [SimpleNamespace(words=count) for count in words]
    word = pd.DataFrame({"sentence": [0], "survived": [1.0], "by_chance": [0.5]})
    monkeypatch.setattr("seq2seq_bottleneck.questions.capacity.source_words", lambda *_: word)
    found = QUESTION.probe(SimpleNamespace(tell=str, corpus=SimpleNamespace(test=pairs)))
    assert found["point"].tolist() == np.repeat([0, 1, 2], [20, 25, 38]).tolist()


LENGTHS = np.repeat(np.arange(2.0, 41.0), 20)
CHANCE = 0.2


def planted(size, updates=100, seed=1, half=10.0, corpus="copy", **model):
    """A run in which the share of surviving words falls linearly: 1 at 0 words, .5 at ``half``."""
    curve = np.clip(1 - LENGTHS / (2 * half), 0.0, 1.0)
    columns = {
        "source_words": LENGTHS,
        "point": LENGTHS - 2,
        "kept": LENGTHS * (CHANCE + (1 - CHANCE) * curve),
        "kept_by_chance": CHANCE * LENGTHS,
        "words": LENGTHS,
    }
    settings = resolve("capacity", [f"corpus.name={corpus}", "scoring.resamples=50"]).changed(
        model={"context_size": size} | model, training={"updates": updates, "seed": seed}
    )
    return Probed(Path(f"{corpus}-{size}-{updates}-{seed}"), settings, columns)


def summed(*runs, seed=None):
    """The summary's rows by context size, updates, measure and part."""
    return {
        (row["context_size"], row["updates"], row["measure"], row.get("part", "")): row
        for row in QUESTION.summarise(runs)
        if row.get("seed") == seed and not row.get("bucket")
    }


@pytest.mark.parametrize(
    ("at", "survival", "part", "value", "note"),
    [
        ([5, 10, 20], [1.0, 0.99, 0.95], "90 %", 20.0, "value at least"),
        ([5, 10, 20], [0.4, 0.2, 0.1], "50 %", 5.0, "value under"),
        ([5, 10, 20], [1.0, 0.6, 0.1], "50 %", 12.0, ""),
        ([5, 10, 15, 20], [1.0, 0.6, 0.8, 0.2], "50 %", 17.0, ""),  # a rise is pooled: 1, .7, .7
    ],
)
def test_a_length_is_the_last_at_the_share_or_a_bound(at, survival, part, value, note):
    run, lengths = planted(16), np.repeat(np.array(at, float), 20)
    columns = {"source_words": lengths, "point": lengths, "words": 0 * lengths + 1}
    columns |= {"kept": np.repeat(survival, 20), "kept_by_chance": 0 * lengths}
    row = summed(replace(run, found=columns))[16, 100, "length", part]
    assert (row["value"], row["note"].split(",")[0]) == (pytest.approx(value), note)


def test_the_length_is_where_the_share_beyond_chance_crosses():
    rows = summed(planted(16))
    row = rows[16, 100, "length", "50 %"]
    assert [row[end] for end in ENDS] == pytest.approx([10] * 3)
    assert (row["n"], row["note"]) == (len(LENGTHS), "")
    # A line from 1 at 0 words: .9 is at a fifth of the length of .5, a tested length.
    assert rows[16, 100, "length", "90 %"]["value"] == pytest.approx(2.0)
    assert not any(measure == "growth" for *_, measure, _ in rows)


@pytest.mark.slow
def test_twice_the_training_is_compared_by_its_updates_within_corpus_and_attention():
    runs = [planted(16, 100, half=8.0), planted(16, 200, half=11.0), planted(32, 150, half=9.0)]
    rows = summed(*runs)
    row = rows[16, 200, "added", "50 %"]
    assert [row[end] for end in ENDS] == pytest.approx([3] * 3)
    assert {key[:2] for key in rows if key[2] == "added"} == {(16, 200)}
    others = [planted(16, 200, corpus="grammar"), planted(16, 200, attention="additive")]
    rows = QUESTION.summarise([runs[0], *others])
    assert not any(row["measure"] == "added" for row in rows)


def test_runs_that_differ_in_more_are_refused():
    other = planted(16, hidden_size=600, dropout=0.1)
    with pytest.raises(UserError, match=r"differ in model.dropout, model.hidden_size, .*--where"):
        QUESTION.summarise([planted(16), other])


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
    """A study's table of one corpus that meets the rule, except for ``changes``."""
    rows = []
    for (measure, part, updates), numbers in (FINE | (changes or {})).items():
        if measure != left_out:
            keys = dict(zip((*ENDS, "note"), numbers, strict=True))
            keys |= {"part": part, "updates": updates, "corpus": corpus, "attention": attention}
            keys["context_size"] = None if measure == "growth" else size
            arm = f"{attention} {corpus} {keys['context_size']} {updates}"
            rows.append(row_of(arm, measure, **keys))
    return table_of(rows)


OTHER = frame({ADDED: (5.0, 4.0, 6.0, "")}, corpus="grammar")
"""A different corpus than copy; twice the updates change much."""


@pytest.mark.parametrize(
    ("table", "expected", "words"),
    [
        (frame(), "held", "half of which survive in 256 numbers"),
        (frame({ADDED: (0.5, -0.5, 2.01, "")}), "partly", ""),
        (frame({ADDED: (2.0, 0.1, 4.0, "")}), "not held", ""),
        (frame({GROWTH: (0.1, -0.001, 0.2, "")}), "not held", ""),
        # Copied words in a context of 256 are judged, or else what there is.
        (pd.concat([OTHER, frame()]), "held", "words of copy, half of which"),
        (OTHER, "not held", "updates change that by +5.0 [+4.0, +6.0]"),
        (pd.concat([frame(size=size) for size in (16, 512, 256)]), "held", "in 256 numbers"),
        (frame(attention="additive"), "not measured", "no run without attention"),
        (frame(left_out="added"), "not measured", "no run was trained twice as long"),
        (frame({HALF: (40.0, 40.0, 40.0, BEYOND)}), "not measured", "beyond the tested ones"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(table, expected, words):
    (verdict,) = QUESTION.verdict(table)
    assert (verdict.claim, verdict.verdict) == ("C2", expected)
    assert words in f"{verdict.measure}; {verdict.because}"
    known = (None,) * 3 if expected == "not measured" else (20.0, 19.0, 21.0)
    assert (verdict.value, verdict.low, verdict.high) == known


@pytest.mark.slow
def test_a_real_run_is_probed_and_summed_up(subject, tmp_path):
    columns = QUESTION.probe(subject)
    pairs = subject.corpus.test
    assert columns["source_words"].tolist() == [pair.words for pair in pairs]
    assert (columns["kept"] <= columns["words"]).all()
    sources = [tokenize(pair.source) for pair in pairs]
    assert columns["words"].tolist() == [sum(map(is_word, source)) for source in sources]
    assert not np.isnan(columns["kept_by_chance"]).any()
    rows = kept_rows(QUESTION, tmp_path, subject.settings, columns)
    lengths = [row for row in rows if row["measure"] == "length" and "seed" not in row]
    # Hardly trained: even the shortest sentences' words do not survive.
    assert [row["note"].split(",")[0] for row in lengths] == ["value under"] * 2
