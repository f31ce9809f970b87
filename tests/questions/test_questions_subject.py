"""A finished run opened again: new sentences, contexts and states, coarse memories."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.questions.frozen_memory import quantise
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.settings.errors import UserError

VECTORS = arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3))


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


@given(VECTORS, VECTORS, st.integers(1, 12))
def test_a_number_moves_by_half_a_cell_at_most_and_one_outside_to_the_edge(training, test, bits):
    low, high = training.min(axis=0), training.max(axis=0)
    coarse = quantise(test, (low, high), bits)
    inside = np.clip(test, low, high)
    assert (np.abs(coarse - inside) <= (high - low) / 2 ** (bits + 1) + 1e-9).all()
    assert coarse == pytest.approx(quantise(inside, (low, high), bits), abs=1e-9)
    assert quantise(coarse, (low, high), bits) == pytest.approx(coarse, abs=1e-9)
    order = np.argsort(test, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(coarse, order, axis=0), axis=0) >= 0).all()


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_mean_square_error_of_uniform_numbers_is_a_twelfth_of_a_cell_squared(bits):
    vectors = np.random.default_rng(bits).uniform(-1.0, 1.0, size=(20_000, 4))
    error = quantise(vectors, (np.full(4, -1.0), np.full(4, 1.0)), bits) - vectors
    assert (error**2).mean() == pytest.approx((2.0 / 2**bits) ** 2 / 12, rel=0.03)


def test_precision_and_further_axes_are_kept_and_what_never_varies_stays():
    states = np.full((2, 3, 1), 0.25, np.float32)
    coarse = quantise(states, (np.full(1, 0.25), np.full(1, 0.25)), 4)
    assert coarse.dtype == np.float32
    assert coarse == pytest.approx(states)
