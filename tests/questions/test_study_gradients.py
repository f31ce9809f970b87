"""Gradients of runs: finite differences, and a real run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few

from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import EOS, PAD
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.gradient_norms import gradient_norms, token_norms
from seq2seq_bottleneck.questions.gradients import QUESTION, chosen, links_of, probe, summarise
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.run import resolve
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
    norms = np.asarray(token_norms(graph, weights, source, lengths, target))[1]
    slopes = np.zeros((len(TARGET), len(SOURCE), SIZE))
    for place, word in enumerate(SOURCE):
        for axis in range(SIZE):
            up, down = (_losses(graph, _moved(weights, word, axis, end)) for end in (STEP, -STEP))
            slopes[:, place, axis] = (up - down) / (2 * STEP)
    expected = np.linalg.norm(slopes, axis=-1)
    assert expected.min() > 1e-6
    np.testing.assert_allclose(norms[: len(TARGET), : len(SOURCE)], expected, rtol=1e-5)


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
    links = links_of(subject, [PAIR])
    assert links["steps"].tolist() == [4, 3, 2]
    assert links["chain"].tolist() == [3 + 1, 2 + 3, 1 + 2]
    links = links_of(_Reversed(subject.folder, subject.trained), [PAIR])
    assert links["source"].tolist() == [2, 1, 0]
    assert links["steps"].tolist() == [2, 3, 4]


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_kept(subject, tmp_path):
    found = probe(subject, lambda _: None, 2)
    pairs = chosen(subject, 2)
    assert len(pairs) == 2 * len(subject.buckets.names)
    assert len(found["steps"]) == sum(len(pair.links) for pair in pairs)
    row = len(found["steps"]) - 1
    (norms,) = gradient_norms(subject, subject.weights, [pairs[-1]])
    source, target = pairs[-1].links[-1]
    assert found["trained_aligned"][row] == pytest.approx(norms[target, source], rel=1e-4)
    assert found["trained_last"][row] == pytest.approx(norms[target, -1], rel=1e-4)
    assert (found["trained_aligned"] != found["untrained_aligned"]).all()
    keep(tmp_path, QUESTION, found)
    rows = summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    halves = [r for r in rows if r["measure"] == "half_distance" and r["bucket"] == ""]
    assert {r.get("control") for r in halves} == {"", "untrained"}
    assert all(r["value"] > 0 for r in halves)


def test_the_question_needs_gold_links_and_a_source():
    settings = resolve("smoke")
    assert QUESTION.suits(settings.changed(model={"attention": "none"}))
    assert not QUESTION.suits(settings.changed(model={"source": "hidden"}))
    assert not QUESTION.suits(settings.changed(corpus={"name": "files"}))
