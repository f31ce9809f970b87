"""Gradients over distance: chains whose half-distance is known, and words without a gradient."""

import numpy as np
import pytest

from seq2seq_bottleneck.probes.gradients import (
    LEAST_RATIO,
    GradientRecords,
    gradient_curve,
    half_distance,
)
from seq2seq_bottleneck.scoring.bootstrap import draw

SENTENCES, LENGTH = 60, 12


def _records(ratio_at, *, noise=0.0, seed=0, last=2.5):
    """A record a source word, sentences of equal length; ratio_at of the distance, times noise."""
    rng = np.random.default_rng(seed)
    sentence = np.repeat(np.arange(SENTENCES), LENGTH)
    distance = np.tile(np.arange(LENGTH), SENTENCES)
    level = rng.lognormal(0.0, 1.0, size=len(sentence)) * last
    ratio = ratio_at(distance) * rng.lognormal(0.0, noise, size=len(sentence))
    return GradientRecords(sentence, distance, ratio * level, level)


def _weights(resamples=200):
    return draw(SENTENCES, resamples, seed=1, bucket=0)


def _chain_gradients(rate, length):
    """d h_T / d x_i of h_t = rate h_(t-1) + x_t by finite differences, last position first."""

    def last_state(inputs):
        state = 0.0
        for x in inputs:
            state = rate * state + x
        return state

    base = np.linspace(-1.0, 1.0, length)
    steps = 1e-4 * np.eye(length)
    found = [last_state(base + step) - last_state(base - step) for step in steps]
    return np.array(found)[::-1] / 2e-4


@pytest.mark.parametrize("rate", [0.6, 0.9])
def test_a_linear_chain_halves_where_its_rate_says(rate):
    gradients = _chain_gradients(rate, LENGTH)
    curve = gradient_curve([_records(lambda d: gradients[d])], _weights())
    assert [ratio.value for ratio in curve.ratios] == pytest.approx(rate ** np.arange(LENGTH))
    half = half_distance(curve)
    assert (half.side, half.value) == ("", pytest.approx(np.log(0.5) / np.log(rate)))
    assert [half.interval.low, half.interval.high] == pytest.approx([half.value, half.value])


def test_noise_widens_the_interval_about_the_truth():
    truth = np.log(0.5) / np.log(0.85)
    half = half_distance(
        gradient_curve([_records(lambda d: 0.85**d, noise=0.8, seed=3)], _weights())
    )
    assert half.interval.low < truth < half.interval.high
    assert half.interval.high - half.interval.low > 0.1


def test_fit_is_least_squares_weighted_by_words():
    rng = np.random.default_rng(4)
    distance = rng.choice([2, 3, 7, 9], p=[0.6, 0.2, 0.1, 0.1], size=400)
    sentence = rng.integers(SENTENCES, size=400)
    norms = 0.8**distance * rng.lognormal(0.0, 0.5, size=400)
    records = GradientRecords(sentence, distance, norms, np.ones(400))
    curve = gradient_curve([records], _weights())
    assert curve.distances.tolist() == [2, 3, 7, 9]
    line = np.polyfit(distance, np.log(norms), 1)  # of single words: the same line
    assert half_distance(curve).value == pytest.approx(np.log(0.5) / line[0])


@pytest.mark.parametrize("rate", [1.0, 1.1, 0.99])
def test_what_does_not_halve_within_the_tested_distances_is_censored(rate):
    half = half_distance(gradient_curve([_records(lambda d: rate**d)], _weights()))
    assert (half.side, half.shown) == ("at least", LENGTH - 1)
    assert half.interval.high == np.inf


def test_mean_over_words_and_seeds_is_geometric():
    seeds = [_records(lambda d: 0.5 + 0 * d), _records(lambda d: 0.08 + 0 * d)]
    curve = gradient_curve(seeds, _weights())
    assert [ratio.value for ratio in curve.ratios] == pytest.approx([0.2] * LENGTH)
    assert curve.words.tolist() == [2 * SENTENCES] * LENGTH
    mixed = GradientRecords(
        np.array([0, 1]), np.array([0, 0]), np.array([1.0, 100.0]), np.array([1.0, 1.0])
    )
    assert gradient_curve([mixed], np.ones((1, 2))).ratios[0].value == pytest.approx(10.0)


def test_a_distance_is_of_the_curve_where_every_seed_has_words():
    first = GradientRecords(np.array([0, 0]), np.array([0, 4]), np.ones(2), np.ones(2))
    second = GradientRecords(np.array([0, 0]), np.array([0, 3]), np.ones(2), np.ones(2))
    curve = gradient_curve([first, second], np.ones((1, 1)))
    assert (curve.distances.tolist(), curve.words.tolist()) == ([0], [2])


def test_vanished_gradients_count_as_little_and_are_counted():
    records = GradientRecords(
        sentence=np.array([0, 0, 1, 1, 2]),
        distance=np.array([0, 5, 0, 5, 5]),
        at_aligned=np.array([1.0, 0.0, 1.0, 1e-30, 1.0]),
        at_last=np.array([1.0, 1.0, 1.0, 1.0, 0.0]),
    )
    curve = gradient_curve([records], np.ones((1, 3)))
    assert curve.distances.tolist() == [0, 5]
    assert curve.words.tolist() == [2, 2]
    assert curve.vanished.tolist() == [0, 2]
    assert curve.left_out == 1
    assert curve.ratios[1].value == pytest.approx(LEAST_RATIO, rel=1e-9, abs=0)


def test_single_precision_records_are_summed_in_double():
    tiny = GradientRecords(
        np.array([0]), np.array([1]), np.array([1e-40], np.float32), np.array([1e-35], np.float32)
    )
    assert gradient_curve([tiny], np.ones((1, 1))).ratios[0].value == pytest.approx(1e-5, rel=1e-4)


def test_a_distance_that_a_resample_misses_has_no_interval_and_does_not_spoil_the_fit():
    records = _records(lambda d: 0.7**d)
    kept = (records.distance < 4) | (records.sentence == 0)
    fields = (records.sentence, records.distance, records.at_aligned, records.at_last)
    curve = gradient_curve([GradientRecords(*(field[kept] for field in fields))], _weights())
    assert np.isnan(curve.ratios[-1].interval.low)
    half = half_distance(curve)
    assert half.interval.low == pytest.approx(np.log(0.5) / np.log(0.7))


def test_refuses_one_distance_and_records_outside():
    one = GradientRecords(np.array([0]), np.array([3]), np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match="two distances, not 1"):
        half_distance(gradient_curve([one], np.ones((1, 1))))
    with pytest.raises(ValueError, match="sentence is outside 0 to 0"):
        gradient_curve(
            [GradientRecords(np.array([1]), np.array([3]), np.ones(1), np.ones(1))], np.ones((1, 1))
        )
    with pytest.raises(ValueError, match="distance is outside"):
        gradient_curve(
            [GradientRecords(np.array([0]), np.array([-1]), np.ones(1), np.ones(1))],
            np.ones((1, 1)),
        )
