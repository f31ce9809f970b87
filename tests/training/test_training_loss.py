"""The loss against its definition: teacher forced, with the model's own words, smoothed."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few
from tiny import BOS, EOS, mean_loss
from tiny_training import (
    one_batch,
    settings_of,
    spread_out,
    stream,
    train_one,
    translator,
)

from seq2seq_bottleneck.model.decoder import OutputLayer
from seq2seq_bottleneck.training import loss as loss_module
from seq2seq_bottleneck.training.loss import decoder_inputs, token_losses
from seq2seq_bottleneck.training.step import initial_state, make_update

KEY = jax.random.key(4)
BATCH = jax.tree.map(jnp.asarray, one_batch())


def random_model(**changes):
    graph, weights = translator(**changes)
    return nnx.merge(graph, spread_out(weights))


@pytest.fixture(scope="module")
def model():
    return random_model(cell="gru", attention="additive")


@pytest.fixture(scope="module")
def sampled(model):
    """ratio, key -> losses with the model's own words."""
    return jax.jit(partial(token_losses, model, BATCH), static_argnums=0)


@pytest.fixture(scope="module")
def forced(model):
    return np.asarray(jax.jit(lambda: token_losses(model, BATCH))())


def losses_by_hand(model, forced):
    """-log P of every target word in plain loops, after the true words or the model's best."""
    batch = one_batch()
    memory = model.encode(*map(jnp.asarray, batch[:2]))
    states, step = model.decoder.initial(memory), jax.jit(model.decoder.step)
    losses, best = np.zeros(batch.target.shape), None
    for place in range(batch.target.shape[1]):
        true = batch.target[:, place - 1] if place else np.full(3, BOS, np.int32)
        word = true if forced or place == 0 else best
        states, logits, _ = step(states, jnp.asarray(word), memory)
        logits = np.asarray(logits, np.float64)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        for row in np.flatnonzero(place < batch.target_lengths):
            losses[row, place] = -log_p[row, batch.target[row, place]]
        best = logits.argmax(axis=1).astype(np.int32)
    return losses


def test_token_losses_equal_their_definition_and_the_mean_is_a_words_not_a_positions(model, forced):
    np.testing.assert_array_equal(
        decoder_inputs(jnp.array([[5, 6, 2], [4, 2, 0]])), [[BOS, 5, 6], [BOS, 4, 2]]
    )
    expected = losses_by_hand(model, True)
    np.testing.assert_allclose(forced, expected, rtol=1e-5, atol=1e-6)
    assert np.all(forced[expected == 0.0] == 0.0)  # padding
    for ratio in (1.0, 0.5):  # which without a key changes nothing
        mean = jax.jit(lambda ratio=ratio: mean_loss(model, BATCH, ratio))()
        np.testing.assert_allclose(mean, forced.sum() / (3 + 5 + 2), rtol=1e-6)


def test_sampling_with_every_or_no_word_forced(model, sampled, forced):
    np.testing.assert_allclose(sampled(1.0 - 1e-7, KEY), forced, rtol=1e-5, atol=1e-6)
    losses = np.asarray(sampled(0.0, KEY))
    np.testing.assert_allclose(losses, losses_by_hand(model, False), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(losses[:, 0], forced[:, 0], rtol=1e-5)
    assert np.any(np.abs(losses - forced) > 0.1)
    tied = random_model(attention="dot", tied_output=True)
    losses = jax.jit(lambda: token_losses(tied, BATCH, 0.0, KEY))()
    np.testing.assert_allclose(losses, losses_by_hand(tied, False), rtol=1e-5, atol=1e-6)


def test_half_the_words_are_forced_at_a_ratio_of_a_half(model, sampled):
    """Each position is either the forced loss or another one; position 1 distinguishes them."""
    true = losses_by_hand(model, True)[:, 1]
    own = losses_by_hand(model, False)[:, 1]
    differ = np.abs(true - own) > 1e-3
    one, again = sampled(0.5, KEY), sampled(0.5, KEY)
    np.testing.assert_array_equal(one, again)
    losses = np.stack([sampled(0.5, jax.random.key(seed))[:, 1] for seed in range(60)])
    was_true, was_own = np.isclose(losses, true, atol=1e-4), np.isclose(losses, own, atol=1e-4)
    assert np.all(was_true | was_own)
    assert differ.any()
    assert 0.35 < was_true[:, differ].mean() < 0.65


@pytest.mark.slow
def test_dropout_reaches_the_decoder_under_sampling_too():
    """All words forced, and an encoder that says nothing: what differs is dropout's doing."""
    model = random_model(dropout=0.5, attention="none", initial_state="zero")
    model.encoder.embedding[...] = model.encoder.embedding[...] * 0.0
    compiled = jax.jit(lambda key: token_losses(model, BATCH, 1.0 - 1e-7, key))
    losses = [np.asarray(compiled(jax.random.key(seed))) for seed in (1, 2, 3)]
    assert any(np.any(losses[0] != other) for other in losses[1:])


# Label smoothing, and chunks of positions: against log-softmax and autodiff.

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


def assert_close(values, expected, tolerance):
    """Loss and gradient, the latter relative to its largest number."""
    np.testing.assert_allclose(values[0], expected[0], rtol=tolerance)
    largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(expected[1]))
    pairs = zip(jax.tree.leaves(values[1]), jax.tree.leaves(expected[1]), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize("smoothing", few([0.1, 0.0], 2))
def test_loss_and_gradient_are_the_plain_formulas(arm, smoothing):
    graph, weights = translator(**arm)
    weights, losses = spread_out(weights), []
    for loss in (
        lambda weights: mean_loss(nnx.merge(graph, weights), BATCH, smoothing=smoothing),
        lambda weights: plain_mean(nnx.merge(graph, weights), one_batch(), smoothing),
    ):
        losses.append(jax.jit(jax.value_and_grad(loss))(weights))
    assert_close(*losses, 1e-5)


def positions(count, share=0.7):
    """States, an output layer of six words, targets, and which of them are real."""
    random = np.random.default_rng(count)
    states = jnp.asarray(random.normal(size=(count, 4)))
    layer = OutputLayer(*(jnp.asarray(random.normal(size=size)) for size in ((4, 6), (6,))))
    target = jnp.asarray(random.integers(EOS, 6, count), jnp.int32)
    return states, layer, target, jnp.asarray(random.random(count) < share)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("count", few([30, 1, 7, 8], 4))
def test_chunks_give_the_plain_sum(count, smoothing, monkeypatch):
    """Chunks of eight: fewer, as many and more positions; some, all or none of them padding."""
    monkeypatch.setattr(loss_module, "CHUNK", 8)
    for share in (0.7, 1.0, 0.0):
        states, layer, target, real = positions(count, share)

        def plain(states, layer, target=target, real=real):
            losses = plain_losses(layer.logits(states), target, smoothing)
            return 3.0 * jnp.sum(jnp.where(real, losses, 0.0))

        def chunked(states, layer, target=target, real=real):
            return 3.0 * loss_module.summed_loss(states, layer, target, real, smoothing)

        values, expected = (
            jax.jit(jax.value_and_grad(path, (0, 1)))(states, layer) for path in (chunked, plain)
        )
        assert_close(values, expected, 1e-10)
        np.testing.assert_allclose(values[0], expected[0], rtol=1e-12)
        summed = loss_module.summed_loss(states, layer, target, real, smoothing)
        np.testing.assert_allclose(3 * summed, expected[0], rtol=1e-12)
        losses = loss_module.position_losses(states, layer, target, real)
        unsmoothed = jnp.where(real, plain_losses(layer.logits(states), target, 0.0), 0.0)
        np.testing.assert_allclose(losses, unsmoothed, rtol=1e-10, atol=1e-12)
        assert not np.any(np.asarray(losses)[~np.asarray(real)])


@pytest.mark.exhaustive(sample="session")
def test_training_is_smoothed_and_validation_is_not():
    """At a rate of nearly 0 both are losses of the first weights."""
    graph, weights = translator()
    weights = spread_out(weights)
    ends = {}
    for smoothing in (0.0, 0.5):
        settings = settings_of(updates=3, label_smoothing=smoothing, learning_rate=1e-30)
        ends[smoothing] = train_one((graph, weights), settings)
    assert ends[0.0].valid_loss == ends[0.5].valid_loss
    batch = stream().batch(0)
    settings = settings_of(label_smoothing=0.5)
    _, loss = make_update(graph, settings)(initial_state(weights, settings), batch)
    expected = plain_mean(nnx.merge(graph, weights), batch, 0.5)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert abs(ends[0.0].log[-1].loss - ends[0.5].log[-1].loss) > 0.01
