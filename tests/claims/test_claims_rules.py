"""Planted numbers flip the verdict of each table's rule at its threshold."""

from dataclasses import replace

import numpy as np
import pytest
from planted import estimate

from seq2seq_bottleneck.claims.registry import CLAIMS, verdict_on
from seq2seq_bottleneck.claims.verdict import BucketScores, marked, two_digits
from seq2seq_bottleneck.lecture.slides import L_VIND

NAMES = tuple(L_VIND)
NONE, ATTENTION = ([getattr(row, arm) for row in L_VIND.values()] for arm in ("none", "attention"))
VINDICATION = [claim.id for claim in CLAIMS if claim.id.startswith("L-VIND")]
TABLES = ["L-FAIL", *VINDICATION]
FALLING = (30, 25, 20, 15, 10)


def rows(none, attention=None, halves=(0,) * 5, none_halves=(0,) * 5, sentences=300):
    """Buckets whose arms have intervals of these half widths."""
    attention = [None] * len(none) if attention is None else attention
    return [
        BucketScores(name, sentences, estimate(low, none_half),
                     None if high is None else estimate(high, half))
        for name, low, high, half, none_half in zip(
            NAMES, none, attention, halves, none_halves, strict=False)
    ]  # fmt: skip


def gained(gains, last=0.0, second=0.0):
    """Buckets in which attention gains so much, with half widths of the last and second gain."""
    halves = (0, second, 0, 0, last)
    return rows(FALLING, [none + gain for none, gain in zip(FALLING, gains, strict=True)], halves)


def improved(attention, half=0.0):
    """Buckets of 10 BLEU without attention; ``half`` is the width of the last with it."""
    return rows([10] * 5, attention, (0, 0, 0, 0, half))


def short(none, attention, half=0.0):
    """Buckets of which the first has these scores, and an interval of the arm without attention."""
    return rows([none, 20, 20, 20, 20], [attention, 30, 30, 30, 30], none_halves=(half, 0, 0, 0, 0))


def fails(none, half=0.0):
    """Buckets of the arm without attention; ``half`` is the width of the last."""
    return rows(none, none_halves=(0, 0, 0, 0, half))


@pytest.mark.parametrize(
    ("claim", "buckets", "verdict"),
    [
        ("L-FAIL", fails([35, 28, 18, 12, 8]), "held"),
        ("L-FAIL", fails([35, 28, 18, 12, 12.9], 1), "held"),  # a rise within its interval: a tie
        ("L-FAIL", fails([35, 28, 18, 12, 13.1], 1), "partly"),  # the same rise, clear of it
        ("L-FAIL", fails([35, 35, 35, 35, 33.9], 1), "held"),  # ties, but the whole fall is clear
        ("L-FAIL", fails([35, 35, 35, 35, 34.1], 1), "not held"),
        ("L-FAIL", fails([35, 30, 25, 20, 36]), "not held"),
        ("L-FAIL", fails([35] * 5), "not held"),
        ("L-VIND", gained([1, 2, 3, 4, 5]), "held"),
        ("L-VIND", gained([1, 2, 3, 4, 5], 3.9), "held"),
        ("L-VIND", gained([1, 2, 3, 4, 5], 4.1), "partly"),  # the interaction is no longer clear
        ("L-VIND", gained([1, 2, 3, 4, 5], 5.1), "not held"),  # nor the gain in the longest
        ("L-VIND", gained([5, 5, 5, 5, 5]), "partly"),
        ("L-VIND", gained([6, 2, 3, 4, 5]), "partly"),
        ("L-VIND", gained([1, -2, 3, 4, 5], second=2.1), "held"),  # a loss within its interval
        ("L-VIND", gained([1, -2, 3, 4, 5], second=1.9), "partly"),  # a clear loss
        ("L-VIND", gained([-5, -4, -3, -2, -1]), "not held"),
        ("L-VIND-largest", gained([1, 2, 3, 4, 5]), "held"),
        ("L-VIND-largest", gained([1, 2, 3, 4, 5], 1.1), "partly"),  # 31-40 ties with 41+
        ("L-VIND-largest", gained([1, 2, 3, 5, 4], 1.1), "partly"),  # and the other way round
        ("L-VIND-largest", gained([1, 2, 3, 5, 4], 0.9), "not held"),
        ("L-VIND-largest", gained([0, 0, 0, 0, 1], 1.1), "not held"),  # no gain is clear of zero
        ("L-VIND-largest", rows([30] * 5, [31, 32, 33, 34, 35]), "not held"),  # no bucket is worst
        ("L-VIND-short", short(35.2, 36.1), "held"),  # the slide's row: 2.5 % of attention's BLEU
        ("L-VIND-short", short(90.1, 100), "held"),
        ("L-VIND-short", short(90.1, 100, 0.2), "partly"),  # the interval reaches 10.1 %
        ("L-VIND-short", short(89.9, 100), "partly"),
        ("L-VIND-short", short(75.1, 100), "partly"),
        ("L-VIND-short", short(75.1, 100, 0.2), "not held"),
        ("L-VIND-short", short(74.9, 100), "not held"),
        ("L-VIND-short", short(36, 35), "held"),  # attention loses: it adds little
        ("L-VIND-rising", improved([11, 12, 13, 14, 15]), "held"),
        ("L-VIND-rising", improved([11, 12, 13, 14, 15], 0.9), "held"),
        ("L-VIND-rising", improved([11, 12, 13, 14, 15], 1.1), "partly"),  # the last step is a tie
        ("L-VIND-rising", improved([11, 12, 12, 14, 15]), "partly"),  # a step of nothing
        ("L-VIND-rising", improved([11, 12, 11.9, 14, 15]), "not held"),  # a clear fall
        ("L-VIND-rising", improved([15, 14, 13, 12, 11]), "not held"),
        ("L-VIND-rising", improved([11] * 5), "not held"),
        *((claim, rows(NONE, ATTENTION), "held") for claim in TABLES),  # the printed tables
    ],
)
def test_a_rule_at_its_thresholds(claim, buckets, verdict):
    result = verdict_on(claim, buckets)
    assert (result.claim, result.verdict) == (claim, verdict)


@pytest.mark.parametrize(
    ("claim", "buckets", "part"),
    [
        ("L-FAIL", fails(NONE), "from 5-10 to 41+ BLEU without attention falls by 27.10 ["),
        ("L-FAIL", fails([30, 30, 30, 30, 33], 1), "attention rises by 3.00 [2.00, 4.00]"),
        ("L-FAIL", rows([35, 28, 28.5, 12, 13], none_halves=(0, 0, 1, 0, 0)),
         "clear rises: 31-40 to 41+ (1.00 [1.00, 1.00]); ties: 11-20 to 21-30 (+0.50 [-0.50, "),
        ("L-VIND", rows(NONE, ATTENTION), "the gain in 41+ is 16.20 [16.20, 16.20]"),
        ("L-VIND", rows(NONE, ATTENTION), "it exceeds the gain in 5-10 by 15.30 ["),
        ("L-VIND", improved([16, 12, 12, 12, 12], 1), "short of the gain in 5-10 by 4.00 [3.00, "),
        ("L-VIND", gained([1, -2, 9, 3, 4]), "the largest gain is in 21-30 (9.00 [9.00, 9.00])"),
        ("L-VIND", gained([1, -2, 9, 3, 4]), "clear losses: 11-20 (-2.00 [-2.00, -2.00])"),
        ("L-VIND", rows([60] * 5, [96, 94, 94, 94, 94]), "in bucket 5-10 attention is at its ceil"),
        ("L-VIND", rows([60] * 5, [99, 90, 95, 90, 90]), "in buckets 5-10, 21-30 attention is at "),
        ("L-VIND-largest", rows([30, 25, 20, 10, 10], [31, 27, 23, 16, 16]),
         "the largest gain is in 31-40 (6.00 [6.00, 6.00]), tied with 41+; BLEU without attention "
         "is lowest in 31-40, tied with 41+"),
        ("L-FAIL", rows(NONE, sentences=99), "under 100 sentences: 5-10 (n = 99), 11-20"),
    ],
)  # fmt: skip
def test_the_reason_has_the_numbers(claim, buckets, part):
    assert part in verdict_on(claim, buckets).because


def test_no_ceiling_is_named_under_95():
    assert "ceiling" not in verdict_on("L-VIND", rows([60] * 5, [94.99] * 5)).because


def test_the_number_of_short_sentences_is_a_share_of_attentions_bleu():
    assert verdict_on("L-VIND-short", short(75.1, 100)).value == pytest.approx(24.9)


EMPTY = BucketScores("41+", 0, estimate(np.nan), estimate(np.nan))
UNLEARNED = rows([0.02, 0.015, 0.01, 0.008, 0.006], [0.03] * 5)


@pytest.mark.parametrize(
    ("claims", "buckets", "reason"),
    [
        (TABLES, [rows([30], [31])[0], EMPTY], "fewer than two buckets"),
        (VINDICATION, rows(NONE, [36.1, None, 28.9, np.nan, 24.3]),
         "no score with attention in 11-20, 31-40"),
        (["L-VIND-rising"], rows([10, 8, 6, 4, 0.9], [11] * 5),
         "BLEU without attention is under 1 in 41+"),
        (["L-FAIL"], UNLEARNED, "BLEU without attention is under 5 in 5-10"),
        (["L-FAIL"], rows([4.9, 3, 2, 1, 0.5], [60] * 5), "under 5 in 5-10"),
        (["L-VIND"], UNLEARNED, "BLEU with attention is under 5 in every bucket"),
        (["L-VIND"], rows([4.0, 3, 2, 1, 0.5], [4.9] * 5), "under 5 in every bucket"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_not_measured(claims, buckets, reason):
    for claim in claims:
        result = verdict_on(claim, buckets)
        assert (result.verdict, result.value) == ("not measured", None)
        assert reason in result.because


def test_the_floor_is_where_it_says():
    assert verdict_on("L-FAIL", rows([5.0, 3, 2, 1, 0.5])).verdict == "held"
    assert verdict_on("L-VIND", rows([4.9, 3, 2, 1, 0.5], [60] * 5)).verdict == "held"


def test_an_empty_bucket_is_left_out():
    buckets = [*rows([30, 25, 20], [31, 27, 24]), EMPTY]
    assert "the gain in 21-30" in verdict_on("L-VIND", buckets).because
    assert verdict_on("L-FAIL", buckets).verdict == "held"


@pytest.mark.parametrize(
    ("claim", "attention"), [("L-FAIL", 6), ("L-VIND", 6), ("L-VIND-largest", 190)]
)
def test_a_bucket_of_a_handful_decides_nothing_and_is_named(claim, attention):
    buckets = rows([30, 20, 10, 90], [35, 30, 25, attention])
    few, ten = (replace(buckets[3], sentences=count) for count in (9, 10))
    result = verdict_on(claim, [*buckets[:3], few])
    assert result.verdict == verdict_on(claim, buckets[:3]).verdict == "held"
    assert result.because.endswith(f"under 100 sentences: {few.name} (n = 9); not read: {few.name}")
    read = verdict_on(claim, [*buckets[:3], ten])
    assert read.verdict != "held"
    assert "not read" not in read.because


def test_rows_are_marked_under_100_sentences():
    assert [marked(99), marked(100)] == [True, False]


@pytest.mark.parametrize(
    ("value", "text"),
    [(6.0, "6.0"), (6.04, "6.0"), (0.3, "0.30"), (2.5e-07, "2.5e-07"), (9.96, "10"), (66.2, "66"),
     (0.0001, "0.00010"), (123.0, "123"), (-6.0, "-6.0")],
)  # fmt: skip
def test_two_digits_always(value, text):
    assert two_digits(value) == text
