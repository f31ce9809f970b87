"""The tied output layer: one matrix in two places, and a start near the uniform distribution."""

import jax
import jax.numpy as jnp
import numpy as np
import numpy_translator as plain
import pytest
from flax import nnx
from lanes import few
from losses import mean_loss
from tiny_model import SOURCE_WORDS, TARGET_WORDS, loss_and_gradient, padded, settings_of

from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.settings.concerns import ModelSettings

WIDE = {"hidden_size": 4, "embedding_size": 5}


def fresh(**changes):
    """Structure and starting weights."""
    return create(settings_of(**changes), SOURCE_WORDS, TARGET_WORDS, 5)


def test_the_embedding_takes_the_place_of_the_matrix():
    tied, untied = (plain.flat(plain.arrays(fresh(tied_output=tied)[1])) for tied in (True, False))
    assert tied.keys() - untied.keys() == {("decoder", "to_embedding")}
    assert untied.keys() - tied.keys() == {("decoder", "output")}
    for path in tied.keys() & untied.keys():
        np.testing.assert_array_equal(tied[path], untied[path], err_msg=str(path))


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["input", "output"])
def test_its_parameters_are_a_map_and_the_bias(placement):
    untied, tied = (
        count_parameters(fresh(tied_output=tied, placement=placement, **WIDE)[1])
        for tied in (False, True)
    )
    assert untied - tied == 4 * TARGET_WORDS - 4 * 5


def spread_out(weights):
    """Starting weights three times as large, so that no loss is near the uniform one."""
    return jax.tree.map(lambda leaf: 3 * leaf.astype(jnp.float64) + 0.1, weights)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.usefixtures("float64")
def test_the_gradient_is_the_sum_of_both_uses():
    """Against an untied layer whose matrix is the product of the map and the embedding."""
    graph, weights = fresh(tied_output=True, **WIDE)
    free, loose = fresh(**WIDE)
    weights, loose = spread_out(weights), spread_out(loose)
    given, batch = weights["decoder"], padded()
    vectors, mapping = (given[name][...] for name in ("embedding", "to_embedding"))
    loose["decoder"]["output"][...] = mapping @ vectors.T
    loss, slope = loss_and_gradient(graph)(weights, batch)
    expected, parts = loss_and_gradient(free)(loose, batch)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    of_matrix = parts["decoder"]["output"][...]
    both = parts["decoder"]["embedding"][...] + of_matrix.T @ mapping
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(slope["decoder"]["embedding"][...], both, **close)
    np.testing.assert_allclose(slope["decoder"]["to_embedding"][...], of_matrix @ vectors, **close)


@pytest.mark.slow
def test_units_of_the_state_are_dropped_and_then_mapped():
    """Dropped after the map, half of what the output layer reads would be 0."""
    graph, weights = fresh(tied_output=True, dropout=0.5, attention="none", context_size=40)
    translator, batch = nnx.merge(graph, weights), padded()
    inputs = jnp.ones((3, 4), jnp.int32)
    given = (batch.source, batch.source_lengths, inputs)
    kept, dropped = (translator.read_outs(*given, key)[0] for key in (None, jax.random.key(2)))
    assert np.all(np.asarray(dropped) != 0.0)
    assert np.all(np.asarray(dropped) != np.asarray(kept))


@pytest.mark.parametrize(
    ("embedding", "hidden", "words"),
    few([(16, 128, 500), (100, 256, 2033), (300, 64, 5000)], 3),
)
def test_a_fresh_softmax_is_near_uniform_whatever_the_sizes(embedding, hidden, words):
    """Logits vary as much as units do, and the loss is that of a blind guess."""
    settings = ModelSettings(
        embedding_size=embedding, context_size=hidden, attention="none", tied_output=True
    )
    graph, weights = create(settings, 20, words, 3)
    decoder = nnx.merge(graph, weights).decoder
    states = jax.random.uniform(jax.random.key(4), (200, hidden), minval=-1.0)
    logits = np.asarray(decoder.logits(states @ decoder.to_embedding[...]))
    np.testing.assert_allclose(logits.std(), np.asarray(states).std(), rtol=0.1)
    random = np.random.default_rng(1)
    batch = padded([(random.integers(4, 20, 9), random.integers(4, words, 12)) for _ in range(8)])
    loss = float(jax.jit(lambda: mean_loss(nnx.merge(graph, weights), batch, 1.0, None))())
    assert loss == pytest.approx(np.log(words), rel=0.02)
