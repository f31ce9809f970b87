"""Values beyond the tested range: how they read, and intervals that end in one."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions.censored import Censored, censor
from seq2seq_bottleneck.scoring.bootstrap import Interval


def test_values_outside_are_infinite_and_those_on_the_edge_are_not():
    values = np.array([1.0, 2.0, 3.0, 9.0, 9.5, np.inf, np.nan])
    expected = [-np.inf, 2.0, 3.0, 9.0, np.inf, np.inf, np.nan]
    assert censor(values, 2.0, 9.0) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("value", "side", "shown"),
    [(3.25, "", 3.25), (np.inf, "at least", 9.0), (-np.inf, "under", 2.0)],
)
def test_a_bound_reads_as_one(value, side, shown):
    one = Censored(value, np.full(3, value), 2.0, 9.0)
    assert (one.side, one.shown) == (side, shown)


def test_interval_ends_are_draws_or_beyond_the_range():
    draws = np.random.default_rng(1).permutation(np.r_[np.arange(90.0), np.full(11, np.inf)])
    assert Censored(50.0, draws, 0.0, 90.0).interval == Interval(2.0, np.inf)
    assert Censored(50.0, np.arange(101.0), 0.0, 100.0).interval == Interval(2.0, 98.0)


def test_undefined_draws_leave_no_interval():
    interval = Censored(5.0, np.array([5.0, np.nan]), 0.0, 9.0).interval
    assert np.isnan([interval.low, interval.high]).all()
