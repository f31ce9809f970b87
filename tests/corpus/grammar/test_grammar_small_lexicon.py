"""The small lexicon is a part of the full one, and as exact."""

from random import Random

import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.settings.concerns import CorpusSettings

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)


@pytest.fixture(scope="module")
def drawn() -> list[SentencePair]:
    random = Random(11)
    return [english_french("small").draw(random, 2 + index % 59) for index in range(300)]


@pytest.mark.parametrize("sentence", [*LECTURE_SENTENCES, "a dog sleeps", "they saw two birds"])
def test_a_sentence_is_translated_as_with_the_full_lexicon(sentence: str) -> None:
    small, full = (english_french(lexicon).parse(sentence) for lexicon in ("small", "full"))
    assert small is not None
    assert full is not None
    assert (small.target, small.links) == (full.target, full.links)
    assert english_french("small").count_derivations(sentence) == 1


@pytest.mark.parametrize("sentence", ["the elephant sleeps", "he is elegant", "twelve dogs sat"])
def test_a_word_of_the_full_lexicon_alone_is_unknown(sentence: str) -> None:
    assert english_french().parse(sentence)
    assert english_french("small").parse(sentence) is None


def test_its_vocabulary_is_a_part_of_the_full_one(drawn: list[SentencePair]) -> None:
    small, full = (set(english_french(lexicon).vocabulary()) for lexicon in ("small", "full"))
    assert small < full
    assert (len(small), len(full)) == (364, 914)
    assert {token for sentence in LECTURE_SENTENCES for token in tokenize(sentence)} <= small
    assert {token for pair in drawn for token in tokenize(pair.source)} <= small


def test_the_french_has_about_eight_hundred_words(drawn: list[SentencePair]) -> None:
    random = Random(1)
    more = (english_french("small").draw(random, 2 + index % 12) for index in range(1_500))
    assert 600 < len({token for pair in [*drawn, *more] for token in tokenize(pair.target)}) < 850


def test_drawn_sentences_have_one_derivation_and_are_those_of_the_full_lexicon(drawn):
    for pair in drawn[::7]:
        assert english_french("small").count_derivations(pair.source) == 1
        assert english_french("small").parse(pair.source) == pair
        full = english_french().parse(pair.source)
        assert full is not None
        assert (full.target, full.links) == (pair.target, pair.links)


def test_every_rule_and_symbol_of_the_full_lexicon_has_words() -> None:
    """Else building the grammar fails, or a construction of the language is lost."""
    assert english_french("small")._rules.keys() == english_french()._rules.keys()


def test_a_corpus_of_it_holds_out_the_lecture_and_has_bits() -> None:
    settings = CorpusSettings(lexicon="small", train_pairs=90, valid_pairs=30, test_pairs=60)
    corpus = load_corpus(settings, EDGES)
    pairs = [pair for split in corpus.splits.values() for pair in split]
    assert not {pair.source for pair in pairs} & set(LECTURE_SENTENCES)
    assert all(pair.bits for pair in pairs)
    assert set(corpus.source_vocabulary.words) <= set(english_french("small").vocabulary())
    reverse = load_corpus(settings.model_copy(update={"reverse_direction": True}), EDGES)
    assert all(english_french("small").parse(pair.target) for pair in reverse.train)
