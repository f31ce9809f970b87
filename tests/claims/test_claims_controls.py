"""C10 and C12 at their thresholds: planted gains of controls, planted moves of more training."""

import numpy as np
import pytest
from planted_estimates import planted

from seq2seq_bottleneck.claims.controls import (
    PLAIN,
    UNIFORM,
    Control,
    Controlled,
    Trained,
    Variation,
    selection_beats_compression,
    training_moves_curve,
)

ATTENTION = 80.0
BUCKETS = ("5-10", "21-30", "41+")


def controlled(uniform=10.0, others=10.0, halves=(1.0, 1.0), variation=60.0, **changes):
    """Attention at 80 BLEU; two controls by their BLEU and half widths; a variation by its gain."""
    attention = planted(ATTENTION)
    known = {
        "bucket": "41+",
        "sentences": 200,
        "attention": attention,
        "controls": (
            Control(UNIFORM, planted(uniform, halves[0]), attention),
            Control(PLAIN, planted(7), attention),
            Control("source reversed", planted(others, halves[1]), attention),
        ),
        "variations": (Variation("source reversed", planted(variation, 1.0)),),
    }
    return Controlled(**(known | changes))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "held"),
        ({"uniform": 78.9}, "held"),
        ({"uniform": 79.1}, "partly"),  # its gain is no longer clear of 0
        ({"others": 78.9}, "held"),
        ({"others": 79.1}, "partly"),
        ({"uniform": 79.1, "others": 79.1}, "not held"),
        ({"variation": 1.1}, "held"),
        ({"variation": 0.9}, "partly"),
        ({"variation": 0.9, "uniform": 79.1}, "not held"),
        ({"variations": ()}, "held"),
    ],
)
def test_a_gain_that_is_no_longer_clear_flips_the_verdict(changes, verdict):
    found = selection_beats_compression(controlled(**changes))
    assert (found.claim, found.verdict) == ("C10", verdict)


def test_the_number_is_the_gain_over_the_best_control():
    found = selection_beats_compression(controlled(uniform=30, others=20, halves=(2.0, 1.0)))
    assert (found.value, found.low, found.high) == pytest.approx((50, 48, 52))
    assert found.measure == "attention minus uniform weights, BLEU, 41+"
    because = found.because
    assert "50.00 [48.00, 52.00] more than the best control, uniform weights (30.0)" in because
    assert "attention minus source reversed +60.00 [+59.00, +61.00], no attention +73.00" in because
    worse = selection_beats_compression(controlled(uniform=90)).because
    assert "10.00 [9.00, 11.00] less than the best control, uniform weights (90.0)" in worse


def test_pairing_counts_not_the_width_of_either_arm():
    noise = np.linspace(-20, 20, 401)
    attention, uniform = planted(40), planted(38)
    pair = [type(one)(one.value, one.value + noise) for one in (attention, uniform)]
    controls = (
        Control(UNIFORM, pair[1], pair[0]),
        Control("source reversed", planted(5), planted(40)),
    )
    measured = controlled(attention=pair[0], controls=controls)
    assert selection_beats_compression(measured).verdict == "held"


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([PLAIN], "no control was trained"),
        ([PLAIN, "source reversed"], "uniform weights were not trained"),
        ([PLAIN, UNIFORM], "no other control than uniform weights"),
    ],
)
def test_without_its_controls_it_is_not_measured(names, reason):
    controls = tuple(Control(name, planted(7), planted(80)) for name in names)
    found = selection_beats_compression(controlled(controls=controls))
    assert found.verdict == "not measured"
    assert reason in found.because


@pytest.mark.parametrize(("bleu", "verdict"), [(4.9, "not measured"), (5.0, "held")])
def test_attention_that_has_learned_nothing_is_not_judged(bleu, verdict):
    controls = tuple(Control(name, planted(0), planted(bleu)) for name in (UNIFORM, "joined"))
    measured = controlled(attention=planted(bleu), controls=controls)
    assert selection_beats_compression(measured).verdict == verdict


def test_what_was_not_tried_and_few_sentences_are_told():
    because = selection_beats_compression(
        controlled(lacking=("as many parameters",), sentences=99)
    ).because
    assert "not tried: as many parameters" in because
    assert "under 100 sentences: 41+ (n = 99)" in because


def trained(moves, halves=(0.1, 0.1, 0.1), attention=(90, 90, 88), once=(50, 12, 8)):
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
    found = training_moves_curve(trained((1, 2, 8), (0.1, 0.1, 0.5)))
    assert (found.value, found.low, found.high) == pytest.approx((8, 7.5, 8.5))
    assert "twice the updates add 8.00 [7.50, 8.50] BLEU, " in found.because
    lost = training_moves_curve(trained((0, 0, -5), (0.1, 0.1, 0.1))).because
    assert "twice the updates take away 5.00 [4.90, 5.10] BLEU, -6.2% of what" in lost
    assert "10.0% of what attention adds (80.00 [80.00, 80.00])" in found.because
    assert "what they add in the others: 5-10 +1.00" in found.because


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
