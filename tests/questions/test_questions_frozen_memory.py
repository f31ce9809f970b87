"""A probe that must read, memories of other sentences."""

from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.model.attention import Memory
from seq2seq_bottleneck.model.translator import create, real_positions
from seq2seq_bottleneck.questions import frozen_memory
from seq2seq_bottleneck.questions.frozen_memory import (
    SourceReader,
    losses,
    shuffled,
    train_reader,
    written_back,
)
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.settings.run import resolve


@pytest.mark.slow
def test_the_probe_is_to_write_the_source_in_its_own_order(subject):
    pair, words = subject.corpus.test[0], subject.vocabularies[0]
    written = written_back(subject, [pair])
    assert written.source == subject.encode([pair]).source
    assert words.decode(written.target[0]) == words.decode(words.encode(tokenize(pair.source)))


def test_shuffling_gives_every_sentence_anothers_memory_of_its_group(subject):
    pairs = written_back(subject, subject.corpus.test)
    groups = subject.buckets.assign(np.array([pair.words for pair in subject.corpus.test]))
    other = shuffled(pairs, groups)
    assert other.target == pairs.target
    assert sorted(other.source) == sorted(pairs.source)
    places = {tuple(ids): group for ids, group in zip(pairs.source, groups, strict=True)}
    assert [places[tuple(ids)] for ids in other.source] == groups.tolist()
    assert not any(ours == its for ours, its in zip(other.source, pairs.source, strict=True))


@pytest.mark.slow
def test_a_translator_that_does_not_read_its_source_has_the_same_bits_of_any(subject):
    deaf = jax.tree.map(lambda leaf: leaf, subject.weights)
    deaf["encoder"] = jax.tree.map(jnp.zeros_like, deaf["encoder"])
    pairs = subject.encode(subject.corpus.test)
    others = shuffled(pairs, np.zeros(len(pairs.source), np.int64))
    same, other = (losses(subject.graph, deaf, item) for item in (pairs, others))
    np.testing.assert_allclose(same, other, rtol=1e-5)


class Made(Subject):
    """A translator that nobody trained, on a corpus made for it."""

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
    """Three words of twelve in 48 numbers of a random encoder, which forgets nothing so soon."""
    settings = resolve("smoke", COPYING)
    words = load_corpus(settings.corpus, settings.scoring.lower_edges).source_vocabulary
    graph, weights = create(settings.model, len(words), len(words), 1)
    weights["encoder"] = jax.tree.map(lambda leaf: 5.0 * leaf, weights["encoder"])
    folder = tmp_path_factory.mktemp("copier")
    return Made(folder, TrainedRun(settings, words, words, graph, weights))


class OneHot(SourceReader):
    """A probe whose context is the sentence itself: a one-hot vector for each of three places."""

    def vectors(self, source):
        return jax.nn.one_hot(source[:, :3], len(self.encoder.embedding[...]))

    def encode(self, source, lengths, key=None):  # noqa: ARG002 (nothing is dropped)
        last = self.vectors(source).reshape(len(source), -1)
        values = jnp.repeat(last[:, None], source.shape[1], axis=1)
        mask = real_positions(lengths, source.shape[1])
        return Memory(values, self.decoder.attention.keys(values), mask, last)


class Noise(OneHot):
    """One whose context has nothing to do with the sentence."""

    def vectors(self, source):
        return jax.random.normal(jax.random.key(5), super().vectors(source).shape)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    ("reader", "least", "most"),
    [(SourceReader, 0.5, 1.0), (OneHot, 0.97, 1.0), (Noise, -0.1, 0.0)],
)
def test_a_probe_reads_what_a_memory_holds_of_a_frozen_encoder(
    reader, least, most, copier, monkeypatch
):
    monkeypatch.setattr(frozen_memory, "SourceReader", reader)
    graph, weights = train_reader(copier, copier.weights, lambda _: None, "probe")
    pairs = written_back(copier, copier.corpus.test)
    exact = np.array([pair.bits for pair in copier.corpus.test])
    bits = exact - losses(graph, weights, pairs) / np.log(2.0)
    assert least * exact.sum() < bits.sum() < most * exact.sum()
    encoders = (jax.tree.leaves(part["encoder"]) for part in (weights, copier.weights))
    for trained, frozen in zip(*encoders, strict=True):
        np.testing.assert_array_equal(trained, frozen)
    if reader is SourceReader:  # another sentence's memory misleads
        others = shuffled(pairs, np.array([p.words for p in copier.corpus.test]))
        assert (exact - losses(graph, weights, others) / np.log(2.0)).sum() < 0
