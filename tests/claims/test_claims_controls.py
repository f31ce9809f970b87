"""C10 and C12 at their thresholds: planted gains of controls, planted moves of more training."""

import numpy as np
import pytest
from planted import estimate

from seq2seq_bottleneck.claims.controls import (
    PLAIN,
    UNIFORM,
    Control,
    Controlled,
    Trained,
    Variation,
)
from seq2seq_bottleneck.claims.registry import verdict_on

BUCKETS = ("5-10", "21-30", "41+")


def controls(*names, bleu=7.0, attention=80.0):
    return tuple(Control(name, estimate(bleu), estimate(attention)) for name in names)


def controlled(uniform=10.0, others=10.0, halves=(1.0, 1.0), variation=60.0, **changes):
    """Attention at 80 BLEU; two controls by their BLEU and half widths; a variation by its gain."""
    attention = estimate(80.0)
    known = {
        "bucket": "41+",
        "sentences": 200,
        "attention": attention,
        "controls": (
            Control(UNIFORM, estimate(uniform, halves[0]), attention),
            Control(PLAIN, estimate(7), attention),
            Control("source reversed", estimate(others, halves[1]), attention),
        ),
        "variations": (Variation("source reversed", estimate(variation, 1.0)),),
    }
    return Controlled(**(known | changes))


def unlearned(bleu):
    return {"attention": estimate(bleu), "controls": controls(UNIFORM, "x", bleu=0, attention=bleu)}


@pytest.mark.parametrize(
    ("changes", "verdict", "part"),
    [
        ({}, "held", ""),
        ({"uniform": 78.9}, "held", ""),
        ({"uniform": 79.1}, "partly", ""),  # its gain is no longer clear of 0
        ({"others": 78.9}, "held", ""),
        ({"others": 79.1}, "partly", ""),
        ({"uniform": 79.1, "others": 79.1}, "not held", ""),
        ({"variation": 1.1}, "held", ""),
        ({"variation": 0.9}, "partly", ""),
        ({"variation": 0.9, "uniform": 79.1}, "not held", ""),
        ({"variations": ()}, "held", ""),
        ({"lacking": ("as many parameters",)}, "held", "not tried: as many parameters"),
        ({"sentences": 99}, "held", "under 100 sentences: 41+ (n = 99)"),
        ({"uniform": 90}, "partly", "10.00 [9.00, 11.00] less than the best control, uniform "),
        ({"controls": controls(PLAIN)}, "not measured", "no control was trained"),
        ({"controls": controls(PLAIN, "x")}, "not measured", "uniform weights were not trained"),
        ({"controls": controls(PLAIN, UNIFORM)}, "not measured", "no other control than uniform"),
        (unlearned(4.9), "not measured", "under 5 in 41+"),
        (unlearned(5.0), "held", ""),
    ],
)
def test_a_gain_that_is_no_longer_clear_flips_the_verdict(changes, verdict, part):
    result = verdict_on("C10", controlled(**changes))
    assert (result.claim, result.verdict) == ("C10", verdict)
    assert part in result.because


def test_the_number_is_the_gain_over_the_best_control():
    result = verdict_on("C10", controlled(uniform=30, others=20, halves=(2.0, 1.0)))
    assert (result.value, result.low, result.high) == pytest.approx((50, 48, 52))
    assert result.measure == "attention minus uniform weights, BLEU, 41+"
    assert "50.00 [48.00, 52.00] more than the best control, uniform weights (30.0)" in (
        result.because
    )
    assert "minus source reversed +60.00 [+59.00, +61.00], no attention +73" in result.because


def test_pairing_counts_not_the_width_of_either_arm():
    pair = [estimate(value, 20) for value in (40, 38)]
    paired = Control(UNIFORM, pair[1], pair[0]), *controls("x", attention=40.0)
    assert verdict_on("C10", controlled(attention=pair[0], controls=paired)).verdict == "held"


def trained(moves, halves=(0.1, 0.1, 0.1), attention=(90, 90, 88), once=(50, 12, 8)):
    return [
        Trained(bucket, 200, estimate(low), estimate(low + move, half), estimate(high))
        for bucket, low, move, half, high in zip(
            BUCKETS, once, moves, halves, attention, strict=True
        )
    ]


EMPTY = Trained("51+", 0, *[estimate(np.nan)] * 3)


@pytest.mark.parametrize(
    ("rows", "verdict", "part"),
    [
        (trained((0, 0, 8.1)), "held", ""),  # a tenth of the gap of 80
        (trained((0, 0, 7.9)), "partly", ""),
        (trained((0, 0, 8.1), (0.1, 0.1, 8.2)), "not held", ""),  # not clear of 0
        (trained((0.2, 0, 0)), "partly", ""),  # in another bucket alone
        (trained((0.2, 0, 0), (0.3, 0.1, 0.1)), "not held", ""),
        (trained((0, 0, -5)), "not held", "take away 5.00 [4.90, 5.10] BLEU, -6.2% of what"),
        ([*trained((0, 0, 9)), EMPTY], "held", ""),
        (trained((0.2, 0, 0), once=(4.9, 1, 1)), "partly", ""),  # the floor, reached by twice
        (trained((0, 0, 0), once=(4.9, 1, 1)), "not measured", "without attention is under 5"),
        (trained((0, 0, 2), attention=(90, 90, 8)), "not measured", "there is no loss to explain"),
        ([], "not measured", "no bucket is filled"),
    ],
)
def test_the_verdict_flips_where_the_move_crosses_the_rule(rows, verdict, part):
    result = verdict_on("C12", rows)
    assert (result.claim, result.verdict) == ("C12", verdict)
    assert part in result.because


def test_the_number_is_the_move_in_the_longest_bucket():
    result = verdict_on("C12", trained((1, 2, 8), (0.1, 0.1, 0.5)))
    assert (result.value, result.low, result.high) == pytest.approx((8, 7.5, 8.5))
    for part in (
        "twice the updates add 8.00 [7.50, 8.50] BLEU, ",
        "10.0% of what attention adds (80.00 [80.00, 80.00])",
        "what they add in the others: 5-10 +1.00",
    ):
        assert part in result.because
