"""C2 at its thresholds, from a planted table of the study; the answer never says "no more"."""

import math

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.capacity import (
    CAPACITY_RULE,
    answer,
    read_capacities,
    verdict,
)
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

FINE = {
    ("length", "90 %", 1600): (7.4, 7.0, 7.8, ""),
    ("length", "50 %", 1600): (20.0, 19.0, 21.0, ""),
    ("length", "90 %", 3200): (7.9, 7.5, 8.3, ""),
    ("length", "50 %", 3200): (20.5, 20.0, 21.0, ""),
    ("added", "50 %", 3200): (0.5, -0.5, 1.5, ""),
    ("growth", "50 %", 1600): (0.4, 0.3, 0.5, ""),
}
BEYOND = "value at least, low at least, high at least"


def frame(changes=None, corpus="copy", size=256, attention="none", left_out=()):
    """A study's table of one corpus in which all is well, but for ``changes``."""
    rows = []
    for (measure, part, updates), numbers in (FINE | (changes or {})).items():
        if measure in left_out:
            continue
        row = dict(zip(("value", "low", "high", "note"), numbers, strict=True))
        row |= {"measure": measure, "part": part, "updates": updates, "n": 1600}
        row |= {"corpus": corpus, "attention": attention, "placement": "input", "arm": "a"}
        row["context_size"] = None if measure == "growth" else size
        rows += [row, row | {"seed": 1, "run": "r", "value": 99.0}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


ADDED, GROWTH, HALF = ("added", "50 %", 3200), ("growth", "50 %", 1600), ("length", "50 %", 1600)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({ADDED: (0.5, 0.1, 1.99, "")}, "held"),
        ({ADDED: (0.5, -0.5, 2.01, "")}, "partly"),
        ({ADDED: (1.99, 0.1, 4.0, "")}, "partly"),
        ({ADDED: (2.0, -0.1, 4.1, "")}, "partly"),
        ({ADDED: (2.0, 0.1, 4.0, "")}, "not held"),
        ({ADDED: (20.0, 19.0, math.nan, "value at least")}, "not held"),
        ({ADDED: (1.0, 0.5, math.nan, "value at least")}, "partly"),
        ({ADDED: (-3.0, -4.0, -2.0, "")}, "held"),
        ({GROWTH: (0.1, 0.001, 0.2, "")}, "held"),
        ({GROWTH: (0.1, -0.001, 0.2, "")}, "not held"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(changes, expected):
    found = verdict(frame(changes))
    assert (found.claim, found.verdict, found.rule) == ("C2", expected, CAPACITY_RULE)
    assert (found.value, found.low, found.high) == (20.0, 19.0, 21.0)
    assert "half of which survive in 256 numbers" in found.measure


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study capacity`"),
        (frame(attention="additive"), "no run without attention"),
        (frame(left_out=("added",)), "no run was trained twice as long"),
        (frame(left_out=("growth",)), "fewer than two context sizes"),
        (frame({GROWTH: (math.nan,) * 3 + ("censored: 256",)}), "fewer than two context sizes"),
        (frame({HALF: (40.0, 40.0, 40.0, BEYOND)}), "beyond the tested ones"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    found = verdict(table)
    assert (found.verdict, found.rule) == ("not measured", CAPACITY_RULE)
    assert reason in found.because


def test_a_length_beyond_the_tested_ones_is_not_given_as_the_claims_number():
    assert verdict(frame({HALF: (40.0, 40.0, 40.0, BEYOND)})).value is None


def test_copy_decides_and_the_grammar_is_told_beside():
    moved = {ADDED: (5.0, 4.0, 6.0, "")}
    both = pd.concat([frame(moved, corpus="grammar"), frame()])
    found = verdict(both)
    assert found.verdict == "held"
    assert "twice the updates change that by +5.0 [+4.0, +6.0]" in found.because
    assert verdict(frame(moved, corpus="grammar")).verdict == "not held"


def test_the_context_of_256_is_read_where_there_is_one_else_the_largest():
    sizes = pd.concat([frame(size=16), frame(size=512), frame(size=256)])
    assert [one.context_size for one in read_capacities(sizes)] == [256]
    small = pd.concat([frame(size=16), frame(size=64)])
    assert [one.context_size for one in read_capacities(small)] == [64]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ((7.9, 7.5, 8.3, ""), "hold at least 7 words of copy (90 % survive); whether they could"),
        ((39.9, 39.9, 40.0, "high at least"), "at least 39 words"),
        ((40.0, 40.0, 40.0, BEYOND), "at least 40 words of copy (90 % survive): 40 words they can"),
        ((2.0, 2.0, 2.0, "value under, low under"), "do not keep 90 % of the words of copy even"),
        (
            (6.0, 5.3, 8.0, "low under"),
            "not sure to keep 90 % of the words of copy even at the 5.3",
        ),
    ],
)
def test_the_answer_is_at_least_what_was_reached(most, expected):
    least = {("length", "90 %", 1600): (2.0, 2.0, 2.0, "low under")}
    (read,) = read_capacities(frame(least | {("length", "90 %", 3200): most}))
    assert expected in answer(read)
    assert "no more" not in answer(read)


def test_the_answer_takes_the_budget_that_reached_most():
    (read,) = read_capacities(frame({("length", "90 %", 1600): (9.5, 9.1, 9.9, "")}))
    assert "(1,600 updates) 256 numbers hold at least 9 words" in answer(read)
    assert answer(read) in verdict(frame({("length", "90 %", 1600): (9.5, 9.1, 9.9, "")})).because


def test_an_end_that_is_a_bound_is_no_number_of_the_verdict():
    half = {("length", "50 %", 1600): (12.0, 5.0, 15.0, "low under")}
    found = verdict(frame(half))
    assert (found.value, found.high) == (12.0, 15.0)
    assert found.low is None or math.isnan(found.low)
    assert "in sentences of up to 12.0 [under 5.0, 15.0] words" in found.because


def test_a_length_that_is_a_bound_is_not_called_up_to():
    under = (5.3, 5.3, 5.3, "value under, low under, high under")
    found = verdict(frame({("length", "50 %", 1600): under}))
    assert "in sentences of under 5.3 words" in found.because
