"""The fast paths change no result: losses and gradients equal those of plain scans and logits."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few
from losses import mean_loss
from plain_paths import plain_mean_loss, plain_states, plain_token_losses
from tiny_model import ATTENTIONS, CELLS, PLACEMENTS, padded, random_translator, settings_of

from seq2seq_bottleneck.model.cells import Cell, GateInput
from seq2seq_bottleneck.model.decoder import OutputLayer
from seq2seq_bottleneck.model.recurrence import hidden_states
from seq2seq_bottleneck.training import cross_entropy

TOLERANCE = 1e-5
QUICK = [
    {"cell": "gru", "attention": "additive"},
    {"cell": "lstm", "attention": "general", "hidden_size": 4},
    {"cell": "rnn", "attention": "scaled-dot", "bidirectional": True},
    {"cell": "gru", "attention": "dot", "placement": "output"},
    {"cell": "lstm", "attention": "additive", "placement": "output", "layers": 2},
    {"cell": "gru", "attention": "none", "layers": 2, "residual": True},
    {"cell": "gru", "attention": "additive", "layers": 2, "residual": True},
    {"cell": "rnn", "attention": "uniform", "initial_state": "zero"},
    {"cell": "gru", "attention": "additive", "tied_output": True},
    {"cell": "lstm", "attention": "dot", "placement": "output", "tied_output": True},
    {"cell": "rnn", "attention": "general", "hidden_size": 4, "layers": 2, "tied_output": True},
]
ALL = [
    {"cell": cell, "attention": attention, "placement": placement, "tied_output": tied}
    for cell, attention, placement, tied in itertools.product(
        CELLS, ATTENTIONS, PLACEMENTS, (False, True)
    )
]


def both(arm):
    """(loss, gradient) by the fast and by the plain path, on a batch with garbage as padding."""
    graph, weights = random_translator(settings_of(**arm))
    batch = padded(extra=2, garbage=np.random.default_rng(3))

    def fast(weights):
        return mean_loss(nnx.merge(graph, weights), batch, 1.0, None)

    def plain(weights):
        return plain_mean_loss(nnx.merge(graph, weights), batch)

    return [jax.jit(jax.value_and_grad(path))(weights) for path in (fast, plain)]


def check(arm):
    (loss, gradient), (expected_loss, expected) = both(arm)
    np.testing.assert_allclose(loss, expected_loss, rtol=TOLERANCE)
    leaves = zip(jax.tree.leaves(gradient), jax.tree.leaves(expected), strict=True)
    largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(expected))
    for found, leaf in leaves:
        np.testing.assert_allclose(found, leaf, rtol=TOLERANCE, atol=TOLERANCE * largest)


@pytest.mark.parametrize("arm", few(QUICK, 5), ids=str)
def test_loss_and_gradient_are_the_plain_paths(arm):
    check(arm)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("arm", ALL, ids=str)
def test_loss_and_gradient_are_the_plain_paths_for_every_arm(arm):
    check(arm)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_cells_gradient_by_hand_is_autodiffs(kind, reverse):
    """In double precision, with respect to all that enters, the start state among it."""
    random = np.random.default_rng(5)
    cell = Cell(kind, 3, nnx.Rngs(0))
    cell.weights = nnx.List(
        [nnx.Param(jnp.asarray(random.normal(size=(3, 3)))) for _ in cell.weights]
    )
    gates = tuple(jnp.asarray(random.normal(size=(5, 2, 3))) for _ in cell.weights)
    mask = jnp.asarray([[1, 1], [1, 1], [1, 0], [1, 0], [1, 0]], bool)
    slopes = jnp.asarray(random.normal(size=(5, 2, 3)))
    start = cell.initial(jnp.zeros((2, 3)))

    def fast(parameters, gates):
        return jnp.sum(slopes * hidden_states(kind, reverse, parameters, start, gates, mask))

    graph, _ = nnx.split(cell)

    def plain(weights, gates):
        return jnp.sum(slopes * plain_states(nnx.merge(graph, weights), gates, mask, reverse))

    found = jax.jit(jax.grad(fast, (0, 1)))(cell.parameters(), gates)
    expected = jax.jit(jax.grad(plain, (0, 1)))(nnx.split(cell)[1], gates)
    order = sorted(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(expected))
    np.testing.assert_allclose(
        sorted(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(found)), order, rtol=1e-10
    )
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("vocabulary", [3, 40])
def test_looking_up_and_mapping_may_change_places(vocabulary):
    """A batch of ten words, of a vocabulary that is smaller and of one that is larger."""
    random = np.random.default_rng(1)
    table = jnp.asarray(random.normal(size=(vocabulary, 4)), jnp.float32)
    words = jnp.asarray(random.integers(0, vocabulary, (5, 2)), jnp.int32)
    gates = GateInput(4, 3, 3, bias=True, rngs=nnx.Rngs(0))
    for found, expected in zip(
        gates.of_words(table, words), gates.project(table[words]), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("positions", few([30, 1, 7, 8], 4))
def test_chunked_cross_entropy_is_the_plain_one(positions, monkeypatch):
    """Chunks of eight: fewer, as many and more positions; some, all or none of them padding."""
    monkeypatch.setattr(cross_entropy, "CHUNK", 8)
    random = np.random.default_rng(positions)
    states = jnp.asarray(random.normal(size=(positions, 4)))
    layer = OutputLayer(*(jnp.asarray(random.normal(size=size)) for size in ((4, 6), (6,))))
    target = jnp.asarray(random.integers(0, 6, positions), jnp.int32)
    for share in (0.6, 1.0, 0.0):
        real = jnp.asarray(random.random(positions) < share)

        def plain(states, layer, real=real):
            losses = plain_token_losses(
                layer.logits(states)[:, None], target[:, None], real.astype(jnp.int32)
            )
            return jnp.sum(losses)

        def fast(states, layer, real=real):
            return 3.0 * cross_entropy.summed_loss(states, layer, target, real)

        loss, slopes = jax.jit(jax.value_and_grad(fast, (0, 1)))(states, layer)
        expected, expected_slopes = jax.jit(jax.value_and_grad(plain, (0, 1)))(states, layer)
        np.testing.assert_allclose(loss, 3 * expected, rtol=1e-12)
        for one, other in zip(
            jax.tree.leaves(slopes), jax.tree.leaves(expected_slopes), strict=True
        ):
            np.testing.assert_allclose(one, 3 * other, rtol=1e-9, atol=1e-12)
        losses = cross_entropy.position_losses(states, layer, target, real)
        np.testing.assert_allclose(jnp.sum(losses), expected, rtol=1e-12)
        assert not np.any(np.asarray(losses)[~np.asarray(real)])
