"""C12 at its thresholds: planted moves of the arm without attention."""

import numpy as np
import pytest
from planted_estimates import planted

from seq2seq_bottleneck.claims.training import Trained, training_moves_curve

BUCKETS = ("5-10", "21-30", "41+")
ONCE, ATTENTION = (50, 12, 8), (90, 90, 88)


def trained(moves, halves=(0.1, 0.1, 0.1), attention=ATTENTION, once=ONCE):
    return [
        Trained(bucket, 200, planted(low), planted(low + move, half), planted(high))
        for bucket, low, move, half, high in zip(
            BUCKETS, once, moves, halves, attention, strict=True
        )
    ]


@pytest.mark.parametrize(
    ("moves", "halves", "verdict"),
    [
        ((0, 0, 8.1), (0.1, 0.1, 0.1), "held"),  # a tenth of the gap of 80
        ((0, 0, 7.9), (0.1, 0.1, 0.1), "partly"),
        ((0, 0, 8.1), (0.1, 0.1, 8.2), "not held"),  # not clear of 0
        ((0.2, 0, 0), (0.1, 0.1, 0.1), "partly"),  # in another bucket alone
        ((0.2, 0, 0), (0.3, 0.1, 0.1), "not held"),
        ((-5, -5, -5), (0.1, 0.1, 0.1), "not held"),
    ],
)
def test_the_verdict_flips_where_the_move_crosses_the_rule(moves, halves, verdict):
    found = training_moves_curve(trained(moves, halves))
    assert (found.claim, found.verdict) == ("C12", verdict)


def test_the_number_is_the_move_in_the_longest_bucket():
    found = training_moves_curve(trained((1, 2, 8), (0.1, 0.1, 0.5)), ["told beside"])
    assert (found.value, found.low, found.high) == pytest.approx((8, 7.5, 8.5))
    assert "twice the updates add 8.00 [7.50, 8.50] BLEU, " in found.because
    lost = training_moves_curve(trained((0, 0, -5), (0.1, 0.1, 0.1))).because
    assert "twice the updates take away 5.00 [4.90, 5.10] BLEU, -6.2% of what" in lost
    assert "10.0% of what attention adds (80.00 [80.00, 80.00])" in found.because
    assert "what they add in the others: 5-10 +1.00" in found.because
    assert "told beside" in found.because


def test_an_empty_longest_bucket_is_passed_over():
    empty = Trained("51+", 0, *[planted(np.nan)] * 3)
    assert training_moves_curve([*trained((0, 0, 9)), empty]).verdict == "held"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no bucket is filled"),
        (trained((0, 0, 0), once=(4.9, 1, 1)), "BLEU without attention is under 5"),
        (trained((0, 0, 2), attention=(90, 90, 8)), "there is no loss to explain"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(rows, reason):
    found = training_moves_curve(rows)
    assert found.verdict == "not measured"
    assert reason in found.because


def test_the_floor_is_where_it_says():
    assert training_moves_curve(trained((0.2, 0, 0), once=(4.9, 1, 1))).verdict == "partly"
