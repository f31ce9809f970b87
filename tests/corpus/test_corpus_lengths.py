"""Buckets and length distributions against hand-worked answers."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.lengths import length_groups, length_probabilities, shares
from seq2seq_bottleneck.settings.buckets import OUTSIDE, bucket_labels, bucket_of
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21, 31, 41)


def one(words: int) -> float:
    """Every length is equally common."""
    return float(words > 0)


def test_buckets_of_the_lecture() -> None:
    assert bucket_labels(EDGES) == ("5-10", "11-20", "21-30", "31-40", "41+")
    assert [bucket_of(words, EDGES) for words in (1, 4, 5, 10, 11, 40, 41, 900)] == [
        OUTSIDE, OUTSIDE, 0, 0, 1, 3, 4, 4,
    ]  # fmt: skip
    assert bucket_labels((5, 6, 9)) == ("5", "6-8", "9+")


def test_groups_are_cut_at_edges_and_limits() -> None:
    assert length_groups(2, 60, EDGES)[0] == range(2, 5)
    assert length_groups(2, 60, EDGES)[-1] == range(41, 61)
    assert length_groups(7, 12, EDGES) == (range(7, 11), range(11, 13))
    assert length_groups(5, 5, EDGES) == (range(5, 6),)
    assert length_groups(1, 3, (1, 2)) == (range(1, 2), range(2, 4))


def test_even_buckets() -> None:
    chances = length_probabilities("buckets", 2, 60, EDGES, one)
    assert chances[2] == pytest.approx(1 / 6 / 3)
    assert chances[5] == pytest.approx(1 / 6 / 6)
    assert chances[60] == pytest.approx(1 / 6 / 20)


def test_even_buckets_skip_lengths_that_cannot_be_drawn() -> None:
    chances = length_probabilities("buckets", 2, 12, EDGES, lambda words: float(words % 2))
    assert chances == pytest.approx({3: 1 / 3, 5: 1 / 9, 7: 1 / 9, 9: 1 / 9, 11: 1 / 3})


def test_uniform_and_natural() -> None:
    assert length_probabilities("uniform", 3, 6, EDGES, float)[6] == 0.25
    natural = length_probabilities("natural", 1, 4, EDGES, float)
    assert natural == pytest.approx({1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4})


def test_no_drawable_length() -> None:
    with pytest.raises(UserError, match=r"^no sentence of 2-3 words can be drawn; change corpus"):
        length_probabilities("natural", 2, 3, EDGES, lambda words: 0.0 * words)


@given(
    st.sampled_from(["buckets", "uniform", "natural"]),
    st.integers(1, 30),
    st.integers(0, 60),
    st.sets(st.integers(1, 50), min_size=2).map(lambda edges: tuple(sorted(edges))),
)
def test_probabilities_sum_to_one(kind, low: int, more: int, edges: tuple[int, ...]) -> None:
    chances = length_probabilities(kind, low, low + more, edges, lambda words: 1 / words)
    assert list(chances) == list(range(low, low + more + 1))
    assert fsum(chances.values()) == pytest.approx(1)
    groups = [fsum(chances[words] for words in g) for g in length_groups(low, low + more, edges)]
    if kind == "buckets":
        assert groups == pytest.approx([1 / len(groups)] * len(groups))


def test_shares() -> None:
    assert shares(1_200, [1 / 6] * 6) == [200] * 6
    assert shares(500, [0.3 / 3] * 6) == [84, 84, 83, 83, 83, 83]
    assert shares(10, [0.7, 0.3]) == [7, 3]
    assert shares(1, [0.2, 0.5, 0.3]) == [0, 1, 0]


@given(st.integers(0, 5_000), st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_shares_add_up_and_are_near(count: int, masses: list[float]) -> None:
    parts = shares(count, masses)
    assert sum(parts) == count
    near = (
        abs(part - count * mass / fsum(masses)) for part, mass in zip(parts, masses, strict=True)
    )
    assert max(near) <= 1 + 1e-6
