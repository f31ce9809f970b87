"""Words as numbers and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from seq2seq_bottleneck.corpus.tokens import detokenize, tokenize
from seq2seq_bottleneck.corpus.vocabulary import (
    BOS,
    EOS,
    PAD,
    SPECIAL,
    UNK,
    UNKNOWN,
    Vocabulary,
    build_vocabulary,
)

SENTENCES = [["b", "a", "c"], ["b", "d", "a"], ["b"]]


def test_most_frequent_first_and_ties_by_string() -> None:
    vocabulary = build_vocabulary(SENTENCES, 10)
    assert vocabulary.tokens == (*SPECIAL, "b", "a", "c", "d")
    assert vocabulary.words == ("b", "a", "c", "d")
    assert len(vocabulary) == 8
    assert build_vocabulary(SENTENCES, 2).words == ("b", "a")


def test_known_ids() -> None:
    vocabulary = build_vocabulary(SENTENCES, 3)
    assert vocabulary.encode(["a", "d", "b"]) == [5, UNK, 4]
    assert vocabulary.decode([BOS, 5, UNK, 4, EOS, 5]) == ["a", UNKNOWN, "b"]
    assert vocabulary.decode([PAD, 5, PAD]) == ["a"]


def test_special_tokens_in_the_text_are_no_words() -> None:
    vocabulary = build_vocabulary([["a", *SPECIAL]], 10)
    assert vocabulary.words == ("a",)
    assert vocabulary.encode(SPECIAL) == [UNK] * 4


def test_unknown_rate() -> None:
    vocabulary = build_vocabulary(SENTENCES, 2)
    assert vocabulary.unknown_rate(SENTENCES) == pytest.approx(2 / 7)
    assert vocabulary.unknown_rate([]) == 0


@pytest.mark.parametrize(
    "tokens", [["le", UNKNOWN, "￭."], ["l'￭", UNKNOWN, "￭,", UNKNOWN], [UNKNOWN, UNKNOWN]]
)
def test_scorer_leaves_the_unknown_word_whole(tokens: list[str]) -> None:
    """With an ordinary word in its place the scorer finds the same number of tokens."""
    scorer = Tokenizer13a()
    shown = scorer(detokenize(tokens)).split()
    word = scorer(detokenize(["mot" if token == UNKNOWN else token for token in tokens])).split()
    assert len(shown) == len(word)
    assert [token.replace(UNKNOWN, "mot") for token in shown] == word
    assert UNKNOWN not in word


@given(st.lists(st.lists(st.text().filter(bool)), min_size=1), st.integers(1, 20))
def test_known_tokens_come_back(sentences: list[list[str]], cap: int) -> None:
    vocabulary = build_vocabulary(sentences, cap)
    assert len(vocabulary.words) <= cap
    for tokens in sentences:
        back = vocabulary.decode([*vocabulary.encode(tokens), EOS, EOS])
        known = set(vocabulary.words)
        assert back == [token if token in known else UNKNOWN for token in tokens]


@given(st.lists(st.text()))
def test_to_bytes_and_back(texts: list[str]) -> None:
    vocabulary = build_vocabulary(map(tokenize, texts), 1_000)
    content = vocabulary.to_bytes()
    assert Vocabulary.from_bytes(content) == vocabulary
    assert content.count(b"\n") == len(vocabulary)


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no vocabulary: it must start with <pad> <s>"):
        Vocabulary.from_bytes(b"the\ncat\n")
