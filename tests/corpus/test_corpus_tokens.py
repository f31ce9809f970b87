"""Tokens that come back as text, words as numbers, and the words that pieces belong to."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from seq2seq_bottleneck.corpus.subwords import (
    backwards,
    by_word,
    learn_subwords,
    links_from_weights,
    overlaps,
    shares_of,
)
from seq2seq_bottleneck.corpus.vocabulary import (
    BOS,
    EOS,
    JOINER,
    PAD,
    SPECIAL,
    UNK,
    UNKNOWN,
    WORDS,
    Vocabulary,
    build_vocabulary,
    detokenize,
    plain,
    tokenize,
)

# Word tokens.


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("l'homme, dit-il", ["l'￭", "homme", "￭,", "dit-il"]),
        ("the cat's mat.", ["the", "cat", "￭'s", "mat", "￭."]),
        ("Qu’il aille", ["Qu’￭", "il", "aille"]),
        ("3,5 (env.) », « oui »", ["3,5", "(￭", "env", "￭.", "￭)", "»", "￭,", "«", "oui", "»"]),
        ("w17 w0", ["w17", "w0"]),
        ("  ", []),
    ],
)
def test_known_tokens(text, tokens):
    assert [plain(token) for token in tokenize(text)] == [plain(token) for token in tokens]


@given(st.text())
@example("a￭b ￭")
@example("''s 's' l'l'a")
def test_text_comes_back(text):
    tokens = tokenize(text)
    assert detokenize(tokens) == " ".join(text.replace(JOINER, "\u25a0").split())
    assert all(token and not any(map(str.isspace, token)) for token in tokens)


# Vocabularies.


def test_a_vocabulary_by_hand():
    sentences = [["b", "a", "c", *SPECIAL], ["b", "d", "a"], ["b"]]
    vocabulary = build_vocabulary(sentences, 10)
    assert vocabulary.tokens == (*SPECIAL, "b", "a", "c", "d")  # ties in string order
    vocabulary = build_vocabulary(sentences, 3)
    assert vocabulary.words == ("b", "a", "c")
    assert vocabulary.encode(["a", "d", "b", *SPECIAL]) == [5, UNK, 4, *[UNK] * 4]
    assert vocabulary.decode([BOS, 5, UNK, 4, EOS, 5]) == ["a", UNKNOWN, "b"]
    assert vocabulary.decode([PAD, 5, PAD]) == ["a"]
    assert vocabulary.unknown_rate(sentences) == pytest.approx(5 / 11)
    assert vocabulary.unknown_rate([]) == 0


@pytest.mark.parametrize(
    "tokens", [["le", UNKNOWN, "￭."], ["l'￭", UNKNOWN, "￭,", UNKNOWN], [UNKNOWN, UNKNOWN]]
)
def test_scorer_leaves_the_unknown_word_whole(tokens):
    """With an ordinary word in its place the scorer finds the same number of tokens."""
    scorer = Tokenizer13a()
    scored = scorer(detokenize(tokens)).split()
    word = scorer(detokenize(["mot" if token == UNKNOWN else token for token in tokens])).split()
    assert [token.replace(UNKNOWN, "mot") for token in scored] == word
    assert UNKNOWN not in word


@given(st.lists(st.lists(st.text().filter(bool)), min_size=1), st.integers(1, 20))
def test_known_tokens_come_back(sentences, cap):
    vocabulary = build_vocabulary(sentences, cap)
    assert len(vocabulary.words) <= cap
    known = set(vocabulary.words)
    for tokens in sentences:
        back = vocabulary.decode([*vocabulary.encode(tokens), EOS, EOS])
        assert back == [token if token in known else UNKNOWN for token in tokens]


@given(st.lists(st.text()))
def test_to_bytes_and_back(texts):
    vocabulary = build_vocabulary(map(tokenize, texts), 1_000)
    content = vocabulary.to_bytes()
    assert Vocabulary.from_bytes(content) == vocabulary
    assert content.count(b"\n") == len(vocabulary)
    with pytest.raises(ValueError, match="no vocabulary: it must start with <pad> <s>"):
        Vocabulary.from_bytes(b"the\ncat\n")


# From pieces to words.

SUBWORDS = learn_subwords(["the houses (old). l'été, the house", "▁ a b)."] * 9, 330, "x")


@st.composite
def two_cuts(draw: st.DrawFn) -> list[list[int]]:
    """One text cut twice: sizes above 0 that add up to the same total."""
    total = draw(st.integers(1, 25))
    places = st.sets(st.integers(1, total - 1)) if total > 1 else st.just(set())
    return [np.diff([0, *sorted(draw(places)), total]).tolist() for _ in range(2)]


@given(two_cuts())
def test_shares_are_counts_of_bytes(sizes):
    pieces, words = sizes
    owners = [np.repeat(np.arange(len(side) + 1), [*side, 1]) for side in sizes]
    counts = np.zeros((len(pieces) + 1, len(words) + 1))
    for piece, word in zip(*owners, strict=True):
        counts[piece, word] += 1
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(overlaps(pieces, words), expected)


@given(two_cuts(), two_cuts(), st.integers(0, 2**20))
def test_weights_of_a_target_word_still_add_up_to_one(source, target, seed):
    weights = np.random.default_rng(seed).random((len(target[0]) + 1, len(source[0]) + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    result = by_word(weights, overlaps(*source), overlaps(*target))
    assert result.shape == (len(target[1]) + 1, len(source[1]) + 1)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    np.testing.assert_allclose(result[-1, -1], weights[-1, -1])


def test_source_pieces_are_added_and_target_pieces_averaged():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]])
    expected = [[0.25, 0.5, 0.25], [0.7, 0.2, 0.1]]
    for source, target in (
        (overlaps([1, 1, 1], [1, 2]), overlaps([1, 1], [2])),
        (overlaps([3, 1, 2], [3, 3]), overlaps([4, 1], [5])),
    ):
        np.testing.assert_allclose(by_word(weights, source, target), expected)


def test_pieces_of_two_words_and_pieces_without_bytes():
    shares = overlaps([1, 3], [2, 2])
    np.testing.assert_allclose(shares, [[1, 0, 0], [1 / 3, 2 / 3, 0], [0, 0, 1]])
    weights = np.array([[0.3, 0.6, 0.1], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
    expected = [[(0.5 + 0.3) / 2, (0.4 + 0.6) / 2, 0.1], [0.3, 0.6, 0.1]]
    np.testing.assert_allclose(by_word(weights, shares, shares)[:2], expected)
    # What has no bytes belongs to the word that follows.
    expected = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(overlaps([2, 0, 3], [2, 3]), expected)
    with pytest.raises(ValueError, match="pieces of 3 bytes for words of 4"):
        overlaps([1, 2], [4])
    forward, backward = overlaps([1, 1, 2], [2, 2]), overlaps([2, 1, 1], [2, 2])
    np.testing.assert_array_equal(backwards(forward), backward)


@given(st.text())
@example("the houses (old).")
def test_every_text_has_shares(text):
    words, pieces = tokenize(text), SUBWORDS.pieces(text)
    shares = shares_of(pieces, words, SUBWORDS)
    assert shares.shape == (len(pieces) + 1, len(words) + 1)
    sizes = [SUBWORDS.size(piece) for piece in pieces]
    np.testing.assert_allclose(sizes @ shares[:-1, :-1], [WORDS.size(word) for word in words])
    np.testing.assert_array_equal(shares_of(words, words, WORDS), np.eye(len(words) + 1))


def test_links_from_weights_leave_end_tokens_out():
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    assert links_from_weights(weights, 2, 2) == {(1, 0), (0, 1)}
    assert links_from_weights(weights, 3, 3) == {(2, 0), (0, 1), (2, 2)}
    assert links_from_weights(weights, 0, 2) == frozenset()
