"""One update against Adam in NumPy; the learning rate's course; clipping; randomness."""

import jax
import numpy as np
import pytest
from flax import nnx
from losses import mean_loss
from tiny_training import one_batch, settings_of, spread_out, translator

from seq2seq_bottleneck.training.optimizer import learning_rates
from seq2seq_bottleneck.training.step import initial_state, make_update


def rates(**changes):
    """The learning rate of every update."""
    settings = settings_of(**changes)
    schedule = learning_rates(settings)
    return np.array([float(schedule(update)) for update in range(settings.updates + 1)])


def test_the_rate_warms_up_linearly_then_decays_linearly_to_its_share():
    found = rates(updates=20, warmup_updates=4, learning_rate=0.8, final_learning_rate=0.25)
    np.testing.assert_allclose(found[:5], [0.2, 0.4, 0.6, 0.8, 0.8], atol=1e-7)
    np.testing.assert_allclose(np.diff(found[4:]), -0.6 / 16, rtol=1e-4)
    np.testing.assert_allclose(found[-1], 0.2, rtol=1e-5)


def test_without_warm_up_the_rate_starts_at_its_peak():
    found = rates(updates=4, warmup_updates=0, learning_rate=0.1, final_learning_rate=1.0)
    np.testing.assert_allclose(found, 0.1, rtol=1e-6)


def test_warm_up_takes_at_most_half_of_the_updates():
    found = rates(updates=6, warmup_updates=200, learning_rate=0.3, final_learning_rate=0.0)
    np.testing.assert_allclose(found, [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.0], atol=1e-7)


def numpy_adam(weights, gradients, rates, clip):
    """Weights after Adam with the gradient's norm clipped (Kingma and Ba 2015)."""
    m = [np.zeros_like(leaf) for leaf in weights]
    v = [np.zeros_like(leaf) for leaf in weights]
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        norm = np.sqrt(sum((leaf**2).sum() for leaf in gradient))
        scale = min(1.0, clip / norm)
        for place, leaf in enumerate(gradient):
            m[place] = 0.9 * m[place] + 0.1 * scale * leaf
            v[place] = 0.999 * v[place] + 0.001 * (scale * leaf) ** 2
            step = (m[place] / (1 - 0.9**t)) / (np.sqrt(v[place] / (1 - 0.999**t)) + 1e-8)
            weights[place] = weights[place] - rate * step
    return weights


def leaves(tree):
    return [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(tree)]


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("clip", [0.05, 1e6])
def test_updates_equal_clipped_adam_in_numpy(clip):
    graph, weights = translator()
    start = spread_out(weights)
    settings = settings_of(learning_rate=0.3, final_learning_rate=0.5, clip_norm=clip, updates=3)
    update, state = make_update(graph, settings), initial_state(start, settings)
    slope = jax.jit(jax.value_and_grad(lambda w, b: mean_loss(nnx.merge(graph, w), b, 1.0, None)))
    first = one_batch()
    batches = [first, first._replace(target=first.target[::-1].copy()), first]
    gradients = []
    for batch in batches:
        expected_loss, gradient = slope(state.weights, batch)
        gradients.append(leaves(gradient))
        state, loss = update(state, batch)
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-9)
    expected = numpy_adam(leaves(start), gradients, [0.3, 0.25, 0.2], clip)
    for found, leaf in zip(leaves(state.weights), expected, strict=True):
        np.testing.assert_allclose(found, leaf, rtol=1e-4, atol=1e-7)  # optax keeps float32 scalars
    norms = [np.sqrt(sum((leaf**2).sum() for leaf in gradient)) for gradient in gradients]
    assert min(norms) > 0.05  # one case clips, the other does not
    assert max(norms) < 1e6


@pytest.mark.slow
def test_random_numbers_come_from_the_seed_and_the_updates_number_alone():
    graph, weights = translator(dropout=0.5)
    weights = spread_out(weights)

    def losses(seed):
        settings = settings_of(seed=seed)
        update, state = make_update(graph, settings), initial_state(weights, settings)
        later = state._replace(update=state.update + 1)
        given = [update(begun, one_batch())[1] for begun in (state, state, later)]
        return [float(loss) for loss in given]

    (first, again, later), (other, _, _) = losses(1), losses(2)
    assert first == again
    assert len({first, later, other}) == 3


@pytest.mark.slow
def test_the_update_counts_itself():
    graph, weights = translator()
    settings = settings_of()
    state = initial_state(weights, settings)
    state, _ = make_update(graph, settings)(state, one_batch())
    assert int(state.update) == 1
