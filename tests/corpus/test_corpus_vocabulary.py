"""Tokens that come back as text, and words as numbers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from seq2seq_bottleneck.corpus.vocabulary import (
    JOINER,
    SPECIAL,
    UNK,
    WORDS,
    build_vocabulary,
    count_words,
    tokenize,
    without_joiner,
)

UNKNOWN = SPECIAL[UNK]


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
    assert [without_joiner(token) for token in tokenize(text)] == [
        without_joiner(token) for token in tokens
    ]


@given(st.text())
@example("a￭b ￭")
@example("''s 's' l'l'a")
def test_text_comes_back(text):
    tokens = tokenize(text)
    assert WORDS.text(tokens) == " ".join(text.replace(JOINER, "\u25a0").split())
    assert all(token and not any(map(str.isspace, token)) for token in tokens)


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("हिन्दी में है।", ["हिन्दी", "में", "है", "￭।"], 3),
        ("क्‍या می‌خواهم اُردُو", ["क्‍या", "می‌خواهم", "اُردُو"], 3),  # with joiners of letters
        ("שָׁלוֹם (עוֹלָם)", ["שָׁלוֹם", "(￭", "עוֹלָם", "￭)"], 2),
        ("ọ̀rọ̀ l'ẹ́ja", ["ọ̀rọ̀", "l'￭", "ẹ́ja"], 2),
        ("我们有3只猫。", ["我", "￭们", "￭有￭", "3", "￭只", "￭猫", "￭。"], 7),
        ("日本のABC 語", ["日", "￭本", "￭の￭", "ABC", "語"], 5),
        ("ที่นี่ ดี", ["ที่", "￭นี่", "ดี"], 3),
    ],
)
def test_letters_keep_their_marks_and_characters_without_spaces_stand_alone(text, tokens, words):
    assert tokenize(text) == tokens
    assert WORDS.text(tokens) == text
    assert count_words(text) == words


def test_a_vocabulary_by_hand():
    sentences = [["b", "a", "c", *SPECIAL], ["b", "d", "a"], ["b"]]
    vocabulary = build_vocabulary(sentences, 10)
    assert vocabulary.tokens == (*SPECIAL, "b", "a", "c", "d")  # ties in string order
    vocabulary = build_vocabulary(sentences, 3)
    assert vocabulary.words == {"b": 4, "a": 5, "c": 6}
    assert vocabulary.numbers(f"a d b {UNKNOWN}") == [5, UNK, 4, UNK]


def test_scorer_leaves_the_unknown_word_whole():
    """With an ordinary word in its place, the scorer counts the same number of tokens."""
    scorer, tokens = Tokenizer13a(), ["l'￭", UNKNOWN, "￭,", UNKNOWN, UNKNOWN, "￭."]
    scored = scorer(WORDS.text(tokens)).split()
    word = scorer(WORDS.text(["mot" if token == UNKNOWN else token for token in tokens])).split()
    assert [token.replace(UNKNOWN, "mot") for token in scored] == word
    assert UNKNOWN not in word
