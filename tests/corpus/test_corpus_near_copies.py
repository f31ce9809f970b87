"""Near-copies: the share of test 5-grams that training holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.corpus import describe, load_corpus
from seq2seq_bottleneck.corpus.near_copies import Held, near_copies, share
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.settings.concerns import CorpusSettings

LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=6)


def test_known_counts() -> None:
    train = ["a b c d e f", "x y, z (w)"]
    test = ["a b c d e g", "q a b c d e f r", "a b c d", "x y, z v"]
    assert near_copies(test, train) == [Held(1, 2), Held(2, 4), Held(0, 0), Held(0, 1)]
    assert share(near_copies(test, train)) == pytest.approx(3 / 7)


def test_punctuation_is_a_token_of_its_own() -> None:
    assert near_copies(["x y, z v"], ["one x y , z v"]) == [Held(0, 1)]
    assert near_copies(["x y, z v"], ["one x y, z v"]) == [Held(1, 1)]


def test_no_5_gram_is_no_share() -> None:
    assert share(near_copies(["a b c d"], ["a b c d"])) is None
    assert share([]) is None


@given(LINES, LINES)
def test_against_looking_for_each_one(test: list[str], train: list[str]) -> None:
    def grams(text: str) -> list[list[str]]:
        tokens = tokenize(text)
        return [tokens[place : place + 5] for place in range(len(tokens) - 4)]

    known = [gram for text in train for gram in grams(text)]
    expected = [(sum(gram in known for gram in grams(text)), len(grams(text))) for text in test]
    assert near_copies(test, train) == expected


def test_a_corpus_tells_its_share() -> None:
    settings = CorpusSettings(
        name="copy", copy_words=2, train_pairs=60, valid_pairs=5, test_pairs=30, min_words=5
    )
    corpus = load_corpus(settings, (5, 11, 21))
    assert len(corpus.near_copies) == 30
    # Of two words there are 32 sentences of five, and training meets each of them.
    assert describe(corpus, (5, 11, 21)).near_copies == 1
