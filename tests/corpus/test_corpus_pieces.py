"""From pieces to words: whose pieces they are, and weights that still add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.pieces import (
    backwards,
    by_word,
    links_from_weights,
    overlaps,
    shares_of,
)
from seq2seq_bottleneck.corpus.subwords import learn_subwords
from seq2seq_bottleneck.corpus.tokens import WORDS, tokenize

SUBWORDS = learn_subwords(["the houses (old). l'été, the house", "▁ a b)."] * 9, 330, "x")


def cuts(draw: st.DrawFn, total: int) -> list[int]:
    """Sizes above 0 that add up to the total."""
    places = draw(st.sets(st.integers(1, total - 1))) if total > 1 else set()
    return np.diff([0, *sorted(places), total]).tolist()


@st.composite
def two_cuts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """One text cut twice."""
    total = draw(st.integers(1, 25))
    return cuts(draw, total), cuts(draw, total)


@given(two_cuts())
def test_shares_are_counts_of_bytes(sizes: tuple[list[int], list[int]]) -> None:
    pieces, words = sizes
    owners = [np.repeat(np.arange(len(each) + 1), [*each, 1]) for each in sizes]
    counts = np.zeros((len(pieces) + 1, len(words) + 1))
    for piece, word in zip(*owners, strict=True):
        counts[piece, word] += 1
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(overlaps(pieces, words), expected)


@given(two_cuts(), two_cuts(), st.integers(0, 2**20))
def test_weights_of_a_target_word_still_add_up_to_one(
    source: tuple[list[int], list[int]], target: tuple[list[int], list[int]], seed: int
) -> None:
    weights = np.random.default_rng(seed).random((len(target[0]) + 1, len(source[0]) + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    found = by_word(weights, overlaps(*source), overlaps(*target))
    assert found.shape == (len(target[1]) + 1, len(source[1]) + 1)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[-1, -1], weights[-1, -1])


def test_source_pieces_are_added_and_target_pieces_averaged() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]])
    expected = [[0.25, 0.5, 0.25], [0.7, 0.2, 0.1]]
    np.testing.assert_allclose(
        by_word(weights, overlaps([1, 1, 1], [1, 2]), overlaps([1, 1], [2])), expected
    )
    np.testing.assert_allclose(
        by_word(weights, overlaps([3, 1, 2], [3, 3]), overlaps([4, 1], [5])), expected
    )


def test_a_piece_of_two_words_gives_each_its_share_and_counts_in_both() -> None:
    shares = overlaps([1, 3], [2, 2])
    np.testing.assert_allclose(shares, [[1, 0, 0], [1 / 3, 2 / 3, 0], [0, 0, 1]])
    found = by_word(np.array([[0.3, 0.6, 0.1], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]]), shares, shares)
    np.testing.assert_allclose(found[0], [(0.5 + 0.3) / 2, (0.4 + 0.6) / 2, 0.1])
    np.testing.assert_allclose(found[1], [0.3, 0.6, 0.1])


def test_a_piece_without_bytes_belongs_to_the_word_that_follows() -> None:
    np.testing.assert_array_equal(
        overlaps([2, 0, 3], [2, 3]), [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    )


def test_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match="pieces of 3 bytes for words of 4"):
        overlaps([1, 2], [4])


@given(st.text())
def test_every_text_has_shares(text: str) -> None:
    words = tokenize(text)
    pieces = SUBWORDS.pieces(text)
    assert shares_of(pieces, words, SUBWORDS).shape == (len(pieces) + 1, len(words) + 1)
    own = shares_of(words, words, WORDS)
    np.testing.assert_array_equal(own, np.eye(len(words) + 1))


def test_pieces_of_a_known_text() -> None:
    text = "the houses (old)."
    pieces = SUBWORDS.pieces(text)
    owner = shares_of(pieces, tokenize(text), SUBWORDS).argmax(axis=1)
    joined = ["", "", "", "", "", "", ""]
    for piece, word in zip(pieces, owner, strict=False):
        joined[word] += piece.replace("▁", "")
    assert joined[:2] == ["the", "houses"]
    assert "".join(joined) == "thehouses(old)."


def test_backwards_keeps_the_end_last() -> None:
    forward, turned = overlaps([1, 1, 2], [2, 2]), overlaps([2, 1, 1], [2, 2])
    np.testing.assert_array_equal(backwards(forward), turned)


def test_links_from_weights_leave_end_tokens_out() -> None:
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    assert links_from_weights(weights, 2, 2) == {(1, 0), (0, 1)}
    assert links_from_weights(weights, 3, 3) == {(2, 0), (0, 1), (2, 2)}
    assert links_from_weights(weights, 0, 2) == frozenset()
