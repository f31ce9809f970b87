"""Bits: planted contexts that hold so many words, exact small channels, and where noise goes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from seq2seq_bottleneck.probes.information import (
    growth,
    ratio,
    recovered_bits,
    slope,
    to_bits,
)
from seq2seq_bottleneck.scoring.bootstrap import Estimate, draw, estimate, ratio_of_sums

JOINT = arrays(np.float64, (4, 3), elements=st.floats(0.01, 1.0)).map(lambda p: p / p.sum())


def test_a_fair_coin_is_a_bit():
    assert to_bits(np.array([np.log(2.0), np.log(8.0)])) == pytest.approx([1.0, 3.0])


def _mean_bits(recovered, weights):
    """Bits a sentence, with resamples."""
    columns = np.stack([recovered, np.ones_like(recovered)], axis=-1)
    return estimate(ratio_of_sums, columns, weights)


def test_a_probe_that_knows_nothing_recovers_nothing_as_no_sentence_is_floored():
    """Its bits a sentence are 0 on average: it is lucky as often as not."""
    noise = np.random.default_rng(2).normal(0.0, 5.0, size=(1, 2_000))
    noise -= noise.mean()
    weights = draw(2_000, 300, seed=1, bucket=0)
    recovered = recovered_bits(np.full((1, 2_000), 30.0), 30.0 + noise)
    kept = _mean_bits(recovered, weights)
    assert kept.value == pytest.approx(0.0, abs=1e-9)
    assert kept.interval.low < 0 < kept.interval.high
    floored = _mean_bits(np.maximum(recovered, 0.0), weights)
    assert floored.interval.low > 1.5  # 5 / sqrt(2 pi) = 1.99 bits that are not there


def _mean_under(joint, bits):
    """Exact mean of bits (source x context) under a joint distribution."""
    return (joint * bits).sum()


@given(JOINT, JOINT)
def test_no_probe_reads_more_than_the_information_and_the_truth_reads_all(joint, guessed):
    source, context = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    information = stats.entropy(joint.ravel(), np.outer(source, context).ravel(), base=2)
    without = to_bits(np.broadcast_to(-np.log(source), joint.shape))
    probed = to_bits(-np.log(guessed / guessed.sum(axis=0)))
    truth = to_bits(-np.log(joint / context))
    assert _mean_under(joint, recovered_bits(without, truth)) == pytest.approx(information)
    assert _mean_under(joint, recovered_bits(without, probed)) <= information + 1e-9


@given(JOINT, arrays(np.float64, 4, elements=st.floats(0.01, 1.0)))
def test_an_undertrained_language_flatters(joint, weights):
    source, context = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    language = (weights / weights.sum())[:, None] + 0 * joint
    truth = to_bits(-np.log(joint / context))
    exact = recovered_bits(to_bits(-np.log(source) + 0 * joint), truth)
    flattered = recovered_bits(to_bits(-np.log(language)), truth)
    assert _mean_under(joint, flattered) >= _mean_under(joint, exact) - 1e-9


def _bucket(place, low, high, limit):
    """Mean words, recovered and exact bits of sentences at 3 bits a word, of which a limit fits."""
    rng = np.random.default_rng(place)
    words = rng.integers(low, high + 1, size=500)
    exact = 3.0 * words
    given_context = 3.0 * np.maximum(words - limit, 0) + rng.normal(0.0, 2.0, size=(2, 500))
    weights = draw(500, 400, seed=1, bucket=place)
    whole = _mean_bits(exact[None], weights)
    return words.mean(), _mean_bits(recovered_bits(exact, given_context), weights), whole


EDGES = ((5, 10), (11, 20), (21, 30), (31, 40), (41, 50))


def test_bits_that_level_off_and_bits_that_rise_are_told_apart():
    limited = growth(*zip(*(_bucket(i, *e, 20) for i, e in enumerate(EDGES)), strict=True))
    unlimited = growth(*zip(*(_bucket(i, *e, 999) for i, e in enumerate(EDGES)), strict=True))
    assert limited.upper.kept.interval.low < 0 < limited.upper.kept.interval.high
    assert limited.upper.kept.value == pytest.approx(0.0, abs=0.02)
    assert limited.upper.kept.interval.high < limited.lower.kept.interval.low
    for part in (unlimited.lower, unlimited.upper):
        assert part.exact.value == pytest.approx(3.0)
        assert part.kept.interval.low < 1 < part.kept.interval.high
        assert part.kept.value == pytest.approx(1.0, abs=0.02)


def test_slope_is_least_squares_in_the_value_and_in_every_draw():
    rng = np.random.default_rng(3)
    words = [7.0, 15.0, 26.0]
    bits = [Estimate(float(x), x + rng.normal(size=5)) for x in (20.0, 41.0, 55.0)]
    ours = slope(words, bits)
    assert ours.value == pytest.approx(stats.linregress(words, [20.0, 41.0, 55.0]).slope)
    for i, found in enumerate(ours.draws):
        assert found == pytest.approx(np.polyfit(words, [one.draws[i] for one in bits], 1)[0])


def test_empty_buckets_are_left_out_and_three_are_needed():
    empty = Estimate(np.nan, np.full(2, np.nan))
    at = [Estimate(float(x), np.full(2, float(x))) for x in (10, 20, 20)]
    found = growth([5.0, 8.0, 10.0, 20.0], [at[0], empty, at[1], at[2]], [at[0], empty, *at[1:]])
    assert [found.lower.slope.value, found.upper.slope.value] == pytest.approx([2.0, 0.0])
    with pytest.raises(ValueError, match="three filled buckets, not 2"):
        growth([5.0, 10.0], at[:2], at[:2])


def test_a_share_of_nothing_is_undefined():
    none = Estimate(0.0, np.zeros(3))
    assert np.isnan(ratio(Estimate(1.0, np.ones(3)), none).value)
