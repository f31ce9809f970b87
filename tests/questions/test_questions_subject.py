"""A finished run opened again: new sentences of its language, contexts and states."""

from typing import ClassVar

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


class _Files(Subject):
    """The same run, taken for one of the user's files."""

    changes: ClassVar = {"name": "files"}

    @property
    def settings(self):
        return super().settings.changed(corpus=self.changes)


class _Narrow(_Files):
    """Taken for one of a language with few sentences: 2,016 of 5 to 10 words."""

    changes: ClassVar = {"name": "copy", "copy_words": 2}


def _taken_for(kind, subject):
    made = kind(subject.folder, subject.trained)
    made.__dict__["corpus"] = subject.corpus  # a cached property
    return made


def test_of_files_the_test_and_validation_sentences_are_taken(subject):
    buckets = _taken_for(_Files, subject).fresh_sentences(5)
    given = sources(subject.corpus.test) | sources(subject.corpus.valid)
    assert [len(pairs) for pairs in buckets] == [5] * 5
    assert all(sources(pairs) <= given for pairs in buckets)


def test_a_language_without_so_many_sentences_is_the_users_error(subject):
    with pytest.raises(UserError, match=r"no 2,100 sentences per bucket .* of 5-10 words"):
        _taken_for(_Narrow, subject).fresh_sentences(2100)


def test_padding_never_matters_to_a_context_or_a_state(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    short, long = pairs[0], pairs[-1]
    close = {"rtol": 1e-5, "atol": 1e-6}
    together = subject.contexts(subject.weights, [short, long])
    alone = subject.contexts(subject.weights, [short])
    np.testing.assert_allclose(together[0], alone[0], **close)
    states = subject.states(subject.weights, [long, short])
    assert [len(rows) for rows in states] == [
        len(ids) - 1 for ids in subject.encode([long, short]).source
    ]
    (alone,) = subject.states(subject.weights, [short])
    np.testing.assert_allclose(alone, states[1], **close)
