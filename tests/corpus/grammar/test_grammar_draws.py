"""Tokens, alignments, words and bytes of drawn pairs."""

from hashlib import sha256
from random import Random

import pytest

from seq2seq_bottleneck.corpus.grammar import (
    CONTENT,
    FUNCTION,
    LECTURE_SENTENCES,
    english_french,
    noun_gender,
    word_class,
)
from seq2seq_bottleneck.corpus.grammar.lexicon import assignments
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.tokens import detokenize, tokenize

pytestmark = pytest.mark.usefixtures("unchecked")

GOLDEN = "61704d362ad0f9528b0b71e37a8874e6004591af2564649a62b4951677c6a04c"


def _draw(seed: int, count: int) -> list[SentencePair]:
    random = Random(seed)
    return [english_french().draw(random, 2 + index % 59) for index in range(count)]


@pytest.fixture(scope="module")
def drawn() -> list[SentencePair]:
    return _draw(11, 1000)


def test_same_seed_gives_the_same_bytes(drawn: list[SentencePair]) -> None:
    digest = sha256()
    for pair in drawn:
        digest.update(f"{pair.source}|{pair.target}|{pair.links}\n".encode())
    assert digest.hexdigest() == GOLDEN
    assert _draw(11, 50) == drawn[:50]
    assert _draw(12, 50) != drawn[:50]


def test_text_and_tokens_are_one(drawn: list[SentencePair]) -> None:
    for pair in drawn:
        for text in (pair.source, pair.target):
            assert detokenize(tokenize(text)) == text
            assert text == text.lower()


def test_every_token_is_linked_and_in_range(drawn: list[SentencePair]) -> None:
    for pair in drawn:
        assert {source for source, _ in pair.links} == set(range(len(tokenize(pair.source))))
        assert {target for _, target in pair.links} == set(range(len(tokenize(pair.target))))
        assert list(pair.links) == sorted(set(pair.links))


def test_commas_link_to_commas(drawn: list[SentencePair]) -> None:
    for pair in drawn:
        english, french = tokenize(pair.source), tokenize(pair.target)
        for source, target in pair.links:
            assert (english[source] == "￭,") == (french[target] == "￭,"), pair


@pytest.mark.exhaustive(sample="session")
def test_vocabulary_is_reached(drawn: list[SentencePair]) -> None:
    vocabulary = english_french().vocabulary()
    more = _draw(13, 1500)
    seen = {token for pair in [*drawn, *more] for token in tokenize(pair.source)}
    assert len(vocabulary) >= 500
    assert seen <= set(vocabulary)
    assert len(seen) > 0.95 * len(vocabulary)
    assert vocabulary == tuple(sorted(set(vocabulary)))


def test_each_word_has_one_class() -> None:
    classes: dict[str, str] = {}
    for word, kind in assignments():
        assert classes.setdefault(word, kind) == kind, word
    assert set(classes) == set(english_french().vocabulary())
    assert set(classes.values()) == CONTENT | FUNCTION
    assert not CONTENT & FUNCTION


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("cat", "noun"),
        ("cats", "noun"),
        ("paris", "name"),
        ("mary", "name"),
        ("black", "adjective"),
        ("saw", "verb"),
        ("quickly", "adverb"),
        ("her", "pronoun"),
        ("his", "determiner"),
        ("on", "preposition"),
        ("because", "conjunction"),
        ("hello", "interjection"),
        ("not", "particle"),
        ("will", "auxiliary"),
        ("twelve", "numeral"),
        ("￭,", "punctuation"),
        ("￭'s", "possessive"),
    ],
)
def test_word_class(word: str, kind: str) -> None:
    assert word_class(word) == kind


def test_noun_gender() -> None:
    wanted = {"cat": "m", "mice": "f", "queen": "f", "history": "f", "law": "m", "night": "f"}
    assert {noun: noun_gender(noun) for noun in wanted} == wanted
    nouns = [word for word in english_french().vocabulary() if word_class(word) == "noun"]
    assert {noun_gender(noun) for noun in nouns} == {"m", "f"}
    with pytest.raises(KeyError):
        noun_gender("quickly")


def test_lecture_sentences_can_be_drawn_so_must_be_held_out() -> None:
    short = {pair.source for pair in english_french().sentences(2)}
    assert {sentence for sentence in LECTURE_SENTENCES if sentence.count(" ") == 1} <= short
