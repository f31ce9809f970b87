"""The loop: it learns, validates when due, keeps the best weights, notices divergence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_training import (
    copies,
    settings_of,
    spread_out,
    stream,
    train_one,
    translator,
    validation,
)

from seq2seq_bottleneck.training.loop import (
    sentence_losses,
    token_loss,
    validation_updates,
)
from seq2seq_bottleneck.training.step import make_sentence_losses


def test_validation_is_spread_evenly_and_ends_with_the_last_update():
    assert validation_updates(settings_of(updates=10, validations=5)) == [2, 4, 6, 8, 10]
    assert validation_updates(settings_of(updates=3, validations=10)) == [1, 2, 3]
    for updates in range(1, 60):
        due = validation_updates(settings_of(updates=updates, validations=7))
        assert len(set(due)) == len(due) == min(7, updates)
        assert due[-1] == updates
        gaps = np.diff([0, *due])
        assert gaps.min() >= 1
        assert gaps.max() - gaps.min() <= 1


@pytest.fixture(scope="module")
def restless():
    """A run whose validation loss goes up and down."""
    graph, weights = translator()
    settings = settings_of(updates=50, validations=10, learning_rate=0.5, final_learning_rate=1.0)
    reports = []
    trained = train_one((graph, weights), settings, stream(), validation(), reports.append)
    return graph, settings, trained, reports


def validated(trained):
    return {at.update: at.valid_loss for at in trained.log if at.valid_loss is not None}


def test_the_best_weights_are_kept(restless):
    graph, _, trained, _ = restless
    losses = validated(trained)
    assert trained.status == "done"
    assert trained.valid_loss == min(losses.values()) == losses[trained.best_update]
    assert losses[50] > trained.valid_loss  # else the last weights would pass for the best
    again = token_loss(make_sentence_losses(graph), trained.weights, validation())
    np.testing.assert_allclose(again, trained.valid_loss, rtol=1e-6)


def test_it_validates_and_reports_when_due(restless):
    _, settings, trained, reports = restless
    assert list(validated(trained)) == validation_updates(settings)
    assert reports == trained.log
    assert [at.update for at in reports] == sorted({*range(5, 51, 5), 20, 40})


def test_it_counts_target_tokens(restless):
    _, settings, trained, _ = restless
    batches = stream()
    given = [int(batches.batch(update).target_lengths.sum()) for update in range(settings.updates)]
    assert trained.target_tokens == sum(given)


def test_fillers_do_not_count():
    """Six sentences in batches of four: each once, in the order of the corpus."""
    graph, weights = translator()
    weights, evaluate = spread_out(weights), make_sentence_losses(graph)
    filled, alone = validation(batch_size=4), validation(batch_size=1)
    losses = sentence_losses(evaluate, weights, filled)
    np.testing.assert_allclose(losses, sentence_losses(evaluate, weights, alone), rtol=1e-5)
    assert len(set(losses.round(4))) > 3
    tokens = sum(copies(6, seed=9).target_lengths)
    np.testing.assert_allclose(
        token_loss(evaluate, weights, filled), losses.sum() / tokens, rtol=1e-6
    )


@pytest.mark.exhaustive(sample="session")
def test_it_learns_to_copy():
    graph, weights = translator(attention="additive", cell="gru", embedding_size=8, context_size=16)
    settings = settings_of(
        updates=300, batch_size=16, learning_rate=0.02, warmup_updates=10, validations=1
    )
    batches = stream(count=64, batch_size=16, longest=3)
    held_out = validation(count=16, batch_size=16, longest=3)
    trained = train_one((graph, weights), settings, batches, held_out)
    assert trained.log[0].loss > 1.0
    assert trained.log[-1].loss < 0.1
    assert trained.valid_loss < 0.5


def run_from(start, **changes):
    """A run of three updates from weights changed by ``start``."""
    graph, weights = translator()
    settings = settings_of(updates=3, validations=1, **changes)
    given = jax.tree.map(start, weights)
    return given, train_one((graph, given), settings, stream(), validation())


@pytest.mark.slow
@pytest.mark.parametrize("number", [jnp.inf, jnp.nan])
def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(number):
    given, trained = run_from(lambda leaf: leaf * number)
    assert trained.status == "diverged"
    assert "learning_rate" in trained.reason
    assert trained.weights is given
    assert trained.best_update == 0


@pytest.mark.slow
def test_a_huge_learning_rate_diverges():
    _, trained = run_from(lambda leaf: leaf, learning_rate=1e38, clip_norm=1e6)
    assert trained.status == "diverged"


@pytest.mark.slow
def test_the_last_update_can_diverge_too():
    """The training loss is from before the update; validation alone sees what it did."""
    graph, weights = translator()
    settings = settings_of(updates=1, validations=1, learning_rate=1e38)
    trained = train_one((graph, weights), settings, stream(), validation())
    assert trained.status == "diverged"
