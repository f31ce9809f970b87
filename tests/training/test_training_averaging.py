"""The mean of weights: against NumPy's of weights written down, in every kind of training."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from tiny_training import (
    StopsAfter,
    copies,
    settings_of,
    spread_out,
    stream,
    train_one,
    translator,
    validation,
)

from seq2seq_bottleneck.corpus.batches import training_batches
from seq2seq_bottleneck.training.loop import Learner, token_loss, train
from seq2seq_bottleneck.training.stack import Stack
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


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(one, other):
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def close(one, other, rtol=1e-5):
    for a, b in zip(leaves(one), leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize(
    ("share", "updates", "expected"),
    [(0.0, 50, 0), (0.4, 45, 18), (0.001, 50, 1), (0.5, 1, 1), (0.999, 10, 10)],
)
def test_the_window_is_the_last_share_of_the_updates(share, updates, expected):
    assert averaged_updates(settings_of(updates=updates, average_last=share)) == expected


def walked(**changes):
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
    return walked()


def mean_of(states):
    """In double precision, leaf by leaf."""
    columns = zip(*(leaves(state.weights) for state in states), strict=True)
    return [np.mean(np.stack(column).astype(np.float64), axis=0) for column in columns]


def test_the_mean_is_that_of_the_weights_after_each_update_of_the_window(states):
    for done in (UPDATES - WINDOW + 1, UPDATES - WINDOW + 2, UPDATES - 3, UPDATES):
        inside = states[UPDATES - WINDOW : done]
        for found, expected in zip(leaves(states[done - 1].mean), mean_of(inside), strict=True):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)
    assert not same(states[-1].mean, states[-1].weights)


def test_before_the_window_it_is_the_weights(states):
    for state in states[: UPDATES - WINDOW + 1]:
        assert same(state.mean, state.weights)
        assert state.kept is state.mean


def test_averaging_changes_no_update(states):
    plain = walked(average_last=0.0)
    assert plain[-1].mean is None
    assert plain[-1].kept is plain[-1].weights
    assert len(jax.tree.leaves(plain[-1])) == len(jax.tree.leaves(plain[-1][:4]))
    close(states[-1].weights, plain[-1].weights)  # compiled apart, so not to the last bit


def test_the_mean_of_many_updates_loses_nothing():
    """Of thousands of weights that lie close together, in float32."""
    random = np.random.default_rng(3)
    given = (1.0 + random.normal(0, 0.01, (3000, 50))).astype(np.float32)

    def add(count, mean):
        return running_mean(mean, nnx.State({"w": jnp.asarray(given)[count - 1]}), count)

    mean = jax.lax.fori_loop(1, 3001, add, nnx.State({"w": jnp.zeros(50)}))
    np.testing.assert_allclose(mean["w"], given.astype(np.float64).mean(axis=0), rtol=5e-6)


@pytest.fixture(scope="module")
def restless():
    """Weights that jump about: a mean in every window is better than where they end."""
    graph, weights = translator()
    changes = {**AVERAGED, "learning_rate": 0.5, "final_learning_rate": 1.0}
    found = {}
    for share in (0.0, 0.4):
        settings = settings_of(**changes | {"average_last": share})
        found[share] = train_one((graph, weights), settings, stream(), validation())
    return graph, found


def validated(trained):
    return {at.update: at.valid_loss for at in trained.log if at.valid_loss is not None}


def test_validations_judge_what_would_be_kept(restless):
    """Up to the window's first update the weights, then the mean so far."""
    _, found = restless
    plain, averaged = (validated(found[share]) for share in (0.0, 0.4))
    assert list(plain) == list(averaged) == [9, 18, 27, 36, 45]
    for update in plain:
        assert (plain[update] == averaged[update]) == (update <= UPDATES - WINDOW)


def test_the_mean_is_kept_whatever_came_before(restless):
    graph, found = restless
    trained = found[0.4]
    losses = validated(trained)
    assert trained.valid_loss == losses[UPDATES]
    assert losses[trained.best_update] == min(losses.values())
    again = token_loss(make_sentence_losses(graph), trained.weights, validation())
    np.testing.assert_allclose(again, trained.valid_loss, rtol=1e-6)


def test_even_a_worse_one():
    """Good weights spoilt: the first validation is the best, and what is kept is the mean."""
    graph, weights = translator()
    settings = settings_of(
        updates=20, validations=4, average_last=0.5, learning_rate=1.0, final_learning_rate=1.0
    )
    start = train_one(
        (graph, weights), settings_of(updates=60, learning_rate=0.02), stream(), validation()
    )
    trained = train_one((graph, start.weights), settings, stream(), validation())
    losses = validated(trained)
    assert min(losses.values()) < losses[20] == trained.valid_loss
    assert trained.best_update < 20


PAIRS = copies(90, longest=12)


def learners(*seeds, **changes):
    found = []
    for seed in seeds:
        graph, weights = translator(seed, dropout=0.1)
        settings = settings_of(**{**AVERAGED, "learning_rate": 0.02, **changes, "seed": seed})
        batches = training_batches(PAIRS, 4, seed, groups=2, batch_tokens=60)
        found.append(Learner(weights, settings, batches))
    return graph, found


def silent(place, progress):
    """A report to nobody."""


def trained(*seeds, keeper=None, resumed=None):
    graph, members = learners(*seeds)
    return train(graph, members, validation(), silent, keeper, resumed)


@cache
def undisturbed(*seeds):
    """Trained once, and read by several tests."""
    return trained(*seeds)


def logged(end):
    """Losses, validation's too, and tokens of each seed; no times."""
    return [
        [(at.update, at.loss, at.valid_loss) for at in each.log]
        + [(each.best_update, each.valid_loss, each.target_tokens)]
        for each in end.trained
    ]


def test_in_a_stack_it_is_the_same_mean():
    alone, both = trained(5), trained(5, 3)
    close(Stack(2).part(both.state.mean, 0), alone.state.mean, 2e-4)
    assert same(both.trained[0].weights, Stack(2).part(both.state.mean, 0))
    assert not same(both.trained[0].weights, both.trained[1].weights)


@pytest.mark.parametrize("seeds", [(4,), (3, 8)])
@pytest.mark.parametrize("within", [False, True])
def test_a_resumed_training_gives_the_same_bits(seeds, within):
    """Stopped before the window, and in it, between two reports: losses since the last are kept."""
    whole = undisturbed(*seeds)
    keeper = StopsAfter(35 if within else 10)
    with pytest.raises(KeyboardInterrupt):
        trained(*seeds, keeper=keeper)
    done = int(np.max(keeper.held.state.update))
    assert (done > UPDATES - WINDOW) == within
    assert 0 < len(keeper.held.losses) < done < UPDATES
    resumed = trained(*seeds, resumed=keeper.held)
    assert logged(resumed) == logged(whole)
    assert same(resumed.state, whole.state)
    pairs = zip(resumed.trained, whole.trained, strict=True)
    assert all(same(one.weights, other.weights) for one, other in pairs)


def test_double_precision_is_kept(float64):  # noqa: ARG001
    graph, weights = translator()
    start = jax.tree.map(lambda leaf: leaf.astype("float64"), spread_out(weights))
    settings = settings_of(updates=2, average_last=0.9)
    state = initial_state(start, settings)
    for number in range(2):
        state, _ = make_update(graph, settings)(state, stream().batch(number))
    assert {leaf.dtype for leaf in leaves(state.mean)} == {np.dtype(np.float64)}
