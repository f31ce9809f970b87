"""Bits of runs: a probe that must read, coarse memories, and a real run."""

from dataclasses import replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.model.attention import Memory
from seq2seq_bottleneck.model.translator import create, real_positions
from seq2seq_bottleneck.questions import coarse_memory, source_reader
from seq2seq_bottleneck.questions.information import QUESTION, probe
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.recovered_bits import bleu_names, summarise
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.results.folders import read_texts
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.scoring.bleu import bleu_statistics
from seq2seq_bottleneck.settings.run import resolve

NATS = np.log(2.0)


@pytest.fixture(scope="module")
def measured(subject):
    """What the study finds on the run, and what it said meanwhile."""
    told = []
    return probe(subject, told.append), told


def _silent(_):
    pass


@pytest.mark.slow
def test_the_probe_is_to_write_the_source_in_its_own_order(subject):
    pair = subject.corpus.test[0]
    written = source_reader.written_back(subject, [pair])
    words = subject.vocabularies[0]
    assert written.source == subject.encode([pair]).source
    assert words.decode(written.target[0]) == words.decode(words.encode(tokenize(pair.source)))


def groups_of(subject):
    return subject.buckets.assign(np.array([pair.words for pair in subject.corpus.test]))


def test_shuffling_gives_every_sentence_anothers_memory_of_its_group(subject):
    pairs, groups = source_reader.written_back(subject, subject.corpus.test), groups_of(subject)
    other = source_reader.shuffled(pairs, groups)
    assert other.target == pairs.target
    assert sorted(other.source) == sorted(pairs.source)
    places = {tuple(ids): group for ids, group in zip(pairs.source, groups, strict=True)}
    assert [places[tuple(ids)] for ids in other.source] == groups.tolist()
    assert not any(ours == its for ours, its in zip(other.source, pairs.source, strict=True))


@pytest.mark.exhaustive(sample="session")
def test_another_source_costs_the_translator_what_the_reference_costs_with_it(subject, measured):
    """Each pair is put together by hand, alone: the reference with its partner's source."""
    found, _ = measured
    test, groups = subject.corpus.test, groups_of(subject)
    graph, weights = subject.graph, subject.weights
    own = source_reader.losses(graph, weights, subject.encode(test))
    np.testing.assert_allclose(own, found["nll"], rtol=1e-5)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        half = max(1, len(rows) // 2)
        for place in range(min(2, len(rows))):
            partner = rows[(place - half) % len(rows)]
            pair = replace(test[rows[place]], source=test[partner].source)
            (alone,) = source_reader.losses(graph, weights, subject.encode([pair]))
            assert alone == pytest.approx(found["nll_shuffled"][rows[place]], rel=1e-5)
    assert not np.allclose(found["nll_shuffled"], found["nll"], rtol=1e-4)


@pytest.mark.slow
def test_a_translator_that_does_not_read_its_source_has_the_same_bits_of_any(subject):
    deaf = jax.tree.map(lambda leaf: leaf, subject.weights)
    deaf["encoder"] = jax.tree.map(jnp.zeros_like, deaf["encoder"])
    pairs = subject.encode(subject.corpus.test)
    others = source_reader.shuffled(pairs, np.zeros(len(pairs.source), np.int64))
    own, shuffled = (source_reader.losses(subject.graph, deaf, item) for item in (pairs, others))
    np.testing.assert_allclose(own, shuffled, rtol=1e-5)


class _Made(Subject):
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
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    words = corpus.source_vocabulary
    graph, weights = create(settings.model, len(words), len(words), 1)
    weights["encoder"] = jax.tree.map(lambda leaf: 5.0 * leaf, weights["encoder"])
    folder = tmp_path_factory.mktemp("copier")
    return _Made(folder, TrainedRun(settings, words, words, graph, weights))


@pytest.fixture(scope="module")
def reader(copier):
    """Structure and weights of its trained probe."""
    return source_reader.train_reader(copier, copier.weights, _silent, "probe")


@pytest.mark.exhaustive(sample="session")
def test_a_memory_that_holds_all_is_read_for_the_most_part_and_anothers_misleads(copier, reader):
    pairs = source_reader.written_back(copier, copier.corpus.test)
    exact = np.array([pair.bits for pair in copier.corpus.test])
    read = exact - source_reader.losses(*reader, pairs) / NATS
    assert 0.5 * exact.sum() < read.sum() < exact.sum()
    groups = np.array([pair.words for pair in copier.corpus.test])
    others = exact - source_reader.losses(*reader, source_reader.shuffled(pairs, groups)) / NATS
    assert others.sum() < 0


SLOTS = 3
"""Words of the copier's longest sentence: so many of its vocabulary's one-hots fill its context."""


class _OneHot(source_reader.SourceReader):
    """A probe whose context is the sentence itself: a one-hot vector for each place."""

    def encode(self, source, lengths, key=None):  # noqa: ARG002 (nothing is dropped)
        return self._memory(source, lengths, jax.nn.one_hot(source[:, :SLOTS], self.words))

    def _memory(self, source, lengths, held):
        last = held.reshape(len(source), -1)
        values = jnp.repeat(last[:, None], source.shape[1], axis=1)
        mask = real_positions(lengths, source.shape[1])
        return Memory(values, self.decoder.attention.keys(values), mask, last)

    @property
    def words(self):
        return len(self.encoder.embedding[...])


class _Noise(_OneHot):
    """One whose context has nothing to do with the sentence."""

    def encode(self, source, lengths, key=None):  # noqa: ARG002 (nothing is dropped)
        noise = jax.random.normal(jax.random.key(5), (len(source), SLOTS, self.words))
        return self._memory(source, lengths, noise)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(("context", "least", "most"), [(_OneHot, 0.97, 1.0), (_Noise, -0.1, 0.0)])
def test_of_one_hot_contexts_the_probe_recovers_all_bits_and_of_noise_none(
    context, least, most, copier, monkeypatch
):
    monkeypatch.setattr(source_reader, "SourceReader", context)
    found = source_reader.train_reader(copier, copier.weights, _silent, "probe")
    exact = np.array([pair.bits for pair in copier.corpus.test])
    left = source_reader.losses(*found, source_reader.written_back(copier, copier.corpus.test))
    assert least * exact.sum() < (exact - left / NATS).sum() < most * exact.sum()


@pytest.mark.exhaustive(sample="session")
def test_the_probe_learns_and_changes_no_weight_of_the_encoder(copier, reader):
    trained, fresh = reader[1], source_reader.fresh_reader(copier, copier.weights)[1]
    kept = zip(
        jax.tree.leaves(trained["encoder"]), jax.tree.leaves(copier.weights["encoder"]), strict=True
    )
    for one, other in kept:
        np.testing.assert_array_equal(one, other)
    moved = jax.tree.map(lambda one, other: bool(np.any(one != other)), fresh, trained)
    assert all(jax.tree.leaves(moved["decoder"]))


@pytest.mark.exhaustive(sample="session")
def test_the_memory_as_it_is_gives_the_runs_own_translations(subject, measured):
    """And what is measured at full precision is what the run was scored by."""
    found, _ = measured
    texts = read_texts(subject.folder)
    counts = bleu_statistics(texts.hypotheses, texts.references)
    ours, coarse = (
        np.stack([found[name] for name in bleu_names(level)], axis=1) for level in ("full", "1")
    )
    np.testing.assert_array_equal(ours, counts)
    assert np.any(coarse != counts)


@pytest.mark.slow
def test_states_are_rounded_within_the_training_ranges(subject):
    batches = coarse_memory.evaluation_batches(subject.encode(subject.corpus.test), 40)
    states = subject.memory(subject.weights, batches[0].batch)
    for exact, span in zip(states, coarse_memory.ranges(subject), strict=True):
        coarse = coarse_memory.quantise(exact, span, 2)
        assert max(len(np.unique(column)) for column in coarse.reshape(-1, 32).T) <= 4
        inside = np.clip(exact, *span)
        assert (np.abs(coarse - inside) <= (span[1] - span[0]) / 8 + 1e-6).all()
        assert (span[0] < span[1]).all()


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_summed_up(subject, measured, tmp_path):
    found, messages = measured
    keep(tmp_path, QUESTION, found)
    kept = read_kept(tmp_path, subject.settings, QUESTION)
    assert kept.found["bits"].tolist() == [pair.bits for pair in subject.corpus.test]
    assert any("untrained" in words for words in messages)
    rows = [row for row in summarise([kept]) if row.get("control", "") == "" and "seed" not in row]
    total = sum(
        row["value"] * row["n"]
        for row in rows
        if row["measure"] == "recovered" and row["part"] == "translator"
    )
    counted = (kept.found["unknown"] == 0) & (kept.found["source_words"] >= 5)
    difference = kept.found["bits"] - kept.found["nll"] / NATS
    assert total == pytest.approx(difference[counted].sum())
    assert [row["value"] for row in rows if row["measure"] == "probe_updates"] == [10]
