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

GOLDEN = {
    ("full", 1000): "61704d362ad0f9528b0b71e37a8874e6004591af2564649a62b4951677c6a04c",
    ("small", 300): "c702f03208c54cb018685ac2fde8170a2b7fb057abd731ebe19506c9be1d2f33",
}


def _draw(seed: int, count: int, lexicon: str = "full") -> list[SentencePair]:
    random = Random(seed)
    return [english_french(lexicon).draw(random, 2 + index % 59) for index in range(count)]


@pytest.fixture(scope="module")
def drawn() -> list[SentencePair]:
    return _draw(11, 1000)


@pytest.mark.parametrize(("lexicon", "count"), GOLDEN)
def test_same_seed_gives_the_same_bytes(lexicon: str, count: int) -> None:
    pairs, digest = _draw(11, count, lexicon), sha256()
    for pair in pairs:
        digest.update(f"{pair.source}|{pair.target}|{pair.links}\n".encode())
    assert digest.hexdigest() == GOLDEN[lexicon, count]
    assert [pair.words for pair in pairs] == [2 + index % 59 for index in range(count)]
    assert min(pair.bits or 0.0 for pair in pairs) > 0
    assert _draw(11, 50, lexicon) == pairs[:50]
    assert _draw(12, 50, lexicon) != pairs[:50]


def test_text_and_tokens_are_one(drawn: list[SentencePair]) -> None:
    for pair in drawn:
        for text in (pair.source, pair.target):
            assert detokenize(tokenize(text)) == text
            assert text == text.lower()


def test_every_token_is_linked_and_commas_link_to_commas(drawn: list[SentencePair]) -> None:
    for pair in drawn:
        english, french = tokenize(pair.source), tokenize(pair.target)
        assert {source for source, _ in pair.links} == set(range(len(english)))
        assert {target for _, target in pair.links} == set(range(len(french)))
        assert list(pair.links) == sorted(set(pair.links))
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


def test_word_class() -> None:
    known = {
        "noun": "cat cats", "name": "paris mary", "adjective": "black", "verb": "saw",
        "adverb": "quickly", "pronoun": "her", "determiner": "his", "preposition": "on",
        "conjunction": "because", "interjection": "hello", "particle": "not", "auxiliary": "will",
        "numeral": "twelve", "punctuation": "￭,", "possessive": "￭'s",
    }  # fmt: skip
    for kind, words in known.items():
        assert {word_class(word) for word in words.split()} == {kind}


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
