"""Quantised contexts: the error's bound, its known mean square, and the edges of the range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seq2seq_bottleneck.probes.quantisation import Range, cells, quantise, range_of

VECTORS = arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3))
BITS = st.integers(1, 12)


@given(VECTORS, BITS)
def test_error_is_at_most_half_a_cell_and_a_second_pass_changes_nothing(vectors, bits):
    span = range_of(vectors)
    found = quantise(vectors, span, bits)
    step = (span.high - span.low) / 2**bits
    assert (np.abs(found - vectors) <= step / 2 + 1e-9).all()
    assert quantise(found, span, bits) == pytest.approx(found, abs=1e-9)
    assert all(len(np.unique(column)) <= 2**bits for column in found.T)


@given(VECTORS, VECTORS, BITS)
def test_values_outside_are_those_at_the_edge_and_order_is_kept(training, test, bits):
    span = range_of(training)
    found = cells(test, span, bits)
    assert np.array_equal(found, cells(np.clip(test, span.low, span.high), span, bits))
    order = np.argsort(test, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(found, order, axis=0), axis=0) >= 0).all()


def test_one_bit_is_the_middle_of_either_half():
    span = Range(np.array([-1.0, 0.0]), np.array([1.0, 4.0]))
    found = quantise(np.array([[-0.9, 3.9], [-0.1, 2.0], [0.1, 1.9], [7.0, -7.0]]), span, 1)
    assert found == pytest.approx(np.array([[-0.5, 3.0], [-0.5, 3.0], [0.5, 1.0], [0.5, 1.0]]))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_mean_square_error_of_uniform_numbers_is_a_twelfth_of_a_cell_squared(bits):
    vectors = np.random.default_rng(bits).uniform(-1.0, 1.0, size=(20_000, 4))
    span = Range(np.full(4, -1.0), np.full(4, 1.0))
    error = quantise(vectors, span, bits) - vectors
    assert (error**2).mean() == pytest.approx((2.0 / 2**bits) ** 2 / 12, rel=0.03)


def test_eight_bits_hardly_move_a_context():
    contexts = np.tanh(np.random.default_rng(1).normal(size=(500, 64))).astype(np.float32)
    found = quantise(contexts, range_of(contexts), 8)
    assert found.dtype == np.float32
    assert np.abs(found - contexts).max() < 2 / 256
    assert np.corrcoef(found.ravel(), contexts.ravel())[0, 1] > 0.9999


def test_ranges_by_number_in_common_and_without_tails():
    training = np.stack([np.arange(101.0), 10 * np.arange(101.0)], axis=-1)
    assert np.stack([range_of(training).low, range_of(training).high]) == pytest.approx(
        np.array([[0.0, 0.0], [100.0, 1000.0]])
    )
    trimmed = range_of(training, tail=0.05)
    assert trimmed.low == pytest.approx([5.0, 50.0])
    assert trimmed.high == pytest.approx([95.0, 950.0])
    common = range_of(training, common=True)
    assert common.low == pytest.approx([0.0, 0.0])
    assert common.high == pytest.approx([1000.0, 1000.0])


def test_a_number_that_never_varies_stays_and_other_axes_are_kept():
    states = np.full((2, 3, 1), 0.25)
    found = quantise(states, range_of(states[0]), 4)
    assert found == pytest.approx(states)


def test_refuses_bits_ranges_and_numbers_that_mean_nothing():
    one = Range(np.zeros(1), np.ones(1))
    for bits in (0, 17):
        with pytest.raises(ValueError, match="bits a number"):
            quantise(np.zeros((1, 1)), one, bits)
    with pytest.raises(ValueError, match="not defined"):
        quantise(np.full((1, 1), np.nan), one, 2)
    with pytest.raises(ValueError, match="above its high"):
        Range(np.ones(1), np.zeros(1))
    with pytest.raises(ValueError, match="finite"):
        Range(np.zeros(1), np.full(1, np.inf))
    with pytest.raises(ValueError, match="tail"):
        range_of(np.zeros((2, 1)), tail=0.5)
