"""Label smoothing: the fast path against log-softmax and autodiff, and what it leaves alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few
from losses import mean_loss
from tiny_training import (
    EOS,
    WORDS,
    one_batch,
    settings_of,
    spread_out,
    stream,
    train_one,
    translator,
    validation,
)

from seq2seq_bottleneck.model.decoder import OutputLayer
from seq2seq_bottleneck.questions.source_reader import reader_settings
from seq2seq_bottleneck.settings.concerns import TrainingSettings
from seq2seq_bottleneck.training import cross_entropy
from seq2seq_bottleneck.training.loss import decoder_inputs
from seq2seq_bottleneck.training.step import initial_state, make_update

ARMS = [
    {"attention": "additive", "cell": "gru"},
    {"attention": "dot", "placement": "output", "tied_output": True},
]


def plain_losses(logits, target, smoothing):
    """(1 - e) of -log P(target) and e of its mean over what an output may hold."""
    log_p = jax.nn.log_softmax(logits, axis=-1)
    chosen = jnp.take_along_axis(log_p, target[..., None], axis=-1)[..., 0]
    return -(1 - smoothing) * chosen - smoothing * jnp.mean(log_p[..., EOS:], axis=-1)


def plain_mean(model, batch, smoothing):
    """The mean over real tokens, of kept logits."""
    target = jnp.asarray(batch.target)
    given = batch.source, batch.source_lengths, decoder_inputs(target)
    losses = plain_losses(model.logits(*map(jnp.asarray, given))[0], target, smoothing)
    real = np.arange(target.shape[1])[None] < batch.target_lengths[:, None]
    return jnp.sum(jnp.where(real, losses, 0.0)) / batch.target_lengths.sum()


def slope_of(graph, loss):
    """weights -> loss and gradient."""
    return jax.value_and_grad(lambda weights: loss(nnx.merge(graph, weights)))


def fast(smoothing):
    batch = jax.tree.map(jnp.asarray, one_batch())
    return lambda model: mean_loss(model, batch, 1.0, None, smoothing)


def close(found, expected, tolerance):
    np.testing.assert_allclose(found[0], expected[0], rtol=tolerance)
    largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(expected[1]))
    pairs = zip(jax.tree.leaves(found[1]), jax.tree.leaves(expected[1]), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize("smoothing", few([0.1, 0.0], 2))
def test_loss_and_gradient_are_the_plain_formulas(arm, smoothing):
    graph, weights = translator(**arm)
    weights = spread_out(weights)
    found = jax.jit(slope_of(graph, fast(smoothing)))(weights)
    plain = slope_of(graph, lambda model: plain_mean(model, one_batch(), smoothing))
    close(found, jax.jit(plain)(weights), 1e-5)


def positions(count):
    """States, an output layer of six words, targets, and which of them are real."""
    random = np.random.default_rng(count)
    states = jnp.asarray(random.normal(size=(count, 4)))
    layer = OutputLayer(*(jnp.asarray(random.normal(size=size)) for size in ((4, 6), (6,))))
    target = jnp.asarray(random.integers(EOS, 6, count), jnp.int32)
    return states, layer, target, jnp.asarray(random.random(count) < 0.7)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("count", [7, 8, 30])
@pytest.mark.parametrize("smoothing", [0.1, 0.6])
def test_chunks_are_smoothed_alike(count, smoothing, monkeypatch):
    monkeypatch.setattr(cross_entropy, "CHUNK", 8)
    states, layer, target, real = positions(count)

    def plain(states, layer):
        losses = plain_losses(layer.logits(states), target, smoothing)
        return 3.0 * jnp.sum(jnp.where(real, losses, 0.0))

    def chunked(states, layer):
        return 3.0 * cross_entropy.summed_loss(states, layer, target, real, smoothing)

    found, expected = (
        jax.jit(jax.value_and_grad(path, (0, 1)))(states, layer) for path in (chunked, plain)
    )
    close(found, expected, 1e-10)
    np.testing.assert_allclose(jax.jit(chunked)(states, layer), expected[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
def test_the_gradient_by_hand_is_that_of_finite_differences():
    states, layer, target, real = positions(9)
    step = 1e-6

    @jax.jit
    def loss(states, matrix, bias):
        return cross_entropy.summed_loss(states, OutputLayer(matrix, bias), target, real, 0.2)

    given = [states, *layer]
    random = np.random.default_rng(4)
    for place, slope in enumerate(jax.grad(loss, (0, 1, 2))(*given)):
        along = jnp.asarray(random.normal(size=slope.shape))
        ends = []
        for sign in (1, -1):
            moved = [*given]
            moved[place] = given[place] + sign * step * along
            ends.append(float(loss(*moved)))
        expected = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(jnp.sum(slope * along), expected, rtol=1e-6)


@pytest.mark.slow
def test_padding_and_the_start_token_get_no_share():
    """Improbable as they are, the loss is that of four equal words: log 4, and their own e^-9."""
    layer = OutputLayer(jnp.zeros((1, 6)), jnp.array([-9.0, -9.0, 0.0, 0.0, 0.0, 0.0]))
    given = jnp.zeros((1, 1)), layer, jnp.array([4], jnp.int32), jnp.array([True])
    for smoothing in (0.0, 0.3):
        loss = cross_entropy.summed_loss(*given, smoothing)
        np.testing.assert_allclose(loss, np.log(4 + 2 * np.exp(-9.0)), rtol=1e-6)


@pytest.mark.exhaustive(sample="session")
def test_training_is_smoothed_and_validation_is_not():
    """At a rate of nearly 0 both are losses of the first weights."""
    graph, weights = translator()
    weights = spread_out(weights)
    ends = {}
    for smoothing in (0.0, 0.5):
        settings = settings_of(updates=3, label_smoothing=smoothing, learning_rate=1e-30)
        ends[smoothing] = train_one((graph, weights), settings, stream(), validation())
    assert ends[0.0].valid_loss == ends[0.5].valid_loss
    batch = stream().batch(0)
    settings = settings_of(label_smoothing=0.5)
    _, loss = make_update(graph, settings)(initial_state(weights, settings), batch)
    expected = plain_mean(nnx.merge(graph, weights), batch, 0.5)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert abs(ends[0.0].log[-1].loss - ends[0.5].log[-1].loss) > 0.01


@pytest.mark.exhaustive(sample="session")
def test_it_learns_less_sure_words():
    """The best answer to smoothed targets has P = 1 - e + e / (words) on the right word."""
    graph, weights = translator(attention="additive", cell="gru", embedding_size=8, context_size=16)
    settings = settings_of(
        updates=300,
        batch_size=16,
        learning_rate=0.02,
        warmup_updates=10,
        validations=1,
        label_smoothing=0.4,
    )
    batches, held_out = stream(64, 16, longest=3), validation(16, 16, longest=3)
    trained = train_one((graph, weights), settings, batches, held_out)
    said = WORDS - EOS
    assert trained.valid_loss == pytest.approx(-np.log(0.6 + 0.4 / said), abs=0.2)


def test_a_probe_of_a_smoothed_run_is_not_smoothed():
    given = TrainingSettings(label_smoothing=0.1, average_last=0.3, updates=500)
    found = reader_settings(given)
    assert (found.label_smoothing, found.average_last) == (0.0, 0.0)
