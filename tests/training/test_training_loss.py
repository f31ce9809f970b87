"""The loss equals its definition: teacher-forced, with the model's own words, smoothed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny import BOS, EOS, mean_loss
from tiny_training import close, one_batch, settings_of, spread_out, train_one, translator

from seq2seq_bottleneck.training import loss as loss_module
from seq2seq_bottleneck.training.loss import token_losses

KEY = jax.random.key(4)
BATCH = jax.tree.map(jnp.asarray, one_batch())


def losses_by_hand(model, forced):
    """-log P of every target word in plain loops, after the true words or the model's best."""
    batch = one_batch()
    memory = model.encode(*map(jnp.asarray, batch[:2]))
    states, step = model.decoder.initial(memory), jax.jit(model.decoder.advance)
    losses, best = np.zeros(batch.target.shape), None
    for place in range(batch.target.shape[1]):
        true = batch.target[:, place - 1] if place else np.full(3, BOS, np.int32)
        word = true if forced or place == 0 else best
        states, output, _ = step(states, jnp.asarray(word), memory)
        logits = np.asarray(model.decoder.output_layer().logits(output), np.float64)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        for row in np.flatnonzero(place < batch.target_lengths):
            losses[row, place] = -log_p[row, batch.target[row, place]]
        best = logits.argmax(axis=1).astype(np.int32)
    return losses


@pytest.mark.parametrize(
    "arm", [{"attention": "additive", "cell": "gru"}, {"attention": "dot", "tied_output": True}]
)
def test_token_losses_after_the_true_words_or_the_models_own_equal_their_definition(arm):
    graph, weights = translator(**arm)
    model = nnx.merge(graph, spread_out(weights))
    mean = jax.jit(lambda ratio: mean_loss(model, BATCH, ratio, KEY), static_argnums=0)
    forced, own = (losses_by_hand(model, forced) for forced in (True, False))
    assert np.any(np.abs(forced - own) > 0.1)
    losses = jax.jit(lambda: token_losses(model, BATCH))()
    np.testing.assert_allclose(losses, forced, rtol=1e-5, atol=1e-6)
    for ratio, expected in ((1.0, forced), (1.0 - 1e-7, forced), (0.0, own)):
        np.testing.assert_allclose(mean(ratio), expected.sum() / BATCH.target_lengths.sum(), 1e-5)


# Label smoothing and chunks of positions, compared with log-softmax and autodiff.


def plain_losses(logits, target, smoothing):
    """(1 - e) of -log P(target), plus e of its mean over the tokens that an output may have."""
    log_p = jax.nn.log_softmax(logits, axis=-1)
    chosen = jnp.take_along_axis(log_p, target[..., None], axis=-1)[..., 0]
    return -(1 - smoothing) * chosen - smoothing * jnp.mean(log_p[..., EOS:], axis=-1)


def plain_mean(model, batch, smoothing):
    """The mean over real tokens, from stored logits."""
    target = jnp.asarray(batch.target)
    given = batch.source, batch.source_lengths, jnp.insert(target[:, :-1], 0, BOS, axis=1)
    losses = plain_losses(model.logits(*map(jnp.asarray, given))[0], target, smoothing)
    real = np.arange(target.shape[1])[None] < batch.target_lengths[:, None]
    return jnp.sum(jnp.where(real, losses, 0.0)) / batch.target_lengths.sum()


@pytest.mark.parametrize("smoothing", [0.1, 0.0])
@pytest.mark.parametrize("placement", ["input", "output"])
def test_loss_and_gradient_are_the_plain_formulas(placement, smoothing, monkeypatch):
    """Ten real positions in chunks of eight."""
    monkeypatch.setattr(loss_module, "CHUNK", 8)
    graph, weights = translator(placement=placement, tied_output=placement == "output")
    weights, results = spread_out(weights), []
    for loss in (
        lambda weights: mean_loss(nnx.merge(graph, weights), BATCH, smoothing=smoothing),
        lambda weights: plain_mean(nnx.merge(graph, weights), one_batch(), smoothing),
    ):
        results.append(jax.jit(jax.value_and_grad(loss))(weights))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    close(results[0][1], results[1][1], 1e-4, 1e-5)


@pytest.mark.slow
def test_validation_is_not_smoothed():
    """With a learning rate near 0, both are losses of the first weights."""
    graph, weights = translator()
    ends = [
        train_one(
            (graph, spread_out(weights)),
            settings_of(updates=3, label_smoothing=smoothing, learning_rate=1e-30),
        )
        for smoothing in (0.0, 0.5)
    ]
    assert ends[0].valid_loss == ends[1].valid_loss
    assert abs(ends[0].log[-1].loss - ends[1].log[-1].loss) > 0.01
