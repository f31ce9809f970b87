"""A sentence through the arms of a tiny finished run."""

import pytest

from seq2seq_bottleneck.results.discovery import arms
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies.diagnosis import diagnose, reference_of


@pytest.fixture(scope="module")
def found(finished):
    """Run folders by arm."""
    return arms(finished)


def _heard():
    heard = []
    return heard, heard.append


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(found):
    heard, tell = _heard()
    held = diagnose("The black cat sat on the mat.", found, tell)
    assert heard == []
    assert (held.sentence, held.words) == ("the black cat sat on the mat", 7)
    assert held.reference == "le chat noir s'est assis sur le tapis"
    assert held.longest_trained == load_run(found["none"]).settings.corpus.max_words
    assert [each.arm for each in held.arms] == list(found)
    for each in held.arms:
        trained = load_run(found[each.arm])
        assert [each.output] == trained.translate(["the black cat sat on the mat"])
        assert [word.word for word in each.words] == held.sentence.split()
        assert all(word.share is not None for word in each.words)
        assert each.words[3].targets == ("s'", "est", "assis")
        assert set(each.words[2].found) <= set(each.output.split())


def test_punctuation_is_no_word(found):
    held = diagnose("hello, peter", found, lambda _: None)
    assert [word.word for word in held.arms[0].words] == ["hello", "peter"]


@pytest.mark.exhaustive(sample="session")
def test_another_sentence_is_judged_by_aligning_its_output_and_says_so(
    found, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    heard, tell = _heard()
    held = diagnose("the cat bottleneck sat zebra", found, tell)
    assert len(heard) == 1
    assert held.reference is None
    assert "IBM model 1, trained on the run's training pairs" in held.judged_by
    assert "not of the run's own language" in held.judged_by
    assert held.unknown == ("bottleneck", "zebra")
    words = held.arms[0].words
    assert [word.word_class for word in words] == ["determiner", "noun", "", "verb", ""]
    assert [word.share is None for word in words] == [False, False, True, False, True]


def test_the_copying_corpus_is_its_own_reference():
    corpus = resolve("smoke", ["corpus.name=copy", "corpus.copy_words=12"]).corpus
    pair = reference_of("w3 w11 w0", corpus)
    assert pair is not None
    assert (pair.target, pair.links) == ("w3 w11 w0", ((0, 0), (1, 1), (2, 2)))
    for other in ("w3 w12", "w03", "the cat", "w"):
        assert reference_of(other, corpus) is None


@pytest.mark.parametrize(("lexicon", "known"), [("full", True), ("small", False)])
def test_the_reference_is_of_the_runs_own_lexicon(lexicon, known):
    corpus = resolve("smoke", [f"corpus.lexicon={lexicon}"]).corpus
    assert (reference_of("the elephant slept", corpus) is not None) == known
    assert reference_of("the cat slept", corpus).target == "le chat a dormi"


def test_files_know_no_reference():
    settings = resolve("smoke", ["corpus.name=files", "corpus.source=a", "corpus.target=b"])
    assert reference_of("the cat sat", settings.corpus) is None
