"""An update: learning rate, changes by Adam and Muon, mean of weights; compared with NumPy."""

import jax
import numpy as np
import pytest
from tiny import loss_and_gradient
from tiny_training import (
    leaves,
    one_batch,
    same,
    settings_of,
    spread_out,
    stream,
    train_one,
    translator,
    validated,
)

from seq2seq_bottleneck.model.parts import Stack
from seq2seq_bottleneck.training.step import initial_state, make_optimizer, make_update


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        ((20, 4, 0.8, 0.25), [0.2, 0.4, 0.6, 0.8, *np.linspace(0.8, 0.2, 17)]),
        ((4, 0, 0.1, 1.0), [0.1] * 5),
        ((6, 200, 0.3, 0.0), [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.0]),  # half of the updates at most
    ],
)
def test_the_rate_warms_up_linearly_then_decays_linearly_to_its_share(course, expected):
    names = "updates", "warmup_updates", "learning_rate", "final_learning_rate"
    settings = settings_of(**dict(zip(names, course, strict=True)))
    optimizer, one = make_optimizer(settings), jax.numpy.ones(())
    state, rates = optimizer.init(one), []
    for _ in range(settings.updates + 1):  # of a constant gradient, Adam's change is the rate
        change, state = optimizer.update(one, state)
        rates.append(-float(change))
    np.testing.assert_allclose(rates, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
def test_updates_equal_clipped_adam_in_numpy():
    graph, weights = translator()
    start = spread_out(weights)
    settings = settings_of(learning_rate=0.3, final_learning_rate=0.5, clip_norm=0.5, updates=3)
    update, state = make_update(graph, settings, Stack(1)), initial_state(start, settings)
    slope, first = loss_and_gradient(graph), one_batch()
    gradients, norms = [], []
    for batch in (first, first._replace(target=first.target[::-1].copy()), first):
        expected_loss, gradient = slope(state.weights, batch)
        columns = [leaf.astype(np.float64) for leaf in leaves(gradient)]
        norms.append(np.sqrt(sum((column**2).sum() for column in columns)))
        gradients.append([column * min(1.0, 0.5 / norms[-1]) for column in columns])
        state, loss = update(state, batch)
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-9)
    assert int(state.update) == 3
    assert max(norms) > 0.5  # it clips
    ends = zip(leaves(start), leaves(state.weights), *gradients, strict=True)
    for before, after, *slopes in ends:
        expected = before + sum(adam_changes(slopes, [0.3, 0.25, 0.2]))
        # Optax keeps scalars in float32.
        np.testing.assert_allclose(after, expected, rtol=1e-4, atol=1e-7)


# Muon.


def by_name(tree):
    """Leaves by the names of their modules, without the numbers of lists."""
    return {
        ".".join(str(key.key) for key in path if hasattr(key, "key")): leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }


def by_adam(weights):
    """The parameters of which Adam keeps a mean, where Muon trains the others."""
    state = make_optimizer(settings_of(optimizer="muon")).init(weights)[1]
    return set(by_name(state.inner_states["adam"].inner_state[0].mu))


def test_muon_trains_matrices_but_for_those_of_words():
    weights = translator(attention="additive")[1]
    of_words = {"encoder.embedding", "decoder.embedding", "decoder.output"}
    others = {name for name in by_adam(weights) if "bias" not in name}
    assert others == of_words | {"decoder.attention.vector"}


def orthogonal(matrix):
    """Three of Jordan's quintic Newton-Schulz steps (2024), in double precision.

    Before them each row is divided by the root of the sum of its products with all rows (Boissin
    et al. 2025), as the almost orthogonal layers of Prach and Lampert (2022) are.
    """
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    wide = wide / np.sqrt(np.abs(wide @ wide.T).sum(axis=1, keepdims=True))
    for _ in range(3):
        square = wide @ wide.T
        wide = 3.4445 * wide + (-4.7750 * square + 2.0315 * square @ square) @ wide
    return wide.T if matrix.shape[0] > matrix.shape[1] else wide


def muon_changes(gradients, rates):
    """Changes of one matrix: unbiased momentum .95 in Nesterov's form, made orthogonal, scaled."""
    momentum = 0.0
    for count, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        momentum = 0.95 * momentum + 0.05 * gradient
        ahead = 0.95 * momentum / (1 - 0.95 ** (count + 1)) + 0.05 * gradient / (1 - 0.95**count)
        yield -rate * 0.2 * np.sqrt(max(gradient.shape)) * orthogonal(ahead)


def adam_changes(gradients, rates):
    """Kingma and Ba 2015, algorithm 1."""
    first = second = 0.0
    for count, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), 1):
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        mean, square = first / (1 - 0.9**count), second / (1 - 0.999**count)
        yield -rate * mean / (np.sqrt(square) + 1e-8)


def test_three_changes_are_those_of_numpy():
    _, weights = translator(attention="additive", hidden_size=5)
    settings = settings_of(
        optimizer="muon", learning_rate=0.02, final_learning_rate=1.0, clip_norm=1e9
    )
    optimizer = make_optimizer(settings)
    update, state = jax.jit(optimizer.update), optimizer.init(weights)
    gradients = [spread_out(weights, spread=spread) for spread in (1.0, 0.3, 2.0)]
    gradients[1] = jax.tree.map(lambda leaf: leaf[::-1], gradients[1])
    results = []
    for gradient in gradients:
        changes, state = update(gradient, state, weights)
        results.append(by_name(changes))
    for name in by_name(weights):
        rule = adam_changes if name in by_adam(weights) else muon_changes
        given = [np.asarray(by_name(gradient)[name], np.float64) for gradient in gradients]
        for step, expected in enumerate(rule(given, [0.02] * 3)):
            np.testing.assert_allclose(results[step][name], expected, rtol=2e-3, atol=2e-6)


# The mean of weights, compared with NumPy's mean of recorded weights.

AVERAGED = {"updates": 10, "average_last": 0.4, "validations": 5, "learning_rate": 0.5}


@pytest.mark.slow
def test_the_mean_is_that_of_the_weights_after_each_update_of_the_window():
    graph, weights = translator(dropout=0.1)
    settings = settings_of(**AVERAGED)
    update, state = make_update(graph, settings, Stack(1)), initial_state(weights, settings)
    after = []
    for number in range(10):
        state, _ = update(state, stream().batch(number))
        after.append(leaves(state.weights))
        if number < 6:  # before the window it equals the weights
            assert same(state.mean, state.weights)
    for mean, *column in zip(leaves(state.mean), *after[6:], strict=True):
        np.testing.assert_allclose(mean, np.mean(column, axis=0), rtol=2e-6, atol=1e-7)


@pytest.mark.slow
def test_validations_judge_what_would_be_kept_and_the_mean_is_kept():
    """Up to the window's first update these are the weights, then the mean so far."""
    model = translator()
    plain, averaged = (
        train_one(model, settings_of(**AVERAGED | {"average_last": share})) for share in (0.0, 0.4)
    )
    losses = validated(averaged)
    for update, loss in validated(plain).items():
        assert (loss == losses[update]) == (update <= 6)
    assert averaged.valid_loss == losses[10]
    assert losses[averaged.best_update] == min(losses.values())
