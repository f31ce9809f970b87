"""Quantised memories: the error's bound, its known mean square, and the edges of the range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seq2seq_bottleneck.questions.coarse_memory import quantise

VECTORS = arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3))


@given(VECTORS, VECTORS, st.integers(1, 12))
def test_a_number_moves_by_half_a_cell_at_most_and_one_outside_to_the_edge(training, test, bits):
    low, high = training.min(axis=0), training.max(axis=0)
    coarse = quantise(test, (low, high), bits)
    inside = np.clip(test, low, high)
    assert (np.abs(coarse - inside) <= (high - low) / 2 ** (bits + 1) + 1e-9).all()
    assert coarse == pytest.approx(quantise(inside, (low, high), bits), abs=1e-9)
    assert quantise(coarse, (low, high), bits) == pytest.approx(coarse, abs=1e-9)
    order = np.argsort(test, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(coarse, order, axis=0), axis=0) >= 0).all()


def test_one_bit_is_the_middle_of_either_half():
    span = (np.array([-1.0, 0.0]), np.array([1.0, 4.0]))
    coarse = quantise(np.array([[-0.9, 3.9], [-0.1, 2.0], [0.1, 1.9], [7.0, -7.0]]), span, 1)
    assert coarse == pytest.approx(np.array([[-0.5, 3.0], [-0.5, 3.0], [0.5, 1.0], [0.5, 1.0]]))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_mean_square_error_of_uniform_numbers_is_a_twelfth_of_a_cell_squared(bits):
    vectors = np.random.default_rng(bits).uniform(-1.0, 1.0, size=(20_000, 4))
    error = quantise(vectors, (np.full(4, -1.0), np.full(4, 1.0)), bits) - vectors
    assert (error**2).mean() == pytest.approx((2.0 / 2**bits) ** 2 / 12, rel=0.03)


def test_precision_and_further_axes_are_kept_and_what_never_varies_stays():
    states = np.full((2, 3, 1), 0.25, np.float32)
    coarse = quantise(states, (np.full(1, 0.25), np.full(1, 0.25)), 4)
    assert coarse.dtype == np.float32
    assert coarse == pytest.approx(states)
