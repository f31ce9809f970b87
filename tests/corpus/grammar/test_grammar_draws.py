"""Tokens, alignments, words and bytes of drawn pairs; the small lexicon is a part of the full."""

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
from seq2seq_bottleneck.corpus.vocabulary import detokenize, tokenize

pytestmark = pytest.mark.usefixtures("unchecked")

GOLDEN = {
    ("full", 1000): "61704d362ad0f9528b0b71e37a8874e6004591af2564649a62b4951677c6a04c",
    ("small", 300): "c702f03208c54cb018685ac2fde8170a2b7fb057abd731ebe19506c9be1d2f33",
}


def _draw(seed: int, count: int, lexicon: str = "full") -> list[SentencePair]:
    random = Random(seed)
    return [english_french(lexicon).draw(random, 2 + index % 59) for index in range(count)]


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[SentencePair]]:
    return {lexicon: _draw(11, count, lexicon) for lexicon, count in GOLDEN}


@pytest.mark.parametrize(("lexicon", "count"), GOLDEN)
def test_same_seed_gives_the_same_bytes(drawn, lexicon: str, count: int) -> None:
    pairs, digest = drawn[lexicon], sha256()
    for pair in pairs:
        digest.update(f"{pair.source}|{pair.target}|{pair.links}\n".encode())
    assert digest.hexdigest() == GOLDEN[lexicon, count]
    assert [pair.words for pair in pairs] == [2 + index % 59 for index in range(count)]
    assert min(pair.bits or 0.0 for pair in pairs) > 0
    assert _draw(11, 50, lexicon) == pairs[:50]
    assert _draw(12, 50, lexicon) != pairs[:50]


def test_tokens_are_the_text_and_each_is_linked_a_comma_to_a_comma(drawn) -> None:
    for pair in drawn["full"]:
        sides = pair.source, pair.target
        tokens = english, french = [tokenize(text) for text in sides]
        assert tuple(map(detokenize, tokens)) == sides == tuple(map(str.lower, sides))
        assert {source for source, _ in pair.links} == set(range(len(english)))
        assert {target for _, target in pair.links} == set(range(len(french)))
        assert list(pair.links) == sorted(set(pair.links))
        for source, target in pair.links:
            assert (english[source] == "￭,") == (french[target] == "￭,"), pair


def test_each_word_has_one_class() -> None:
    classes: dict[str, str] = {}
    for word, kind in assignments():
        assert classes.setdefault(word, kind) == kind, word
    assert set(classes) == set(english_french().vocabulary())
    assert set(classes.values()) == CONTENT | FUNCTION
    assert not CONTENT & FUNCTION
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


# The small lexicon.


@pytest.mark.parametrize("sentence", [*LECTURE_SENTENCES, "a dog sleeps", "they saw two birds"])
def test_a_sentence_is_translated_as_with_the_full_lexicon(sentence: str) -> None:
    small, full = (english_french(lexicon).parse(sentence) for lexicon in ("small", "full"))
    assert (small.target, small.links) == (full.target, full.links)
    assert english_french("small").count_derivations(sentence) == 1


@pytest.mark.parametrize("sentence", ["the elephant sleeps", "he is elegant", "twelve dogs sat"])
def test_a_word_of_the_full_lexicon_alone_is_unknown(sentence: str) -> None:
    assert english_french().parse(sentence)
    assert english_french("small").parse(sentence) is None


def test_the_small_lexicon_has_fewer_words_of_the_same_constructions(drawn) -> None:
    small, full = (set(english_french(lexicon).vocabulary()) for lexicon in ("small", "full"))
    assert small < full
    assert (len(small), len(full)) == (364, 914)
    assert {token for sentence in LECTURE_SENTENCES for token in tokenize(sentence)} <= small
    seen = {token for pair in drawn["full"] for token in tokenize(pair.source)}
    assert 0.8 * len(full) < len(seen & full) == len(seen)
    assert {token for pair in drawn["small"] for token in tokenize(pair.source)} <= small
    # Else building the grammar fails, or a construction of the language is lost.
    assert english_french("small")._rules.keys() == english_french()._rules.keys()
    random = Random(1)
    more = (english_french("small").draw(random, 2 + index % 12) for index in range(1_500))
    french = {token for pair in [*drawn["small"], *more] for token in tokenize(pair.target)}
    assert 600 < len(french) < 850


def test_drawn_sentences_have_one_derivation_and_are_those_of_the_full_lexicon(drawn):
    for pair in drawn["small"][::7]:
        assert english_french("small").count_derivations(pair.source) == 1
        assert english_french("small").parse(pair.source) == pair
        full = english_french().parse(pair.source)
        assert (full.target, full.links) == (pair.target, pair.links)
