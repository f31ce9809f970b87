"""A finished run opened again: new sentences, contexts and states."""

from dataclasses import replace

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.settings.errors import UserError


@pytest.mark.exhaustive(sample="session")
def test_new_sentences_are_new_and_of_the_buckets_lengths(subject, runs):
    buckets = subject.fresh_sentences(30)
    known = frozenset().union(*map(sources, subject.corpus.splits.values()))
    assert len(buckets) == len(subject.buckets.names)
    for place, pairs in enumerate(buckets):
        assert len(sources(pairs)) == len(pairs) == 30
        assert not sources(pairs) & known
        assert set(subject.buckets.assign(np.array([pair.words for pair in pairs]))) == {place}
    assert open_subject(runs[-1]).fresh_sentences(30) == buckets


def taken_for(subject, **corpus):
    """The same run, taken for one of another corpus."""
    settings = subject.settings.changed(corpus=corpus)
    made = Subject(subject.folder, replace(subject.trained, settings=settings))
    made.__dict__["corpus"] = subject.corpus  # a cached property
    return made


def test_files_give_test_and_validation_sentences_and_a_narrow_language_an_error(subject):
    files = taken_for(subject, name="files")
    narrow = taken_for(subject, name="copy", copy_words=2)  # 2,016 sentences of 5 to 10 words
    buckets = files.fresh_sentences(5)
    given = sources(subject.corpus.test) | sources(subject.corpus.valid)
    assert [len(pairs) for pairs in buckets] == [5] * 5
    assert all(sources(pairs) <= given for pairs in buckets)
    with pytest.raises(UserError, match=r"too few different sentences of 5-10 words.* of 2100"):
        narrow.fresh_sentences(2100)


def test_padding_never_matters_to_a_context_or_a_state(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    short, long = pairs[0], pairs[-1]
    close = {"rtol": 1e-5, "atol": 1e-6}
    together = subject.contexts(subject.weights, [short, long])
    np.testing.assert_allclose(together[:1], subject.contexts(subject.weights, [short]), **close)
    states = subject.states(subject.weights, [long, short])
    lengths = [len(ids) - 1 for ids in subject.encode([long, short]).source]
    assert [len(rows) for rows in states] == lengths
    (alone,) = subject.states(subject.weights, [short])
    np.testing.assert_allclose(alone, states[1], **close)
