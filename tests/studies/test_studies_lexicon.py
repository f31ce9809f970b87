"""What IBM model 1 learned of a text, kept: the same numbers again, and nothing taken on trust."""

import json
import shutil

import numpy as np
import pytest
from listed import write_relisted
from safetensors.numpy import load_file, save

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.questions.subject import open_subject
from seq2seq_bottleneck.results.discovery import arms
from seq2seq_bottleneck.results.folders import ENVIRONMENT
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.studies import lexicon as kept
from seq2seq_bottleneck.studies.diagnosis import diagnose
from seq2seq_bottleneck.studies.survival import lexicon

SENTENCE = "the cat bottleneck sat"
"""Not of the grammar: it has no reference."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def learned(subject, cache):
    """The file of the subject's text, written once."""
    kept.lexicon_of(subject, lambda _: None)
    (path,) = cache.rglob("*.safetensors")
    return path


def _told(call):
    heard = []
    found = call(heard.append)
    return found, heard


def test_what_is_read_again_is_what_was_learned_bit_for_bit(subject, learned):
    found, heard = _told(lambda tell: kept.lexicon_of(subject, tell))
    assert heard == []
    fresh = lexicon(subject.corpus.train)
    assert found.source_ids == fresh.source_ids
    assert found.target_ids == fresh.target_ids
    assert list(found.target_ids) == list(fresh.target_ids)
    assert np.array_equal(found.keys, fresh.keys)
    assert np.array_equal(found.probabilities, fresh.probabilities)
    assert learned.parent.name == "lexicons"


@pytest.mark.exhaustive(sample="session")
def test_a_second_sentence_makes_no_text_and_says_the_same(finished, cache, monkeypatch):
    first, heard = _told(lambda tell: diagnose(SENTENCE, arms(finished), tell))
    assert len(heard) == 1
    assert "training pairs" in heard[0]

    def refuse(*_):
        raise AssertionError("the text is made again")

    monkeypatch.setattr("seq2seq_bottleneck.questions.subject.load_corpus", refuse)
    again, heard = _told(lambda tell: diagnose(SENTENCE, arms(finished), tell))
    assert heard == []
    assert again == first
    assert len(list(cache.rglob("*.safetensors"))) == 1


def _other_number(_, path):
    tensors = load_file(path)
    tensors["keys"][0] += 1
    return save(tensors, _metadata(path))


def _metadata(path):
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        return file.metadata()


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda data, _: data[:-8],
        lambda data, _: data[:-1] + bytes([data[-1] ^ 1]),
        lambda *_: b"",
        lambda *_: b"\x80\x04]q\x00.",
        _other_number,
        lambda _, path: save(load_file(path)),
        lambda _, path: save(load_file(path), _metadata(path) | {"form": "0"}),
        lambda _, path: save({"keys": np.zeros(3)}, _metadata(path)),
    ],
    ids=["cut", "bit", "empty", "pickle", "number", "unsigned", "form", "parts"],
)
def test_a_damaged_file_is_learned_again(subject, learned, damage):
    fingerprint = subject.corpus.fingerprint
    learned.write_bytes(damage(learned.read_bytes(), learned))
    assert kept.read_lexicon(learned, fingerprint) is None
    found, heard = _told(lambda tell: kept.lexicon_of(subject, tell))
    assert len(heard) == 1
    again = kept.read_lexicon(learned, fingerprint)
    assert np.array_equal(found.probabilities, again.probabilities)
    assert np.array_equal(found.keys, again.keys)


@pytest.mark.slow
def test_the_file_of_another_text_is_none(learned, subject):
    corpus = load_corpus(
        subject.settings.corpus.model_copy(update={"seed": 2}),
        subject.settings.scoring.lower_edges,
    )
    fingerprint = subject.corpus.fingerprint
    assert corpus.fingerprint != fingerprint
    assert kept.lexicon_file(corpus.fingerprint) != kept.lexicon_file(fingerprint) == learned
    assert kept.read_lexicon(learned, corpus.fingerprint) is None
    assert kept.read_lexicon(learned, fingerprint) is not None


def test_where_nothing_can_be_written_it_is_learned_each_time(subject, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        found, heard = _told(lambda tell: kept.lexicon_of(subject, tell))
        assert len(heard) == 1
        assert len(found.keys) > 0


def test_a_run_that_does_not_say_which_text_it_read_gets_no_others_model(subject, cache, tmp_path):
    folder = tmp_path / "runs" / subject.folder.name
    shutil.copytree(subject.folder, folder)
    facts = json.loads((folder / ENVIRONMENT).read_text())
    write_relisted(folder / ENVIRONMENT, json.dumps(facts | {"fingerprint": ""}))
    with pytest.raises(UserError, match="no fingerprint of the text"):
        kept.lexicon_of(open_subject(folder), lambda _: None)
    assert list(cache.rglob("*.safetensors")) == [folder / "weights.safetensors"]
