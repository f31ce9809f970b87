"""C10 at its thresholds: planted gains."""

import numpy as np
import pytest
from planted_estimates import planted

from seq2seq_bottleneck.claims.controls import (
    PLAIN,
    UNIFORM,
    Control,
    Controlled,
    Variation,
    selection_beats_compression,
)

ATTENTION = 80.0


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
