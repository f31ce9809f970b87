"""A sentence through the arms of a tiny finished run; the model that is learned for it, kept."""

import json
import shutil

import numpy as np
import pytest
from listed import write_relisted

from seq2seq_bottleneck.questions.diagnosis import diagnose, lexicon_of, reference_of
from seq2seq_bottleneck.questions.subject import open_subject
from seq2seq_bottleneck.questions.word_survival import lexicon
from seq2seq_bottleneck.results.discovery import arms
from seq2seq_bottleneck.results.folders import ENVIRONMENT
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

FOREIGN = "the cat bottleneck sat zebra"
"""Not of the grammar: it has no reference."""


@pytest.fixture(scope="module")
def found(finished):
    """Run folders by arm."""
    return arms(finished)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def result_and_messages(call):
    messages = []
    return call(messages.append), messages


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(found):
    sentence = "The black cat sat on the mat."
    diagnosis, messages = result_and_messages(lambda tell: diagnose(sentence, found, tell))
    assert messages == []
    assert (diagnosis.sentence, diagnosis.words) == ("the black cat sat on the mat", 7)
    assert diagnosis.reference == "le chat noir s'est assis sur le tapis"
    assert diagnosis.longest_trained == load_run(found["none"]).settings.corpus.max_words
    assert [arm.arm for arm in diagnosis.arms] == list(found)
    for arm in diagnosis.arms:
        trained = load_run(found[arm.arm])
        assert [arm.output] == trained.translate(["the black cat sat on the mat"])
        assert [word.word for word in arm.words] == diagnosis.sentence.split()
        assert all(word.share is not None for word in arm.words)
        assert arm.words[3].targets == ("s'", "est", "assis")
        assert set(arm.words[2].found) <= set(arm.output.split())


def test_punctuation_is_no_word(found):
    diagnosis = diagnose("hello, peter", found, lambda _: None)
    assert [word.word for word in diagnosis.arms[0].words] == ["hello", "peter"]


@pytest.mark.exhaustive(sample="session")
def test_another_sentence_is_judged_by_aligning_its_output_and_says_so(found, cache, monkeypatch):
    first, messages = result_and_messages(lambda tell: diagnose(FOREIGN, found, tell))
    assert len(messages) == 1
    assert "training pairs" in messages[0]
    assert first.reference is None
    assert "IBM model 1, trained on the run's training pairs" in first.judged_by
    assert "not of the run's own language" in first.judged_by
    assert first.unknown == ("bottleneck", "zebra")
    words = first.arms[0].words
    assert [word.word_class for word in words] == ["determiner", "noun", "", "verb", ""]
    assert [word.share is None for word in words] == [False, False, True, False, True]

    def refuse(*_):
        raise AssertionError("the text is made again")

    monkeypatch.setattr("seq2seq_bottleneck.questions.subject.load_corpus", refuse)
    again, messages = result_and_messages(lambda tell: diagnose(FOREIGN, found, tell))
    assert messages == []
    assert again == first
    assert len(list(cache.rglob("*.safetensors"))) == 1


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


@pytest.mark.parametrize("damage", [lambda data: data, lambda data: data[:-8], lambda _: b"x"],
                         ids=["none", "cut", "other"])  # fmt: skip
def test_a_model_is_kept_by_its_text_and_learned_again_if_it_cannot_be_read(subject, cache, damage):
    lexicon_of(subject, lambda _: None)
    (path,) = cache.rglob("lexicons/*.safetensors")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    kept = damage(whole) == whole
    again, messages = result_and_messages(lambda tell: lexicon_of(subject, tell))
    assert len(messages) == (not kept)
    assert path.read_bytes() == whole
    fresh = lexicon(subject.corpus.train)
    assert list(again.source_ids.items()) == list(fresh.source_ids.items())
    assert list(again.target_ids.items()) == list(fresh.target_ids.items())
    assert np.array_equal(again.keys, fresh.keys)
    assert np.array_equal(again.probabilities, fresh.probabilities)


def test_a_model_that_cannot_be_kept_is_learned_each_time(subject, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        model, messages = result_and_messages(lambda tell: lexicon_of(subject, tell))
        assert len(messages) == 1
        assert len(model.keys) > 0


@pytest.mark.parametrize("fingerprint", ["", "another text"])
def test_a_run_of_another_text_or_of_none_does_not_get_this_texts_model(
    subject, cache, tmp_path, fingerprint
):
    lexicon_of(subject, lambda _: None)
    folder = tmp_path / "runs" / subject.folder.name
    shutil.copytree(subject.folder, folder)
    facts = json.loads((folder / ENVIRONMENT).read_text())
    write_relisted(folder / ENVIRONMENT, json.dumps(facts | {"fingerprint": fingerprint}))
    reason = "has changed since it was trained" if fingerprint else "no fingerprint of the text"
    with pytest.raises(UserError, match=reason):
        lexicon_of(open_subject(folder), lambda _: None)
    assert len(list(cache.rglob("lexicons/*.safetensors"))) == 1
