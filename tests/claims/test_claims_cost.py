"""Planted exponents flip C9's verdict at its thresholds."""

import pytest

from seq2seq_bottleneck.claims.cost import ArmCost, Growth, cost_grows_with_product

NONE = Growth(1.0, 0.95, 1.05, 5)


def _arm(low, high, name="dot", none=NONE, points=5, lengths=5):
    own = Growth((low + high) / 2, low, high, points)
    return ArmCost(name, own, own, own, none, lengths, ((30, 0.25), (200, 0.5)))


@pytest.mark.parametrize(
    ("low", "high", "none_high", "verdict"),
    [
        (1.9, 2.1, 1.05, "held"),
        (1.5, 2.5, 1.05, "held"),
        (1.49, 2.1, 1.05, "partly"),
        (1.9, 2.51, 1.05, "partly"),
        (1.06, 1.4, 1.05, "partly"),
        (1.05, 1.4, 1.05, "not held"),  # not above no attention
        (1.01, 1.4, 0.9, "partly"),
        (1.0, 1.4, 0.9, "not held"),  # not above linear
        (0.9, 1.9, 1.05, "not held"),
        (0.9, 1.91, 1.05, "not measured"),  # too wide to tell linear from quadratic
        (1.9, 2.1, 1.95, "not held"),  # the rest of the step grows as fast
    ],
)
def test_one_arm_at_its_thresholds(low, high, none_high, verdict):
    none = Growth(none_high - 0.05, none_high - 0.1, none_high, 5)
    assert cost_grows_with_product([_arm(low, high, none=none)]).verdict == verdict


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([(1.9, 2.1), (1.8, 2.2)], "held"),
        ([(1.9, 2.1), (0.9, 1.1)], "partly"),
        ([(1.2, 1.3), (0.9, 1.1)], "partly"),
        ([(0.9, 1.1), (0.9, 1.1)], "not held"),
    ],
)
def test_several_arms(intervals, verdict):
    assert cost_grows_with_product([_arm(*each) for each in intervals]).verdict == verdict


def test_shares_and_exponents_are_told():
    verdict = cost_grows_with_product([_arm(1.9, 2.1, "additive")])
    assert verdict.claim == "C9"
    assert (
        "additive: attention's own seconds grow as the length to the power 2.00 [1.90"
        in verdict.because
    )
    assert "a step without attention to the power 1.00 [0.95, 1.05]" in verdict.because
    assert "attention's share of the step is 25% at 30 and 50% at 200 tokens" in verdict.because


@pytest.mark.parametrize(
    "lost",
    [
        _arm(1.9, 2.1, "lost", points=3, lengths=3),
        _arm(1.9, 2.1, "lost", points=4, lengths=5),  # attention took no time at one length
        _arm(1.9, 2.1, "lost", none=Growth(1.0, 0.4, 1.6, 5)),
        ArmCost("lost", None, None, None, NONE, 5),
        ArmCost("lost", Growth(2.0, 1.9, 2.1, 5), None, None, None, 5),
    ],
)
def test_an_arm_that_cannot_be_judged_is_left_out_and_named(lost):
    alone = cost_grows_with_product([lost])
    assert alone.verdict == "not measured"
    assert alone.because.endswith(": lost")
    beside = cost_grows_with_product([_arm(1.9, 2.1), lost])
    assert beside.verdict == "held"
    assert beside.because.endswith(": lost")


def test_without_arms_nothing_is_measured():
    assert cost_grows_with_product([]).because == "no arm with attention"
