"""The loss against its definition, teacher forced and with the model's own words."""

from functools import partial

import jax
import numpy as np
import pytest
from losses import mean_loss
from tiny_training import BOS, merged, one_batch, spread_out, translator

from seq2seq_bottleneck.training.loss import (
    decoder_inputs,
    token_losses,
)

KEY = jax.random.key(4)


@pytest.fixture(scope="module")
def model():
    graph, weights = translator(cell="gru", attention="additive")
    return merged((graph, spread_out(weights)))


@pytest.fixture(scope="module")
def sampled(model):
    """ratio, key -> losses with the model's own words."""
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    run = partial(token_losses, model, batch)
    return jax.jit(run, static_argnums=0)


@pytest.fixture(scope="module")
def forced(model):
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    return np.asarray(jax.jit(lambda: token_losses(model, batch))())


def losses_by_hand(model, choose):
    """-log P of every target word in plain loops; ``choose(true, own)`` is read."""
    batch = one_batch()
    memory = model.encode(*map(jax.numpy.asarray, batch[:2]))
    states, step = model.decoder.initial(memory), jax.jit(model.decoder.step)
    losses, own = np.zeros(batch.target.shape), None
    for place in range(batch.target.shape[1]):
        true = batch.target[:, place - 1] if place else np.full(3, BOS, np.int32)
        word = true if place == 0 else choose(true, own)
        states, logits, _ = step(states, jax.numpy.asarray(word), memory)
        logits = np.asarray(logits, np.float64)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        for row in np.flatnonzero(place < batch.target_lengths):
            losses[row, place] = -log_p[row, batch.target[row, place]]
        own = logits.argmax(axis=1).astype(np.int32)
    return losses


def forced_word(true, own):  # noqa: ARG001
    return true


def own_word(true, own):  # noqa: ARG001
    return own


def test_the_decoder_reads_the_target_shifted_by_one():
    found = decoder_inputs(jax.numpy.array([[5, 6, 2], [4, 2, 0]]))
    np.testing.assert_array_equal(found, [[BOS, 5, 6], [BOS, 4, 2]])


@pytest.mark.slow
def test_token_losses_equal_their_definition(model, forced):
    expected = losses_by_hand(model, forced_word)
    np.testing.assert_allclose(forced, expected, rtol=1e-5, atol=1e-6)


def test_the_mean_is_a_target_word_not_a_position(model, forced):
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    mean = jax.jit(lambda: mean_loss(model, batch, 1.0, None))()
    np.testing.assert_allclose(mean, forced.sum() / (3 + 5 + 2), rtol=1e-6)


def test_without_a_key_the_loss_is_teacher_forced(model, forced):
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    mean = jax.jit(lambda: mean_loss(model, batch, 0.5, None))()
    np.testing.assert_allclose(mean, forced.sum() / (3 + 5 + 2), rtol=1e-6)


def test_sampling_with_every_word_forced_is_teacher_forcing(sampled, forced):
    np.testing.assert_allclose(sampled(1.0 - 1e-7, KEY), forced, rtol=1e-5, atol=1e-6)


def test_sampling_with_no_word_forced_reads_the_models_own_words(model, sampled, forced):
    expected = losses_by_hand(model, own_word)
    found = np.asarray(sampled(0.0, KEY))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[:, 0], forced[:, 0], rtol=1e-5)
    assert np.any(np.abs(found - forced) > 0.1)


def test_a_tied_output_reads_its_own_words_too():
    graph, weights = translator(attention="dot", tied_output=True)
    model = merged((graph, spread_out(weights)))
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    found = jax.jit(lambda: token_losses(model, batch, 0.0, KEY))()
    expected = losses_by_hand(model, own_word)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_sampling_depends_on_its_key_alone(sampled, forced):
    one = np.asarray(sampled(0.5, KEY))
    np.testing.assert_array_equal(one, sampled(0.5, KEY))
    others = [np.asarray(sampled(0.5, jax.random.key(seed))) for seed in range(5)]
    assert any(np.any(one != other) for other in others)
    assert any(np.any(forced != other) for other in others)


def test_half_the_words_are_forced_at_a_ratio_of_a_half(model, sampled):
    """Each position is either the forced loss or another one; position 1 tells them apart."""
    true = losses_by_hand(model, forced_word)[:, 1]
    own = losses_by_hand(model, own_word)[:, 1]
    tell = np.abs(true - own) > 1e-3
    found = np.stack([sampled(0.5, jax.random.key(seed))[:, 1] for seed in range(60)])
    was_true, was_own = np.isclose(found, true, atol=1e-4), np.isclose(found, own, atol=1e-4)
    assert np.all(was_true | was_own)
    assert tell.any()
    assert 0.35 < was_true[:, tell].mean() < 0.65


@pytest.mark.slow
def test_dropout_reaches_the_decoder_under_sampling_too():
    """All words forced: what differs between the two keys' losses is dropout's doing."""
    model = merged(translator(dropout=0.5, attention="none", initial_state="zero"))
    model.encoder.embedding[...] = model.encoder.embedding[...] * 0.0  # the encoder says nothing
    batch = jax.tree.map(jax.numpy.asarray, one_batch())
    compiled = jax.jit(lambda key: token_losses(model, batch, 1.0 - 1e-7, key))
    losses = [np.asarray(compiled(jax.random.key(seed))) for seed in (1, 2, 3)]
    assert any(np.any(losses[0] != other) for other in losses[1:])
