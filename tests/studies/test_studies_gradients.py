"""Gradients of runs: finite differences, planted fading through the summing up, and a real run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few

from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import EOS, PAD
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies.gradients import (
    STUDY,
    _norms,
    chosen,
    gradient_norms,
    links_of,
    measure,
    open_sides,
    summarise,
)
from seq2seq_bottleneck.training.loss import decoder_inputs

WORDS, SIZE = 9, 3
SOURCE, TARGET = [4, 7, 5, EOS], [6, 8, EOS]
STEP = 1e-5


def _double(**model):
    """A random translator in double precision; of the source no word stands twice."""
    settings = ModelSettings(**{"embedding_size": SIZE, "context_size": 4, **model})
    graph, weights = create(settings, WORDS, WORDS, 1)
    random = np.random.default_rng(5)
    return graph, jax.tree.map(lambda leaf: jnp.asarray(random.normal(0, 0.7, leaf.shape)), weights)


def _losses(graph, weights, padding=0):
    """-log P of each target token of the one sentence, by the model's own way from words."""
    source = jnp.array([SOURCE + [PAD] * padding], jnp.int32)
    target = jnp.array([TARGET], jnp.int32)
    translator = nnx.merge(graph, weights)
    logits, _ = translator.logits(source, jnp.array([len(SOURCE)]), decoder_inputs(target))
    scores = jax.nn.log_softmax(logits[0])
    return -np.asarray(scores[np.arange(len(TARGET)), np.array(TARGET)])


def _moved(weights, word, axis, step):
    """The weights with one number of a source word's vector moved."""
    table = weights["encoder"]["embedding"][...]
    changed = jax.tree.map(lambda leaf: leaf, weights)
    changed["encoder"]["embedding"][...] = table.at[word, axis].add(step)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    few(
        [
            {"attention": "additive"},
            {"attention": "none"},
            {"attention": "general", "placement": "output", "cell": "lstm"},
            {"attention": "none", "placement": "output", "bidirectional": True},
        ],
        4,
    ),
)
@pytest.mark.usefixtures("float64")
def test_norms_are_those_of_finite_differences(model):
    graph, weights = _double(**model)
    source = jnp.array([SOURCE + [PAD] * 2] * 2, jnp.int32)
    target = jnp.array([TARGET + [PAD] * 2] * 2, jnp.int32)
    lengths = jnp.array([len(SOURCE)] * 2, jnp.int32)
    found = np.asarray(_norms(graph, weights, source, lengths, target))[1]
    slopes = np.zeros((len(TARGET), len(SOURCE), SIZE))
    for place, word in enumerate(SOURCE):
        for axis in range(SIZE):
            up, down = (_losses(graph, _moved(weights, word, axis, end)) for end in (STEP, -STEP))
            slopes[:, place, axis] = (up - down) / (2 * STEP)
    expected = np.linalg.norm(slopes, axis=-1)
    assert expected.min() > 1e-6
    np.testing.assert_allclose(found[: len(TARGET), : len(SOURCE)], expected, rtol=1e-5)


@pytest.mark.exhaustive(sample="session")
def test_other_sentences_of_a_batch_do_not_matter(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    together = gradient_norms(subject, subject.weights, [pairs[0], pairs[9]])
    alone = gradient_norms(subject, subject.weights, [pairs[0]])
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-4, atol=1e-8)


PAIR = SentencePair("the black cat", "le chat noir", ((0, 0), (1, 2), (2, 1)))


class _Reversed(Subject):
    """The same run, taken for one that reads its source backwards."""

    @property
    def settings(self):
        return super().settings.changed(model={"reverse_source": True})


def test_steps_are_counted_on_the_way_without_attention(subject):
    # Read are the, black, cat and the end; h_Tx is the end's state.
    held = links_of(subject, [PAIR])
    assert held["steps"].tolist() == [4, 3, 2]
    assert held["chain"].tolist() == [3 + 1, 2 + 3, 1 + 2]
    held = links_of(_Reversed(subject.folder, subject.trained), [PAIR])
    assert held["source"].tolist() == [2, 1, 0]
    assert held["steps"].tolist() == [2, 3, 4]


RATES = {"trained": 0.8, "untrained": 1.0}


def _probed(tmp_path, seed, rates=RATES, sentences=12):
    """Every word of sentences of 8 and 16 words linked to its own place, fading at these rates."""
    rows = [
        (sentence, words, place)
        for sentence in range(sentences)
        for words in [(8, 16)[sentence % 2]]
        for place in range(words)
    ]
    sentence, words, place = np.array(rows).T
    steps = words - place + 1
    columns = {"sentence": sentence, "source_words": words, "steps": steps, "chain": steps + place}
    for name, rate in rates.items():
        columns |= {f"{name}_aligned": 3.0 * rate**steps, f"{name}_last": np.full(len(steps), 3.0)}
    folder = tmp_path / str(seed)
    keep(folder, STUDY, columns)
    return read_kept(folder, resolve("smoke", [f"training.seed={seed}"]), STUDY)


def _table(rows):
    held = {(r["measure"], r.get("control", ""), r["bucket"], r.get("part", ""), r.get("seed")): r
            for r in rows}  # fmt: skip
    assert len(held) == len(rows)
    return held


def test_planted_fading_has_its_half_distance(tmp_path):
    held = _table(summarise([_probed(tmp_path, 1), _probed(tmp_path, 2)]))
    expected = np.log(0.5) / np.log(0.8)
    for bucket, links in (("5-10", 6 * 8), ("11-20", 6 * 16), ("", 6 * 24)):
        row = held["half_distance", "", bucket, "", None]
        assert [row[end] for end in ("value", "low", "high")] == pytest.approx([expected] * 3)
        assert (row["n"], row["note"]) == (links, ";;")
        alone = held["half_distance", "", bucket, "", 2]
        assert (alone["value"], alone["note"]) == (pytest.approx(expected), "")
    flat = held["half_distance", "untrained", "5-10", "", None]
    assert flat["note"] == "at least;at least;at least"
    assert flat["value"] == 7  # from 2 to 9 steps
    assert not any(bucket == "21-30" for _, _, bucket, _, _ in held)


def test_planted_ratios_stand_in_their_bands(tmp_path):
    held = _table(summarise([_probed(tmp_path, 1), _probed(tmp_path, 2)]))
    nearest = held["ratio", "", "", "1-5", None]
    assert nearest["value"] == pytest.approx(0.8**3.5)  # geometric, of 2 to 5 steps
    assert nearest["n"] == 2 * 12 * 4  # both seeds
    assert held["ratio", "", "", "11-20", 1]["value"] == pytest.approx(0.8**14)
    assert held["ratio", "untrained", "", "6-10", None]["value"] == pytest.approx(1)
    assert held["vanished", "", "", "", None]["value"] == 0


def test_what_vanished_and_what_has_no_ratio_are_counted(tmp_path):
    probed = _probed(tmp_path, 1)
    probed.found["trained_aligned"][:36] = 0.0
    probed.found["untrained_last"][:5] = 0.0
    held = _table(summarise([probed]))
    assert held["vanished", "", "", "", None]["value"] == pytest.approx(36 / 144)
    assert held["left_out", "untrained", "", "", None]["value"] == 5


def test_sides_are_told_where_they_are_open():
    assert open_sides(3.0, 2.0, 4.0) == ";;"
    assert open_sides(3.0, 2.0, np.inf) == ";;at least"


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_kept(subject, tmp_path):
    found = measure(subject, lambda _: None, 2)
    pairs = chosen(subject, 2)
    assert len(pairs) == 2 * len(subject.buckets.names)
    assert len(found["steps"]) == sum(len(pair.links) for pair in pairs)
    row = len(found["steps"]) - 1
    (norms,) = gradient_norms(subject, subject.weights, [pairs[-1]])
    source, target = pairs[-1].links[-1]
    assert found["trained_aligned"][row] == pytest.approx(norms[target, source], rel=1e-4)
    assert found["trained_last"][row] == pytest.approx(norms[target, -1], rel=1e-4)
    assert (found["trained_aligned"] != found["untrained_aligned"]).all()
    keep(tmp_path, STUDY, found)
    rows = summarise([read_kept(tmp_path, subject.settings, STUDY)])
    halves = [r for r in rows if r["measure"] == "half_distance" and r["bucket"] == ""]
    assert {r.get("control") for r in halves} == {"", "untrained"}
    assert all(r["value"] > 0 for r in halves)


def test_the_study_needs_gold_links_and_a_source():
    settings = resolve("smoke")
    assert STUDY.suits(settings.changed(model={"attention": "none"}))
    assert not STUDY.suits(settings.changed(model={"source": "hidden"}))
    assert not STUDY.suits(settings.changed(corpus={"name": "files"}))
