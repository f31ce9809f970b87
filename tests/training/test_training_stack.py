"""Seeds trained together: each as it would be alone, whatever happens to the others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lanes import few
from tiny_training import settings_of, stream, train_one, translator, validation

from seq2seq_bottleneck.training.loop import Learner, train
from seq2seq_bottleneck.training.stack import Stack

SEEDS = (3, 1, 8)


def learners(spoilt=None, **changes):
    """The structure, and a learner a seed; the weights of the ``spoilt`` place are no numbers."""
    found = []
    for place, seed in enumerate(SEEDS):
        graph, weights = translator(seed, **changes)
        if place == spoilt:
            weights = jax.tree.map(lambda leaf: leaf * jnp.nan, weights)
        settings = settings_of(seed=seed, updates=30, validations=3, learning_rate=0.05)
        found.append(Learner(weights, settings, stream(seed=seed)))
    return graph, found


def silent(place, progress):
    """A report to nobody."""


def trained_together(graph, members, report=silent):
    return train(graph, members, validation(), report).trained


def same(one, other, rtol):
    for leaf, expected in zip(
        jax.tree.leaves(one.weights), jax.tree.leaves(other.weights), strict=True
    ):
        np.testing.assert_allclose(leaf, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "arm",
    few(
        [
            {"attention": "none"},
            {"attention": "additive", "cell": "gru", "dropout": 0.3},
            {"attention": "dot", "placement": "output", "cell": "lstm"},
        ],
        3,
    ),
)
def test_together_each_seed_ends_as_it_does_alone(arm):
    graph, members = learners(**arm)
    together = trained_together(graph, members)
    ends = []
    for found, (weights, settings, batches) in zip(together, members, strict=True):
        alone = train_one((graph, weights), settings, batches, validation())
        same(found, alone, 2e-4)
        assert found.best_update == alone.best_update
        assert found.target_tokens == alone.target_tokens
        np.testing.assert_allclose(found.valid_loss, alone.valid_loss, rtol=1e-4)
        losses = [at.loss for at in found.log], [at.loss for at in alone.log]
        np.testing.assert_allclose(*losses, rtol=1e-4)
        ends.append(found.valid_loss)
    assert len({round(end, 4) for end in ends}) == len(SEEDS)  # else the seeds were one


@pytest.mark.exhaustive(sample="session")
def test_teacher_forcing_draws_anew_for_every_seed():
    graph, members = learners(attention="dot")
    half = [
        m._replace(settings=m.settings.model_copy(update={"teacher_forcing": 0.5})) for m in members
    ]
    for found, (weights, settings, batches) in zip(
        trained_together(graph, half), half, strict=True
    ):
        same(found, train_one((graph, weights), settings, batches, validation()), 2e-4)


@pytest.mark.slow
def test_one_that_diverges_does_not_harm_the_others():
    graph, members = learners()
    whole = trained_together(graph, members)
    _, hurt = learners(spoilt=1)
    reports = []
    found = trained_together(graph, hurt, lambda place, _: reports.append(place))
    assert [each.status for each in found] == ["done", "diverged", "done"]
    assert set(reports) == {0, 2}
    assert found[1].log == []
    for place in (0, 2):
        same(found[place], whole[place], 0)


@pytest.mark.slow
def test_all_diverged_ends_the_training():
    graph, members = learners(spoilt=0)
    spoilt = [member._replace(weights=members[0].weights) for member in members]
    end = train(graph, spoilt, validation(), silent)
    assert {each.status for each in end.trained} == {"diverged"}
    assert int(end.state.update[0]) < 30


def test_a_stack_is_taken_apart_as_it_was_joined():
    trees = [{"a": jnp.full((2, 3), seed), "b": jnp.int32(seed)} for seed in SEEDS]
    stack = Stack(len(SEEDS))
    joined = stack.join(trees)
    assert joined["a"].shape == (3, 2, 3)
    assert joined["b"].shape == (3,)
    for place, tree in enumerate(trees):
        parts = stack.part(joined, place)
        assert all(jnp.array_equal(parts[name], tree[name]) for name in tree)
    alone = Stack(1)
    assert alone.join(trees[:1]) is trees[0]
    assert alone.part(trees[0], 0) is trees[0]
