"""Capacity: logistic curves, and what is censored."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seq2seq_bottleneck.probes.capacity import (
    SurvivalAt,
    capacity,
    capacity_growth,
)
from seq2seq_bottleneck.probes.censored import Censored
from seq2seq_bottleneck.scoring.bootstrap import Estimate, draw, estimate, ratio_of_sums

SHARES = arrays(np.float64, 7, elements=st.floats(0.0, 1.0))


def _points(lengths, shares, words=100):
    """Survival without noise."""
    return [
        SurvivalAt(float(n), words, Estimate(float(y), np.full(20, float(y))))
        for n, y in zip(lengths, shares, strict=True)
    ]


def _sampled(lengths, curve, *, sentences, seed, resamples=300):
    """Binomial survival of the words of sentences, one seed of a network."""
    rng = np.random.default_rng(seed)
    points = []
    for place, length in enumerate(lengths):
        kept = rng.binomial(length, curve(length), size=(1, sentences))
        weights = draw(sentences, resamples, seed=seed, bucket=place)
        columns = np.stack([kept, np.full_like(kept, length)], axis=-1)
        share = estimate(ratio_of_sums, columns, weights)
        points.append(SurvivalAt(float(length), length * sentences, share))
    return points


@pytest.mark.parametrize(("centre", "scale"), [(20.0, 3.0), (33.0, 6.0)])
def test_a_logistic_curve_crosses_where_its_formula_says(centre, scale):
    lengths = np.arange(2, 70)
    points = _points(lengths, 1 / (1 + np.exp((lengths - centre) / scale)))
    half, most = capacity(points, 0.5), capacity(points, 0.9)
    assert (half.side, half.value) == ("", pytest.approx(centre, abs=0.02))
    assert (most.side, most.value) == ("", pytest.approx(centre - scale * np.log(9), abs=0.05))
    assert half.draws == pytest.approx(np.full(20, half.value))


@pytest.mark.slow
def test_interval_covers_the_crossing_about_as_often_as_it_says():
    lengths, covered = [4, 8, 12, 16, 20, 24, 28], 0
    shares = {n: 1.05 - n / 30 for n in lengths}  # straight, so that interpolation is exact
    for seed in range(200):
        points = _sampled(lengths, shares.__getitem__, sentences=30, seed=seed, resamples=200)
        interval = capacity(points, 0.5).interval
        covered += interval.low <= 16.5 <= interval.high
    assert 0.90 <= covered / 200 <= 0.99


def test_lengths_that_end_too_early_give_bounds():
    kept_all = capacity(_points([5, 10, 20], [1.0, 0.99, 0.95]), 0.9)
    assert (kept_all.side, kept_all.shown) == ("at least", 20.0)
    assert kept_all.interval.low == kept_all.interval.high == np.inf
    lost_all = capacity(_points([5, 10, 20], [0.4, 0.2, 0.1]), 0.5)
    assert (lost_all.side, lost_all.shown) == ("under", 5.0)
    assert lost_all.interval.high == -np.inf


def test_an_exact_share_counts_as_reached_and_a_dip_is_pooled_with_its_rise():
    assert capacity(_points([5, 10, 20], [1.0, 0.5, 0.0]), 0.5).value == pytest.approx(10.0)
    level = _points([5, 6, 7, 8, 9, 10], [1.0] * 3 + [0.8] * 3, words=37)
    assert capacity(level, 0.8).side == "at least"  # the sums make .8 a rounding less
    bumpy = capacity(_points([5, 10, 15, 20], [1.0, 0.6, 0.8, 0.2]), 0.5)  # 1, .7, .7, .2
    assert bumpy.value == pytest.approx(17.0)
    assert capacity(_points([20, 5, 10], [0.0, 1.0, 0.5]), 0.25).value == pytest.approx(15.0)


@given(SHARES)
@example(np.array([5e-324, *[0.0] * 6]))  # a fall that nothing can be divided by
def test_a_higher_share_never_lasts_longer(shares):
    points = _points([3, 5, 8, 13, 21, 34, 55], shares)
    found = [capacity(points, share).value for share in (0.9, 0.7, 0.5, 0.2)]
    assert found == sorted(found)


def test_empty_lengths_are_left_out_and_two_lengths_are_needed():
    points = _points([5, 10, 20], [1.0, np.nan, 0.0])
    assert capacity(points, 0.5).value == pytest.approx(12.5)
    with pytest.raises(ValueError, match="two lengths"):
        capacity(points[:2], 0.5)
    with pytest.raises(ValueError, match="each once"):
        capacity(_points([5, 5, 10], [1.0, 0.9, 0.0]), 0.5)


def _censored(value, draws=None):
    return Censored(value, np.full(20, value) if draws is None else draws, 2.0, 100.0)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_growth_finds_the_exponent_and_names_what_is_censored(exponent):
    capacities = {size: _censored(0.5 * size**exponent) for size in (16, 32, 64, 128)}
    capacities[512], capacities[8] = _censored(np.inf), _censored(-np.inf)
    growth = capacity_growth(capacities)
    assert growth.exponent.value == pytest.approx(exponent)
    assert growth.exponent.draws == pytest.approx(np.full(20, exponent))
    assert (growth.fitted, growth.left_out) == ((16, 32, 64, 128), (8, 512))


def test_growth_draws_follow_the_capacities_and_end_where_the_lengths_do():
    draws = np.array([4.0, 8.0, -np.inf, np.inf] * 5)
    growth = capacity_growth({16: _censored(4.0), 32: _censored(8.0, draws)})
    assert growth.exponent.value == pytest.approx(1.0)
    assert growth.exponent.draws[:4] == pytest.approx(np.log2([1.0, 2.0, 0.5, 25.0]))


def test_growth_needs_two_context_sizes_with_a_length():
    assert capacity_growth({16: _censored(4.0), 32: _censored(np.inf)}) is None
