"""Dropout: the right share, the right scale, off without a key, another mask for another key."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny import padded, random_translator, settings_of

from seq2seq_bottleneck.model import decoder, encoder
from seq2seq_bottleneck.model.cells import dropout
from seq2seq_bottleneck.training.loss import decoder_inputs

ONES = jnp.ones((100, 100))


def test_a_share_is_zeroed_and_the_rest_scaled_up_by_key_and_place_alone():
    dropped = np.asarray(dropout(ONES, 0.25, jax.random.key(0), 1))
    np.testing.assert_allclose(np.unique(dropped), [0.0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0.0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(dropped, dropout(ONES, 0.25, jax.random.key(0), 1))
    for key, place in ((1, 1), (0, 2)):
        other = np.asarray(dropout(ONES, 0.25, jax.random.key(key), place))
        assert 0.3 < np.mean(dropped != other) < 0.45
    assert dropout(ONES, 0.5, None, 1) is ONES
    assert dropout(ONES, 0.0, jax.random.key(0), 1) is ONES


@pytest.mark.slow
def test_training_drops_by_the_key_and_evaluation_does_not():
    (graph, weights), (plain, _) = (
        random_translator(settings_of(layers=2, dropout=rate)) for rate in (0.5, 0.0)
    )
    batch = padded()
    given = batch.source, batch.source_lengths, decoder_inputs(batch.target)

    def logits(graph, *keys):
        run = jax.jit(lambda key: nnx.merge(graph, weights).logits(*given, key)[0])
        return [np.asarray(run(key)) for key in keys]

    one, same, other, evaluated = logits(graph, *map(jax.random.key, (1, 1, 2)), None)
    np.testing.assert_array_equal(one, same)
    assert np.all(np.any(one != other, axis=-1))
    np.testing.assert_array_equal(evaluated, *logits(plain, None))


def test_every_place_that_drops_has_its_own_mask(monkeypatch):
    places = []

    def recording(values, rate, key, place, every_step=False):
        places.append(place)
        return dropout(values, rate, key, place, every_step)

    monkeypatch.setattr(encoder, "dropout", recording)
    monkeypatch.setattr(decoder, "dropout", recording)
    graph, weights = random_translator(settings_of(dropout=0.5, layers=3))
    batch, run = padded(), nnx.merge(graph, weights).logits
    inputs = decoder_inputs(batch.target)
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
    gates, states, outputs = tuple(map(jnp.asarray, drawn)), part.initial(memory), []
    for step in range(5):
        states, output = part._run(states, tuple(gate[step] for gate in gates), key)
        outputs.append(output)
    whole = part._states(gates, memory, key)
    np.testing.assert_allclose(whole, np.stack(outputs), rtol=1e-5, atol=1e-6)
    assert np.any(np.asarray(whole) != np.asarray(part._states(gates, memory, None)))
