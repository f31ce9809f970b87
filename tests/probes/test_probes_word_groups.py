"""Bands of position and frequency, places of classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.probes.word_groups import (
    FREQUENCY_NAMES,
    class_places,
    frequency_bands,
    relative_bands,
)


def test_fifths_by_hand() -> None:
    assert relative_bands(10, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert relative_bands(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert relative_bands(1, 5).tolist() == [2]
    assert relative_bands(0, 5).shape == (0,)


@given(words=st.integers(1, 80), bands=st.integers(1, 10))
def test_bands_mirror_each_other_ascend_and_are_filled(words: int, bands: int) -> None:
    ours = relative_bands(words, bands)
    middles = (np.arange(words) + 0.5) / words * bands
    inside = ~np.isclose(middles, np.round(middles))  # not on an edge between two bands
    assert np.array_equal(ours[inside], np.floor(middles[inside]))
    assert np.array_equal(ours[inside], (bands - 1 - ours[::-1])[inside])
    assert (np.diff(ours) >= 0).all()
    if words >= bands:
        assert set(ours) == set(range(bands))


def test_frequency_bands_and_their_names() -> None:
    counts = {"a": 1, "b": 9, "c": 10, "d": 999, "e": 1000}
    assert FREQUENCY_NAMES == ("unseen", "1-9", "10-99", "100-999", "1000+")
    assert frequency_bands(["x", *"abcde"], counts).tolist() == [0, 1, 1, 2, 3, 4]


def test_a_class_that_is_not_asked_for_is_no_group() -> None:
    assert class_places(["verb", "", "noun"], ("noun", "verb")).tolist() == [1, -1, 0]
