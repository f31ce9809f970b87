"""A finished run, opened for a probe: new sentences, contexts, states, and the source's probe."""

from dataclasses import replace
from functools import cached_property

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.subject import Subject, train_reader
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.settings.concerns import bucket_labels, bucket_of
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve


@pytest.mark.exhaustive(sample="session")
def test_new_sentences_are_new_and_of_the_buckets_lengths(subject, runs):
    buckets = subject.fresh_sentences(30)
    text = subject.corpus
    known = sources((*text.train, *text.valid, *text.test))
    assert len(buckets) == len(bucket_labels(subject.edges))
    for place, pairs in enumerate(buckets):
        assert len(sources(pairs)) == len(pairs) == 30
        assert not sources(pairs) & known
        assert set(bucket_of([pair.words for pair in pairs], subject.edges)) == {place}
    assert Subject(runs[-1]).fresh_sentences(30) == buckets


def taken_for(subject, **corpus):
    """The same run, as if it had a different corpus."""
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
    with pytest.raises(UserError, match=r"different sentences of 5-10 words found, not 2100"):
        narrow.fresh_sentences(2100)


def test_padding_never_matters_to_a_context_or_a_state(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    short, long = pairs[0], pairs[-1]
    close = {"rtol": 1e-5, "atol": 1e-6}
    together = subject.read(subject.weights, [long, short])
    lengths = [len(ids) - 1 for ids in subject.encode([long, short]).source]
    assert [len(states) for states, _ in together] == lengths
    (alone,) = subject.read(subject.weights, [short])
    for part, expected in zip(alone, together[1], strict=True):
        np.testing.assert_allclose(part, expected, **close)


class Made(Subject):
    """An untrained translator, with a corpus made for it."""

    @cached_property
    def corpus(self):
        return load_corpus(self.settings.corpus, self.settings.scoring.lower_edges)


COPYING = [
    "corpus.name=copy", "corpus.copy_words=12", "corpus.min_words=2", "corpus.max_words=3",
    "corpus.train_pairs=4000", "corpus.test_pairs=30", "corpus.valid_pairs=20",
    "scoring.edges='2,3'", "training.updates=800", "training.learning_rate=0.01",
    "training.shapes=1", "model.attention=none", "model.context_size=48",
]  # fmt: skip


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    """Three words out of twelve, in 48 numbers of a random encoder, which still holds them all."""
    settings = resolve("smoke", COPYING)
    words = load_corpus(settings.corpus, settings.scoring.lower_edges).source_vocabulary
    graph, weights = create(settings.model, len(words), len(words), 1)
    weights["encoder"] = jax.tree.map(lambda leaf: 5.0 * leaf, weights["encoder"])
    folder = tmp_path_factory.mktemp("copier")
    return Made(folder, TrainedRun(settings, words, words, graph, weights))


@pytest.mark.exhaustive(sample="session")
def test_a_probe_reads_what_a_memory_holds_of_a_frozen_encoder(copier):
    nats, weights = train_reader(copier, copier.weights, "probe")
    exact = np.array([pair.bits for pair in copier.corpus.test])
    bits = exact - nats / np.log(2.0)
    assert 0.5 * exact.sum() < bits.sum() < exact.sum()
    encoders = (jax.tree.leaves(part["encoder"]) for part in (weights, copier.weights))
    for trained, frozen in zip(*encoders, strict=True):
        np.testing.assert_array_equal(trained, frozen)
