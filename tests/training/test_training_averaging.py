"""The mean of weights: against NumPy's of weights written down, in every kind of training."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_training import (
    close,
    leaves,
    same,
    settings_of,
    stream,
    train_one,
    translator,
    validated,
    validation,
)

from seq2seq_bottleneck.training.loop import sentence_losses, target_tokens
from seq2seq_bottleneck.training.step import (
    averaged_updates,
    initial_state,
    make_sentence_losses,
    make_update,
    running_mean,
)

pytestmark = pytest.mark.exhaustive(sample="session")

UPDATES = 45
WINDOW = 18
AVERAGED = {"updates": UPDATES, "average_last": 0.4, "validations": 5, "learning_rate": 0.1}


@pytest.mark.parametrize(
    ("share", "updates", "expected"),
    [(0.0, 50, 0), (0.4, 45, 18), (0.001, 50, 1), (0.5, 1, 1), (0.999, 10, 10)],
)
def test_the_window_is_the_last_share_of_the_updates(share, updates, expected):
    assert averaged_updates(settings_of(updates=updates, average_last=share)) == expected


def states_of(**changes):
    """The state after every update."""
    graph, weights = translator(dropout=0.1)
    settings = settings_of(**{**AVERAGED, **changes})
    update, state = make_update(graph, settings), initial_state(weights, settings)
    states = []
    for number in range(settings.updates):
        state, _ = update(state, stream().batch(number))
        states.append(state)
    return states


@pytest.fixture(scope="module")
def states():
    return states_of()


def test_the_mean_is_that_of_the_weights_after_each_update_of_the_window(states):
    for done in (UPDATES - WINDOW + 1, UPDATES - WINDOW + 2, UPDATES - 3, UPDATES):
        inside = [leaves(state.weights) for state in states[UPDATES - WINDOW : done]]
        for mean, *column in zip(leaves(states[done - 1].mean), *inside, strict=True):
            assert mean.dtype == np.float32
            expected = np.mean(np.stack(column).astype(np.float64), axis=0)
            np.testing.assert_allclose(mean, expected, rtol=2e-6, atol=1e-7)
    assert not same(states[-1].mean, states[-1].weights)
    for state in states[: UPDATES - WINDOW + 1]:  # before the window it is the weights
        assert same(state.mean, state.weights)
        assert state.kept is state.mean


def test_averaging_changes_no_update(states):
    plain = states_of(average_last=0.0)
    assert plain[-1].mean is None
    assert plain[-1].kept is plain[-1].weights
    # Two programs, so not to the last bit.
    close(states[-1].weights, plain[-1].weights, 1e-5, 1e-6)


def test_the_mean_of_many_updates_loses_nothing():
    """Of thousands of weights that lie close together, in float32."""
    random = np.random.default_rng(3)
    given = (1.0 + random.normal(0, 0.01, (3000, 50))).astype(np.float32)

    def add(count, mean):
        return running_mean(mean, nnx.State({"w": jnp.asarray(given)[count - 1]}), count)

    mean = jax.lax.fori_loop(1, 3001, add, nnx.State({"w": jnp.zeros(50)}))
    np.testing.assert_allclose(mean["w"], given.astype(np.float64).mean(axis=0), rtol=5e-6)


def test_validations_judge_what_would_be_kept_and_the_mean_is_kept():
    """Up to the window's first update the weights, then the mean so far.

    The weights jump about: a mean in every window is better than where they end.
    """
    graph, weights = translator()
    changes = {**AVERAGED, "learning_rate": 0.5, "final_learning_rate": 1.0}
    ends = [
        train_one((graph, weights), settings_of(**changes | {"average_last": share}))
        for share in (0.0, 0.4)
    ]
    plain, averaged = map(validated, ends)
    assert list(plain) == list(averaged) == [9, 18, 27, 36, 45]
    for update in plain:
        assert (plain[update] == averaged[update]) == (update <= UPDATES - WINDOW)
    trained = ends[1]
    assert trained.valid_loss == averaged[UPDATES]
    assert averaged[trained.best_update] == min(averaged.values())
    losses = sentence_losses(make_sentence_losses(graph), trained.weights, validation())
    again = losses.sum() / target_tokens(validation()).sum()
    np.testing.assert_allclose(again, trained.valid_loss, rtol=1e-6)


def test_even_a_worse_mean_is_kept():
    """Good weights spoilt: the first validation is the best, and what is kept is the mean."""
    graph, weights = translator()
    good = train_one((graph, weights), settings_of(updates=60, learning_rate=0.02)).weights
    rate = {"learning_rate": 1.0, "final_learning_rate": 1.0}
    settings = settings_of(updates=20, validations=4, average_last=0.5, **rate)
    trained = train_one((graph, good), settings)
    losses = validated(trained)
    assert min(losses.values()) < losses[20] == trained.valid_loss
    assert trained.best_update < 20
