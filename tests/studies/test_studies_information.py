"""Bits of runs: known bits through the summing up, a probe that must read, and a real run."""

import json
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.model.attention import Memory
from seq2seq_bottleneck.model.translator import create, real_positions
from seq2seq_bottleneck.probes.quantisation import cells
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.results.folders import HYPOTHESES
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.scoring.bleu import bleu_statistics
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies import information, robustness, source_probe
from seq2seq_bottleneck.studies.information import STUDY, summarise
from seq2seq_bottleneck.studies.robustness import PARTS, names

NATS = np.log(2.0)
WORDS = np.repeat(np.arange(5, 51), 3).astype(float)
BITS = 4.0 * WORDS
"""Of a language that says four bits a word."""


@pytest.fixture(scope="module")
def measured(subject):
    """What the study finds on the run, and what it said meanwhile."""
    told = []
    return information.probe(subject, told.append), told


def _silent(_):
    pass


def _run(attention="none", limit=999, seed=1, **changed):
    """A run that tells every word's bits up to a limit of words; sentence by sentence with luck."""
    luck = np.random.default_rng(seed).normal(0.0, 3.0, WORDS.size)
    left = 4.0 * np.maximum(WORDS - limit, 0) + luck - luck.mean()
    counts = np.tile([9.0, 10.0, 8.0, 6.0, 4.0, 2.0, 9.0, 8.0, 7.0, 6.0], (WORDS.size, 1))
    found = {
        "source_words": WORDS, "bits": BITS, "unknown": np.zeros(WORDS.size),
        "nll": left * NATS, "probe": (left + 5.0) * NATS, "probe_untrained": (left + 10.0) * NATS,
        "probe_shuffled": (BITS + 20.0) * NATS, "nll_shuffled": (0.75 * BITS + 3.0) * NATS,
    }  # fmt: skip
    for part in PARTS:
        found |= dict(zip(names(part), counts.T, strict=True))
    model = {"attention": attention, "source": changed.pop("source", "seen")}
    settings = resolve("smoke").changed(model=model, training={"seed": seed})
    return Probed(Path(f"run {seed}"), settings, found | changed)


def _read(rows, **keys):
    """The one row, of means unless a seed is named."""
    wanted = {"seed": None, "control": "", "bucket": "", "part": ""} | keys
    blank = {"seed": None}
    found = [
        row for row in rows if all(row.get(k, blank.get(k, "")) == v for k, v in wanted.items())
    ]
    assert len(found) == 1, keys
    return found[0]


def test_bits_recovered_their_share_and_their_growth():
    rows = summarise([_run(limit=20), _run("additive")])
    inside = (WORDS >= 21) & (WORDS <= 30)
    keys = {"arm": "none", "bucket": "21-30", "part": "translator"}
    found = _run(limit=20).found
    expected = (BITS - found["nll"] / NATS)[inside]
    assert _read(rows, measure="source_bits", arm="none", bucket="21-30")["value"] == pytest.approx(
        4 * 25.5
    )
    recovered = _read(rows, measure="recovered", **keys)
    assert recovered["value"] == pytest.approx(expected.mean())
    assert recovered["low"] < recovered["value"] < recovered["high"]
    assert recovered["n"] == inside.sum()
    share = _read(rows, measure="share", **keys)["value"]
    assert share == pytest.approx(expected.sum() / BITS[inside].sum())
    per_word = _read(rows, measure="per_word", **keys)["value"]
    assert per_word == pytest.approx(expected.sum() / WORDS[inside].sum())
    probe = _read(rows, measure="recovered", **keys | {"part": "probe"})
    assert probe["value"] == pytest.approx(expected.mean() - 5)
    untrained = _read(rows, measure="recovered", control="untrained", **keys | {"part": "probe"})
    assert untrained["value"] == pytest.approx(expected.mean() - 10)
    shuffled = _read(rows, measure="recovered", control="shuffled", **keys | {"part": "probe"})
    assert shuffled["value"] == pytest.approx(-20)  # as it is: floored in print alone
    others = _read(rows, measure="recovered", control="shuffled", **keys)
    assert others["value"] == pytest.approx(0.25 * 4 * 25.5 - 3)


def test_what_levels_off_is_told_from_what_rises():
    rows = summarise([_run(limit=20), _run("additive")])
    limited = _read(rows, measure="kept", arm="none", part="translator longer")
    rising = _read(rows, measure="kept", arm="additive", part="translator longer")
    assert limited["low"] < 0.05
    assert limited["high"] < 0.2
    assert rising["value"] == pytest.approx(1.0, abs=0.1)
    slope = _read(rows, measure="source_slope", arm="additive", part="translator longer")
    assert slope["value"] == pytest.approx(4.0)
    shorter = _read(rows, measure="slope", arm="additive", part="translator shorter")
    assert (shorter["n"], slope["n"]) == (sum(WORDS <= 30), sum(WORDS >= 21))
    gain = _read(rows, measure="kept_gain", arm="additive", part="translator longer")
    assert gain["value"] == pytest.approx(rising["value"] - limited["value"])
    assert gain["low"] > 0.5
    assert gain["note"] == "none"


def test_a_gain_is_paired_sentence_by_sentence():
    """Both arms have the same luck: a quarter of every sentence's bits more has no scatter."""
    none = _run()
    rows = summarise([none, _run("additive", probe=none.found["probe"] - 0.25 * BITS * NATS)])
    found = _read(rows, measure="share_gain", arm="additive", bucket="5-10", part="probe")
    share = _read(rows, measure="share", arm="additive", bucket="5-10", part="probe")
    assert [found[end] for end in ("value", "low", "high")] == pytest.approx([0.25] * 3)
    assert share["high"] - share["low"] > 0.01


def test_the_mean_over_seeds_and_a_row_a_seed():
    rows = summarise([_run(seed=1, limit=20), _run(seed=2, limit=30)])
    keys = {"measure": "recovered", "bucket": "41+", "part": "translator"}
    seeds = [_read(rows, seed=seed, **keys)["value"] for seed in (1, 2)]
    assert _read(rows, **keys)["value"] == pytest.approx(np.mean(seeds))
    assert seeds[1] - seeds[0] == pytest.approx(40.0, abs=2.0)


def test_sentences_with_an_unknown_word_are_left_out_of_bits_not_of_bleu():
    unknown = (WORDS == 7).astype(float)
    rows = summarise([_run(unknown=unknown)])
    source = _read(rows, measure="source_bits", bucket="5-10")
    assert source["n"] == 15
    assert source["value"] == pytest.approx(4 * np.mean([5, 6, 8, 9, 10]))
    assert _read(rows, measure="left_out", bucket="5-10")["value"] == 3
    assert _read(rows, measure="bleu", bucket="5-10", part="4")["n"] == 18


def _text(attention="none", **changed):
    """A run on a text whose bits nobody knows."""
    made = _run(attention, bits=np.full(WORDS.size, np.nan), **changed)
    found = {name: held for name, held in made.found.items() if not name.startswith("probe")}
    return Probed(made.folder, made.settings, found)


def test_a_hidden_source_stands_for_a_language_that_is_not_known():
    hidden = _text(source="hidden", nll=(BITS + 6.0) * NATS)
    rows = summarise([_text(limit=20), _text("additive"), hidden])
    assert {row["arm"] for row in rows} == {"none", "additive"}
    for arm in ("none", "additive"):
        whole = _read(rows, measure="source_bits", arm=arm, bucket="21-30")
        assert (whole["value"], whole["note"]) == (pytest.approx(4 * 25.5 + 6), "hidden")
    keys = {"measure": "recovered", "bucket": "5-10", "part": "translator"}
    assert _read(rows, arm="additive", **keys)["value"] == pytest.approx(36.0, abs=2.5)
    others = _read(rows, arm="additive", control="shuffled", **keys)["value"]
    assert others == pytest.approx(0.25 * 4 * 7.5 + 6 - 3)  # there is a control without a probe
    assert not any(row.get("part") == "probe" for row in rows)


def test_a_hidden_source_trained_otherwise_stands_for_nothing():
    hidden = _text(source="hidden", nll=BITS * NATS)
    longer = hidden.settings.changed(training={"updates": 41})
    rows = summarise([_text(), Probed(hidden.folder, longer, hidden.found)])
    whole = _read(rows, measure="source_bits", bucket="5-10")
    assert np.isnan(whole["value"])
    assert whole["note"] == "unknown"
    assert not any(row["measure"] == "share" for row in rows)
    assert _read(rows, measure="bleu", bucket="5-10", part="1")["value"] > 0
    with pytest.raises(UserError, match=r"source=hidden"):
        summarise([hidden])


def test_where_bits_are_exact_a_hidden_source_shows_how_it_would_flatter():
    rows = summarise([_run(), _run(source="hidden", nll=(BITS + 6.0) * NATS)])
    assert _read(rows, measure="hidden_excess", bucket="5-10")["value"] == pytest.approx(6.0)
    assert _read(rows, measure="source_bits", bucket="5-10")["note"] == "exact"


@pytest.mark.slow
def test_the_probe_is_to_write_the_source_in_its_own_order(subject):
    pair = subject.corpus.test[0]
    held = source_probe.written_back(subject, [pair])
    words = subject.vocabularies[0]
    assert held.source == subject.encode([pair]).source
    assert words.decode(held.target[0]) == words.decode(words.encode(tokenize(pair.source)))


def test_shuffling_gives_every_sentence_anothers_memory_of_its_group(subject):
    pairs = source_probe.written_back(subject, subject.corpus.test)
    groups = subject.buckets.assign(np.array([pair.words for pair in subject.corpus.test]))
    other = source_probe.shuffled(pairs, groups)
    assert other.target == pairs.target
    assert sorted(other.source) == sorted(pairs.source)
    places = {tuple(ids): group for ids, group in zip(pairs.source, groups, strict=True)}
    assert [places[tuple(ids)] for ids in other.source] == groups.tolist()
    assert not any(one == its for one, its in zip(other.source, pairs.source, strict=True))


@pytest.mark.exhaustive(sample="session")
def test_another_source_costs_the_translator_what_the_reference_costs_with_it(subject, measured):
    """Each pair is put together by hand, alone: the reference with its partner's source."""
    found, _ = measured
    test = subject.corpus.test
    groups = subject.buckets.assign(np.array([pair.words for pair in test]))
    graph, weights = subject.graph, subject.weights
    own = source_probe.losses(graph, weights, subject.encode(test))
    np.testing.assert_allclose(own, found["nll"], rtol=1e-5)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        partners = [
            rows[(place - max(1, len(rows) // 2)) % len(rows)] for place in range(len(rows))
        ]
        assert not any(partners == rows)
        for row, other in list(zip(rows, partners, strict=True))[:2]:
            pair = replace(test[row], source=test[other].source)
            (alone,) = source_probe.losses(graph, weights, subject.encode([pair]))
            assert alone == pytest.approx(found["nll_shuffled"][row], rel=1e-5)
    assert not np.allclose(found["nll_shuffled"], found["nll"], rtol=1e-4)


@pytest.mark.slow
def test_a_translator_that_does_not_read_its_source_has_the_same_bits_of_any(subject):
    deaf = jax.tree.map(lambda leaf: leaf, subject.weights)
    deaf["encoder"] = jax.tree.map(jnp.zeros_like, deaf["encoder"])
    pairs = subject.encode(subject.corpus.test)
    everything = np.zeros(len(pairs.source), dtype=np.int64)
    own, others = (
        source_probe.losses(subject.graph, deaf, each)
        for each in (pairs, source_probe.shuffled(pairs, everything))
    )
    np.testing.assert_allclose(own, others, rtol=1e-5)


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
    return source_probe.train_reader(copier, copier.weights, _silent, "probe")


@pytest.mark.exhaustive(sample="session")
def test_a_memory_that_holds_all_is_read_for_the_most_part_and_anothers_misleads(copier, reader):
    pairs = source_probe.written_back(copier, copier.corpus.test)
    exact = np.array([pair.bits for pair in copier.corpus.test])
    read = exact - source_probe.losses(*reader, pairs) / NATS
    assert 0.5 * exact.sum() < read.sum() < exact.sum()
    groups = np.array([pair.words for pair in copier.corpus.test])
    others = exact - source_probe.losses(*reader, source_probe.shuffled(pairs, groups)) / NATS
    assert others.sum() < 0


SLOTS = 3
"""Words of the copier's longest sentence: so many of its vocabulary's one-hots fill its context."""


class _OneHot(source_probe.SourceReader):
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
    monkeypatch.setattr(source_probe, "SourceReader", context)
    found = source_probe.train_reader(copier, copier.weights, _silent, "probe")
    exact = np.array([pair.bits for pair in copier.corpus.test])
    left = source_probe.losses(*found, source_probe.written_back(copier, copier.corpus.test))
    assert least * exact.sum() < (exact - left / NATS).sum() < most * exact.sum()


@pytest.mark.exhaustive(sample="session")
def test_the_probe_learns_and_changes_no_weight_of_the_encoder(copier, reader):
    trained, fresh = reader[1], source_probe.fresh_reader(copier, copier.weights)[1]
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
    lines = (subject.folder / HYPOTHESES).read_text(encoding="utf8").splitlines()
    held = [json.loads(line) for line in lines]
    counts = bleu_statistics([h["hypothesis"] for h in held], [h["reference"] for h in held])
    ours = np.stack([found[name] for name in names("full")], axis=1)
    np.testing.assert_array_equal(ours, counts)
    coarse = np.stack([found[name] for name in names("1")], axis=1)
    assert np.any(coarse != counts)


@pytest.mark.slow
def test_states_are_rounded_within_the_training_ranges(subject):
    batches = robustness.evaluation_batches(subject.encode(subject.corpus.test), 40)
    spans = robustness.ranges(subject)
    states = robustness.memory(subject, batches[0])
    for exact, rounded, span in zip(
        states, robustness.rounded(states, spans, "2"), spans, strict=True
    ):
        np.testing.assert_array_equal(cells(rounded, span, 2), cells(exact, span, 2))
        assert max(len(np.unique(column)) for column in rounded.reshape(-1, 32).T) <= 4
        assert (span.low < span.high).all()
    assert robustness.rounded(states, spans, "full") is states


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_summed_up(subject, measured, tmp_path):
    found, told = measured
    keep(tmp_path, STUDY, found)
    kept = read_kept(tmp_path, subject.settings, STUDY)
    assert kept.found["bits"].tolist() == [pair.bits for pair in subject.corpus.test]
    assert any("untrained" in words for words in told)
    rows = [row for row in summarise([kept]) if row.get("control", "") == ""]
    own = kept.found["unknown"] == 0
    total = sum(
        row["value"] * row["n"]
        for row in rows
        if row["measure"] == "recovered" and row["part"] == "translator" and "seed" not in row
    )
    placed = own & (kept.found["source_words"] >= 5)
    difference = kept.found["bits"] - kept.found["nll"] / NATS
    assert total == pytest.approx(difference[placed].sum())
    assert _read(rows, measure="probe_updates")["value"] == 10
