"""Dropout: the right share, the right scale, off without a key, another mask for another key."""

import jax
import numpy as np
import pytest
from flax import nnx
from tiny_model import decoder_inputs_of, padded, random_translator, settings_of

from seq2seq_bottleneck.model import decoder, encoder
from seq2seq_bottleneck.model.cells import dropout

ONES = jax.numpy.ones((100, 100))


def test_a_share_is_zeroed_and_the_rest_scaled_up():
    dropped = np.asarray(dropout(ONES, 0.25, jax.random.key(0), 1))
    np.testing.assert_allclose(np.unique(dropped), [0.0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0.0).mean() - 0.25) < 0.02
    assert abs(dropped.mean() - 1.0) < 0.03


def test_no_key_or_no_rate_is_no_dropout():
    assert dropout(ONES, 0.5, None, 1) is ONES
    assert dropout(ONES, 0.0, jax.random.key(0), 1) is ONES


def test_masks_depend_on_key_and_place_alone():
    one = dropout(ONES, 0.5, jax.random.key(0), 1)
    np.testing.assert_array_equal(one, dropout(ONES, 0.5, jax.random.key(0), 1))
    for key, place in ((1, 1), (0, 2)):
        other = dropout(ONES, 0.5, jax.random.key(key), place)
        assert 0.4 < np.mean(np.asarray(one) != np.asarray(other)) < 0.6


def logits_with(rate, weights, *keys):
    """Logits with each key, of a model whose dropout is ``rate``."""
    graph, _ = random_translator(settings_of(dropout=rate, layers=2))
    batch = padded()
    inputs = jax.numpy.asarray(decoder_inputs_of(batch))

    def run(weights, key):
        translator = nnx.merge(graph, weights)
        return translator.logits(batch.source, batch.source_lengths, inputs, key)[0]

    compiled = jax.jit(run)
    return [np.asarray(compiled(weights, key)) for key in keys]


@pytest.mark.slow
def test_evaluation_knows_no_dropout():
    _, weights = random_translator(settings_of(layers=2))
    (with_rate,) = logits_with(0.5, weights, None)
    (without,) = logits_with(0.0, weights, None)
    np.testing.assert_array_equal(with_rate, without)


@pytest.mark.slow
def test_training_drops_by_the_key():
    _, weights = random_translator(settings_of(layers=2))
    one, same, other = logits_with(0.5, weights, *map(jax.random.key, (1, 1, 2)))
    np.testing.assert_array_equal(one, same)
    assert np.all(np.any(one != other, axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize("half", ["encoder", "decoder"])
def test_both_halves_drop(half):
    """One half at a time gets the key."""
    graph, weights = random_translator(settings_of(dropout=0.5, attention="none"))
    translator, batch = nnx.merge(graph, weights), padded()
    key = jax.random.key(3)
    inputs = jax.numpy.asarray(decoder_inputs_of(batch))
    encode = jax.jit(lambda key: translator.encode(batch.source, batch.source_lengths, key))
    memory = encode(None)
    if half == "encoder":
        dropped = encode(key)
        assert np.any(np.asarray(dropped.last) != np.asarray(memory.last))
    else:
        decode = jax.jit(lambda key: translator.decoder(inputs, memory, key)[0])
        plain, dropped = decode(None), decode(key)
        assert np.any(np.asarray(plain) != np.asarray(dropped))


def test_every_place_that_drops_has_its_own_mask(monkeypatch):
    places = []

    def recording(values, rate, key, place, every_step=False):
        places.append(place)
        return dropout(values, rate, key, place, every_step)

    monkeypatch.setattr(encoder, "dropout", recording)
    monkeypatch.setattr(decoder, "dropout", recording)
    _, weights = random_translator(settings_of(layers=3))
    graph, _ = random_translator(settings_of(dropout=0.5, layers=3))
    batch = padded()
    inputs = jax.numpy.asarray(decoder_inputs_of(batch))
    run = nnx.merge(graph, weights).logits
    jax.eval_shape(run, batch.source, batch.source_lengths, inputs, jax.random.key(0))
    # Words, 3 layers; words, between 3 layers, before the output layer.
    assert len(set(places)) == len(places) == 4 + 4


@pytest.mark.slow
def test_between_layers_an_arm_without_a_read_in_the_recurrence_drops_what_the_others_drop():
    """Layer by layer over all steps, or step by step through all layers: the same units."""
    settings = settings_of(dropout=0.5, layers=3, residual=True, attention="none")
    translator, batch = nnx.merge(*random_translator(settings)), padded()
    memory, key = translator.encode(batch.source, batch.source_lengths), jax.random.key(3)
    part = translator.decoder
    drawn = np.random.default_rng(2).normal(size=(3, 5, *memory.last.shape)).astype(np.float32)
    gates, states, outputs = tuple(map(jax.numpy.asarray, drawn)), part.initial(memory), []
    for step in range(5):
        states, output = part._run(states, tuple(gate[step] for gate in gates), key)
        outputs.append(output)
    whole = part._states(gates, memory, key)
    np.testing.assert_allclose(whole, np.stack(outputs), rtol=1e-5, atol=1e-6)
    assert np.any(np.asarray(whole) != np.asarray(part._states(gates, memory, None)))
