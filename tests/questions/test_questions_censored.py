"""Values beyond the tested range: how they read, and intervals that end in one."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions.censored import Censored, censor

INF, NAN = np.inf, np.nan


def test_values_outside_are_infinite_and_those_on_the_edge_are_not():
    values = np.array([1.0, 2.0, 3.0, 9.0, 9.5, INF, NAN])
    expected = [-INF, 2.0, 3.0, 9.0, INF, INF, NAN]
    assert censor(values, 2.0, 9.0) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("value", "side", "shown"), [(3.25, "", 3.25), (INF, "at least", 9.0), (-INF, "under", 2.0)]
)
def test_a_bound_reads_as_one(value, side, shown):
    number = Censored(value, np.full(3, value), 2.0, 9.0)
    assert (number.side, number.shown) == (side, shown)


@pytest.mark.parametrize(
    ("draws", "ends"),
    [
        (np.arange(101.0), (2.0, 98.0)),
        (np.r_[np.full(11, INF), np.arange(90.0)], (2.0, INF)),
        (np.array([5.0, NAN]), (NAN, NAN)),
    ],
)
def test_interval_ends_are_draws_or_beyond_the_range_or_undefined(draws, ends):
    interval = Censored(50.0, draws, 0.0, 100.0).interval
    assert (interval.low, interval.high) == pytest.approx(ends, nan_ok=True)
