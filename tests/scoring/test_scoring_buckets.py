"""Length buckets, and ratios of sums."""

import numpy as np
import pytest

from seq2seq_bottleneck.scoring.bootstrap import ratio_of_sums
from seq2seq_bottleneck.settings.buckets import OUTSIDE, Buckets, holds

SLIDES = Buckets((5, 11, 21, 31, 41))


def test_names_are_the_projects():
    assert SLIDES.names == ("5-10", "11-20", "21-30", "31-40", "41+")
    assert Buckets((1, 2, 4)).names == ("1", "2-3", "4+")


@pytest.mark.parametrize(
    ("words", "bucket"),
    [(0, OUTSIDE), (4, OUTSIDE), (5, 0), (10, 0), (11, 1), (31, 3), (40, 3), (41, 4), (500, 4)],
)
def test_edges_belong_to_the_bucket_they_open(words, bucket):
    assert SLIDES.assign(np.array([words])).tolist() == [bucket]


def test_ratio_of_sums_is_not_the_mean_of_ratios():
    assert ratio_of_sums(np.array([[3.0, 2.0], [30.0, 10.0]]).sum(axis=0)) == 33 / 12
    assert np.isnan(ratio_of_sums(np.array([0.0, 0.0])))


@pytest.mark.parametrize(
    ("bucket", "words", "expected"),
    [("21-30", 30, True), ("21-30", 31, False), ("31-40", 30, False), ("30", 30, True),
     ("41+", 41, True), ("41+", 40, False)],
)  # fmt: skip
def test_which_bucket_holds_a_length(bucket, words, expected):
    assert holds(bucket, words) is expected
