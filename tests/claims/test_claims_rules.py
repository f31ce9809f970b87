"""Planted numbers flip each verdict at its threshold."""

from dataclasses import replace

import numpy as np
import pytest
from planted_estimates import planted

from seq2seq_bottleneck.claims.rules import RULES, verdict_on
from seq2seq_bottleneck.claims.verdict import BucketScores, marked, ranged, two_digits
from seq2seq_bottleneck.lecture.slides import L_VIND

NAMES = tuple(L_VIND)
VINDICATION = [claim for claim in RULES if claim != "L-FAIL"]
PRINTED_NONE = [row.none for row in L_VIND.values()]
PRINTED_ATTENTION = [row.attention for row in L_VIND.values()]


def _buckets(none, attention=None, halves=(0.0,) * 5, sentences=300):
    """Buckets whose gain has an interval of the given half width (none has no width)."""
    attention = [None] * len(none) if attention is None else attention
    return [
        BucketScores(name, sentences, planted(low), None if high is None else planted(high, half))
        for name, low, high, half in zip(NAMES, none, attention, halves, strict=False)
    ]


def _with_width(none, halves):
    """Buckets of the arm without attention, with intervals."""
    return [
        BucketScores(name, 300, planted(value, half))
        for name, value, half in zip(NAMES, none, halves, strict=True)
    ]


def test_printed_tables_hold_by_their_own_rules():
    rows = _buckets(PRINTED_NONE, PRINTED_ATTENTION)
    verdicts = [verdict_on(claim, rows) for claim in RULES]
    assert [verdict.claim for verdict in verdicts] == list(RULES)
    assert [verdict.verdict for verdict in verdicts] == ["held"] * 5
    assert "from 5-10 to 41+ BLEU without attention falls by 27.10 [" in verdicts[0].because
    assert "the gain in 41+ is 16.20 [16.20, 16.20]" in verdicts[1].because
    assert "it exceeds the gain in 5-10 by 15.30 [" in verdicts[1].because


@pytest.mark.parametrize(
    ("none", "halves", "verdict"),
    [
        ([35, 28, 18, 12, 8], [0, 0, 0, 0, 0], "held"),
        ([35, 28, 18, 12, 12.9], [0, 0, 0, 0, 1], "held"),  # a rise within its interval: a tie
        ([35, 28, 18, 12, 13.1], [0, 0, 0, 0, 1], "partly"),  # the same rise, clear of it
        ([35, 35, 35, 35, 33.9], [0, 0, 0, 0, 1], "held"),  # ties, but the whole fall is clear
        ([35, 35, 35, 35, 34.1], [0, 0, 0, 0, 1], "not held"),
        ([35, 30, 25, 20, 36], [0, 0, 0, 0, 0], "not held"),
        ([35, 35, 35, 35, 35], [0, 0, 0, 0, 0], "not held"),
    ],
)
def test_failure_pattern_at_its_thresholds(none, halves, verdict):
    assert verdict_on("L-FAIL", _with_width(none, halves)).verdict == verdict


def test_failure_pattern_names_ties_and_rises():
    because = verdict_on("L-FAIL", _with_width([35, 28, 28.5, 12, 13], [0, 0, 1, 0, 0])).because
    assert "ties: 11-20 to 21-30 (+0.50 [-0.50, +1.50])" in because
    assert "clear rises: 31-40 to 41+ (1.00 [1.00, 1.00])" in because


def test_the_other_direction_has_its_own_word_and_no_sign():
    because = verdict_on("L-FAIL", _with_width([30, 30, 30, 30, 33], [0, 0, 0, 0, 1])).because
    assert "from 5-10 to 41+ BLEU without attention rises by 3.00 [2.00, 4.00]" in because
    rows = _buckets([10] * 5, [16, 12, 12, 12, 12], (0, 0, 0, 0, 1))
    because = verdict_on("L-VIND", rows).because
    assert "the gain in 41+ is 2.00 [1.00, 3.00]" in because
    assert "it falls short of the gain in 5-10 by 4.00 [3.00, 5.00]" in because


@pytest.mark.parametrize(
    ("value", "shown"),
    [(6.0, "6.0"), (6.04, "6.0"), (0.3, "0.30"), (2.5e-07, "2.5e-07"), (9.96, "10"), (66.2, "66"),
     (0.0001, "0.00010"), (123.0, "123"), (-6.0, "-6.0")],
)  # fmt: skip
def test_two_digits_always(value, shown):
    assert two_digits(value) == shown


def test_a_number_near_zero_has_no_sign():
    assert ranged(-0.001, -0.4, 0.0, "{:+z.0f}", " %") == "+0 % [+0, +0]"


@pytest.mark.parametrize(
    ("gains", "halves", "verdict"),
    [
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 0], "held"),
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 3.9], "held"),
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 4.1], "partly"),  # the interaction is no longer clear
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 5.1], "not held"),  # nor the gain in the longest
        ([5, 5, 5, 5, 5], [0, 0, 0, 0, 0], "partly"),
        ([6, 2, 3, 4, 5], [0, 0, 0, 0, 0], "partly"),
        ([1, -2, 3, 4, 5], [0, 2.1, 0, 0, 0], "held"),  # a loss within its interval
        ([1, -2, 3, 4, 5], [0, 1.9, 0, 0, 0], "partly"),  # a clear loss
        ([-5, -4, -3, -2, -1], [0, 0, 0, 0, 0], "not held"),
    ],
)
def test_vindication_at_its_thresholds(gains, halves, verdict):
    none = np.array([30.0, 25, 20, 15, 10])
    rows = _buckets(list(none), list(none + gains), halves)
    assert verdict_on("L-VIND", rows).verdict == verdict


def test_vindication_names_the_largest_gain_and_losses():
    rows = _buckets([30, 25, 20, 15, 10], [31, 23, 29, 18, 14])
    because = verdict_on("L-VIND", rows).because
    assert "the largest gain is in 21-30 (9.00 [9.00, 9.00])" in because
    assert "clear losses: 11-20 (-2.00 [-2.00, -2.00])" in because
    assert "ceiling" not in because


@pytest.mark.parametrize(
    ("gains", "halves", "verdict"),
    [
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 0], "held"),
        ([1, 2, 3, 4, 5], [0, 0, 0, 0, 1.1], "partly"),  # 31-40 ties with 41+
        ([1, 2, 3, 5, 4], [0, 0, 0, 0, 1.1], "partly"),  # and the other way round
        ([1, 2, 3, 5, 4], [0, 0, 0, 0, 0.9], "not held"),
        ([0, 0, 0, 0, 1], [0, 0, 0, 0, 1.1], "not held"),  # no gain is clear of zero
    ],
)
def test_largest_gain_against_lowest_score(gains, halves, verdict):
    none = np.array([30.0, 25, 20, 15, 10])
    rows = _buckets(list(none), list(none + gains), halves)
    assert verdict_on("L-VIND-largest", rows).verdict == verdict


def test_largest_gain_names_ties_on_both_sides():
    rows = _buckets([30, 25, 20, 10, 10], [31, 27, 23, 16, 16])
    verdict = verdict_on("L-VIND-largest", rows)
    assert verdict.verdict == "held"
    assert "the largest gain is in 31-40 (6.00 [6.00, 6.00]), tied with 41+" in verdict.because
    assert "BLEU without attention is lowest in 31-40, tied with 41+" in verdict.because


def test_largest_gain_means_nothing_where_no_bucket_is_worst():
    rows = _buckets([30] * 5, [31, 32, 33, 34, 35])
    assert verdict_on("L-VIND-largest", rows).verdict == "not held"


@pytest.mark.parametrize(
    ("none", "attention", "half", "verdict"),
    [
        (35.2, 36.1, 0.0, "held"),  # the slide's row: 2.5 % of attention's BLEU
        (90.1, 100, 0.0, "held"),
        (90.1, 100, 0.2, "partly"),  # the interval reaches 10.1 %
        (89.9, 100, 0.0, "partly"),
        (75.1, 100, 0.0, "partly"),
        (75.1, 100, 0.2, "not held"),
        (74.9, 100, 0.0, "not held"),
        (36, 35, 0.0, "held"),  # attention loses: it adds little
    ],
)
def test_what_attention_adds_to_short_sentences(none, attention, half, verdict):
    low = planted(none, half)
    first = BucketScores(NAMES[0], 300, low, planted(attention))
    rows = [first, *_buckets([20] * 5, [30] * 5)[1:]]
    decided = verdict_on("L-VIND-short", rows)
    assert decided.verdict == verdict
    assert decided.value == pytest.approx(100 * (1 - none / attention))


@pytest.mark.parametrize(
    ("attention", "half", "verdict"),
    [
        ([11, 12, 13, 14, 15], 0.0, "held"),
        ([11, 12, 13, 14, 15], 0.9, "held"),
        ([11, 12, 13, 14, 15], 1.1, "partly"),  # the last step is a tie
        ([11, 12, 12, 14, 15], 0.0, "partly"),  # a step of nothing
        ([11, 12, 11.9, 14, 15], 0.0, "not held"),  # a clear fall on the way
        ([15, 14, 13, 12, 11], 0.0, "not held"),
        ([11, 11, 11, 11, 11], 0.0, "not held"),
    ],
)
def test_the_improvement_rises_from_bucket_to_bucket(attention, half, verdict):
    rows = _buckets([10] * 5, attention, (0, 0, 0, 0, half))
    assert verdict_on("L-VIND-rising", rows).verdict == verdict


def test_no_improvement_is_stated_in_per_cent_of_nothing():
    decided = verdict_on("L-VIND-rising", _buckets([10, 8, 6, 4, 0.9], [11] * 5))
    assert decided.verdict == "not measured"
    assert decided.because == "BLEU without attention is under 1 in 41+"


def test_empty_buckets_are_left_out_and_one_is_too_few():
    rows = _buckets([30, 25, 20], [31, 27, 24])
    empty = BucketScores("41+", 0, planted(np.nan), planted(np.nan))
    assert "the gain in 21-30" in verdict_on("L-VIND", [*rows, empty]).because
    assert verdict_on("L-FAIL", [*rows, empty]).verdict == "held"
    for claim in RULES:
        assert verdict_on(claim, [rows[0], empty]).verdict == "not measured"
        assert "fewer than two" in verdict_on(claim, [rows[0], empty]).because


def test_a_missing_arm_is_not_measured():
    rows = _buckets(PRINTED_NONE, [36.1, None, 28.9, np.nan, 24.3])
    for claim in VINDICATION:
        assert verdict_on(claim, rows).verdict == "not measured"
        assert verdict_on(claim, rows).because == "no score with attention in 11-20, 31-40"
    assert verdict_on("L-FAIL", rows).verdict == "held"
    with pytest.raises(ValueError, match="11-20"):
        _ = rows[1].gain


@pytest.mark.parametrize(
    ("claim", "attention"), [("L-FAIL", 6), ("L-VIND", 6), ("L-VIND-largest", 190)]
)
def test_a_bucket_of_a_handful_decides_nothing_and_is_named(claim, attention):
    rows = _buckets([30, 20, 10, 90], [35, 30, 25, attention])
    few, ten = (replace(rows[3], sentences=count) for count in (9, 10))
    found = verdict_on(claim, [*rows[:3], few])
    assert found.verdict == verdict_on(claim, rows[:3]).verdict == "held"
    told = f"under 100 sentences: {few.name} (n = 9); not read: {few.name}"
    assert found.because.endswith(told)
    read = verdict_on(claim, [*rows[:3], ten])
    assert read.verdict != "held"
    assert "not read" not in read.because


def test_small_buckets_are_named_in_the_verdict():
    rows = _buckets(PRINTED_NONE, PRINTED_ATTENTION, sentences=99)
    assert "under 100 sentences: 5-10 (n = 99), 11-20" in verdict_on("L-FAIL", rows).because
    assert marked(99)
    assert not marked(100)


@pytest.mark.parametrize(
    ("attention", "where"),
    [
        ([94.99] * 5, ""),
        ([96, 94, 94, 94, 94], "in bucket 5-10 attention is at its ceiling (BLEU >= 95): "),
        ([99, 90, 95, 90, 90], "in buckets 5-10, 21-30 attention is at its ceiling (BLEU >= 95): "),
    ],
)
def test_a_ceiling_names_its_buckets_from_95_up(attention, where):
    because = verdict_on("L-VIND", _buckets([60, 50, 40, 30, 20], attention)).because
    assert where in because
    assert ("the relative gain there is 100/none - 1, arithmetic" in because) == bool(where)


@pytest.mark.parametrize(
    ("none", "attention", "failure", "gains"),
    [
        ([0.02, 0.015, 0.01, 0.008, 0.006], [0.03] * 5, "not measured", "not measured"),
        ([4.9, 3, 2, 1, 0.5], [60] * 5, "not measured", "held"),
        ([5.0, 3, 2, 1, 0.5], [60] * 5, "held", "held"),
        ([4.0, 3, 2, 1, 0.5], [4.9] * 5, "not measured", "not measured"),
    ],
)
def test_an_arm_that_has_learned_nothing_is_not_judged(none, attention, failure, gains):
    rows = _buckets(none, attention)
    assert verdict_on("L-FAIL", rows).verdict == failure
    assert verdict_on("L-VIND", rows).verdict == gains
    if failure == "not measured":
        assert "under 5 in 5-10" in verdict_on("L-FAIL", rows).because
