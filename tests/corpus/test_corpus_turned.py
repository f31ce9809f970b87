"""The other direction: every corpus with its sides exchanged, and nothing else lost."""

from pathlib import Path
from random import Random

import pytest

from seq2seq_bottleneck.corpus.corpus import Corpus, load_corpus
from seq2seq_bottleneck.corpus.drawing import SentenceSource
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.corpus.turned import Turned, reverse_pair
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

EDGES = (5, 11, 21)
SMALL = CorpusSettings(train_pairs=300, valid_pairs=40, test_pairs=80, max_words=30)
REVERSED = SMALL.model_copy(update={"reverse_direction": True})


@pytest.fixture(scope="module")
def french() -> Corpus:
    return load_corpus(REVERSED, EDGES)


def test_a_turned_pair() -> None:
    pair = SentencePair("a b", "c d e", ((0, 1), (1, 0), (1, 2)), 3.0)
    assert reverse_pair(pair) == SentencePair("c d e", "a b", ((0, 1), (1, 0), (2, 1)), None)
    copy = SentencePair("a b", "a b", ((0, 0), (1, 1)), 3.0)
    assert reverse_pair(copy) == copy


def test_lengths_are_those_of_the_french(french: Corpus) -> None:
    test = [pair.words for pair in french.test]
    counts = [sum(low <= words < high for words in test)
              for low, high in ((2, 5), (5, 11), (11, 21), (21, 31))]  # fmt: skip
    assert counts == [20] * 4
    everything = [pair for pairs in french.splits.values() for pair in pairs]
    assert all(2 <= pair.words <= 30 for pair in everything)
    assert any(len(pair.target.split()) > 30 for pair in everything)


def test_every_pair_is_one_of_the_grammar_with_its_links(french: Corpus) -> None:
    for pair in french.test:
        known = english_french().parse(pair.target)
        assert known is not None
        assert pair == reverse_pair(known)
        assert pair.bits is None


def test_no_source_is_shared_and_the_lecture_is_held_out(french: Corpus) -> None:
    train, valid, test = (sources(pairs) for pairs in french.splits.values())
    assert not train & valid | train & test | valid & test
    assert (len(valid), len(test)) == (40, 80)
    lecture = {english_french().parse(sentence).target for sentence in LECTURE_SENTENCES}
    assert not (train | valid | test) & lecture


def test_the_fingerprint_differs_with_the_direction(french: Corpus, tmp_path: Path) -> None:
    assert french == load_corpus(REVERSED, EDGES)
    assert french.fingerprint != load_corpus(SMALL, EDGES).fingerprint
    path = tmp_path / "same.tsv"
    path.write_text("".join(f"s{n}{' x' * (n % 28 + 3)}\ts{n}{' x' * (n % 28 + 3)}\n"
                            for n in range(400)))  # fmt: skip
    for settings in (
        CorpusSettings(name="copy", train_pairs=50, valid_pairs=10, test_pairs=30),
        CorpusSettings(name="files", source=str(path), test_pairs=30),
    ):
        there = load_corpus(settings, EDGES)
        back = load_corpus(settings.model_copy(update={"reverse_direction": True}), EDGES)
        assert there.splits == back.splits
        assert there.fingerprint != back.fingerprint


def test_a_copy_keeps_its_bits() -> None:
    settings = CorpusSettings(name="copy", train_pairs=20, valid_pairs=10, test_pairs=30)
    corpus = load_corpus(settings.model_copy(update={"reverse_direction": True}), EDGES)
    assert all(pair.bits is not None for pair in corpus.train)


def test_files_are_turned_and_measured_on_the_new_source(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = [(f"e{n}", f"f{n}" + " y" * (n % 28 + 2)) for n in range(400)]
    path.write_text("".join(f"{ours}\t{theirs}\n" for ours, theirs in rows))
    corpus = load_corpus(
        CorpusSettings(name="files", source=str(path), max_words=20, reverse_direction=True), EDGES
    )
    known = {theirs: ours for ours, theirs in rows}
    assert all(pair.target == known[pair.source] for pair in corpus.train)
    assert max(pair.words for pair in corpus.train) == 20
    assert {pair.words for pair in corpus.test} >= {11, 25}


def test_joined_sentences_are_chained_in_the_grammar(french: Corpus) -> None:
    joined = load_corpus(REVERSED.model_copy(update={"joined": 2}), EDGES)
    assert joined.test
    parts = sources(french.test)
    for pair in joined.test:
        assert reverse_pair(english_french().parse(pair.target)) == pair
        assert ", and " in pair.target
        first = next(part for part in parts if pair.source.startswith(part))
        assert len(first.split()) < pair.words <= 30


def test_natural_lengths_are_not_known() -> None:
    with pytest.raises(UsageError, match=r"^corpus\.lengths=natural is not known for the grammar"):
        load_corpus(REVERSED.model_copy(update={"lengths": "natural"}), EDGES)


class Doubled:
    """A language whose translation says every word twice."""

    shortest = 1
    longest = 40

    def weight(self, words: int) -> float:
        return float(words)

    def draw(self, random: Random, words: int) -> SentencePair:
        text = " ".join(f"w{int(random.random() * 5)}" for _ in range(words))
        return SentencePair(text, " ".join(2 * [text]), bits=1.0)


def test_a_length_that_no_translation_has() -> None:
    language = Turned(Doubled())
    assert isinstance(language, SentenceSource)
    assert language.draw(Random(1), 2).words == 2
    with pytest.raises(UserError, match="no sentence with a translation of 5 words was found"):
        language.draw(Random(1), 5)


def test_what_was_drawn_at_another_length_comes_later() -> None:
    """Nothing is thrown away, and nothing comes twice."""
    random, language = Random(1), Turned(english_french())
    drawn = [language.draw(random, words) for words in (8, 9, 10, 11, 12) * 40]
    assert [pair.words for pair in drawn] == [8, 9, 10, 11, 12] * 40
    assert len(sources(drawn)) > 190
    again, anew = Random(1), Turned(english_french())
    assert drawn == [anew.draw(again, words) for words in (8, 9, 10, 11, 12) * 40]
