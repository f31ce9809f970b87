"""Spread over seeds against scipy."""

import numpy as np
import pytest
from scipy import stats

from seq2seq_bottleneck.scoring.bootstrap import spread


@pytest.mark.parametrize("seeds", [2, 3, 5, 11, 12, 30, 200])
def test_interval_is_students(seeds):
    values = np.random.default_rng(seeds).normal(30.0, 2.0, size=seeds)
    ours = spread(values)
    error = stats.sem(values)
    low, high = stats.t.interval(0.95, seeds - 1, loc=values.mean(), scale=error)
    assert (ours.seeds, ours.mean) == (seeds, pytest.approx(values.mean()))
    assert ours.sd == pytest.approx(np.std(values, ddof=1))
    assert ours.low == pytest.approx(low)
    assert ours.high == pytest.approx(high)


def test_one_seed_has_a_mean_and_no_spread():
    only = spread(np.array([30.0]))
    assert (only.seeds, only.mean) == (1, 30.0)
    assert np.isnan([only.sd, only.low, only.high]).all()


def test_no_seed_has_nothing():
    none = spread(np.array([]))
    assert none.seeds == 0
    assert np.isnan([none.mean, none.sd]).all()
