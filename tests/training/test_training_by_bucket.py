"""Validation losses by length bucket: their sums, their error, and that training is the same."""

from functools import cache

import jax
import numpy as np
import pytest
from tiny_training import StopsAfter, copies, settings_of, stream, translator, validation

from seq2seq_bottleneck.training.by_bucket import by_bucket, target_tokens
from seq2seq_bottleneck.training.loop import Learner, sentence_losses, train
from seq2seq_bottleneck.training.step import make_sentence_losses

SENTENCES = 9
BUCKETS = {"a": np.array([0, 2, 5, 7]), "b": np.array([1]), "c": np.array([], np.int64)}
"""Places; three sentences are in no bucket."""


def silent(place, progress):
    """A report to nobody."""


def trained(*seeds, buckets=BUCKETS, **given):
    graph, members = None, []
    for seed in seeds:
        graph, weights = translator(seed)
        settings = settings_of(seed=seed, updates=30, validations=3, learning_rate=0.05)
        members.append(Learner(weights, settings, stream(seed=seed)))
    held_out = validation(count=SENTENCES)
    return graph, train(graph, members, held_out, silent, **given, buckets=buckets)


def losses_of(graph, weights):
    """-log P of each validation sentence, evaluated by itself."""
    alone = validation(count=SENTENCES, batch_size=1)
    return sentence_losses(make_sentence_losses(graph), weights, alone)


def test_tokens_are_those_of_the_corpus_in_its_order():
    found = target_tokens(validation(count=SENTENCES))
    assert found.tolist() == copies(SENTENCES, seed=9).target_lengths


def test_sums_are_those_of_the_sentences_of_the_bucket():
    losses, tokens = np.arange(9.0), np.arange(1, 10)
    found = by_bucket(losses, tokens, BUCKETS)
    assert {name: (each["sentences"], each["tokens"], each["nats"])
            for name, each in found.items()} == {
        "a": (4, 18, 14.0), "b": (1, 2, 1.0), "c": (0, 0, 0.0)
    }  # fmt: skip
    assert found["b"]["standard_error"] is None
    assert found["c"]["standard_error"] is None


def test_of_equal_lengths_the_error_is_that_of_a_mean():
    losses = np.random.default_rng(1).gamma(2.0, 3.0, 50)
    found = by_bucket(losses, np.full(50, 7), {"all": np.arange(50)})["all"]
    expected = np.std(losses / 7, ddof=1) / np.sqrt(50)
    assert found["standard_error"] == pytest.approx(expected, rel=1e-12)


def test_the_error_is_that_of_resampled_sentences():
    random = np.random.default_rng(2)
    tokens = random.integers(3, 40, 400)
    losses = tokens * random.gamma(4.0, 0.5, 400)
    found = by_bucket(losses, tokens, {"all": np.arange(400)})["all"]
    drawn = random.integers(400, size=(4000, 400))
    means = losses[drawn].sum(axis=1) / tokens[drawn].sum(axis=1)
    assert found["standard_error"] == pytest.approx(means.std(), rel=0.05)


def test_a_loss_in_proportion_to_length_has_no_error():
    tokens = np.arange(1, 10)
    assert by_bucket(0.5 * tokens, tokens, BUCKETS)["a"]["standard_error"] == pytest.approx(0.0)


@cache
def undisturbed(*seeds):
    """Trained once, and read by several tests."""
    return trained(*seeds)


@pytest.fixture
def two():
    """Two seeds trained together."""
    return undisturbed(3, 8)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("seeds", [(3,), (3, 8)])
def test_what_is_logged_is_of_the_weights_at_that_validation(seeds):
    """Which at the last one are the weights that the training ends with."""
    graph, end = undisturbed(*seeds)
    for place, each in enumerate(end.trained):
        state = end.state.weights
        own = state if len(seeds) == 1 else jax.tree.map(lambda leaf: leaf[place], state)  # noqa: B023
        losses = losses_of(graph, own)
        assert len(set(losses.round(4))) > 3
        for name, rows in BUCKETS.items():
            found = each.log[-1].valid_buckets[name]
            np.testing.assert_allclose(found["nats"], losses[rows].sum(), rtol=1e-5)


def test_it_is_logged_where_validation_is_due_and_there_alone(two):
    for each in two[1].trained:
        assert [at.update for at in each.log] == [10, 20, 30]
        for at in each.log:
            assert (at.valid_buckets is None) == (at.valid_loss is None)
            assert list(at.valid_buckets) == list(BUCKETS)
    first, second = ([at.valid_buckets for at in each.log] for each in two[1].trained)
    assert first != second


def test_of_all_sentences_it_is_the_validation_loss():
    _, end = trained(3, buckets={"all": np.arange(SENTENCES)})
    for at in end.trained[0].log:
        found = at.valid_buckets["all"]
        assert found["nats"] / found["tokens"] == pytest.approx(at.valid_loss, rel=1e-12)


@pytest.mark.slow
def test_training_is_the_same_without_buckets(two):
    _, plain = trained(3, 8, buckets=None)
    kept = [(end.state, [each.weights for each in end.trained]) for end in (two[1], plain)]
    assert all(map(np.array_equal, *map(jax.tree.leaves, kept)))
    for mine, other in zip(two[1].trained, plain.trained, strict=True):
        assert [at.valid_loss for at in mine.log] == [at.valid_loss for at in other.log]
        assert all(at.valid_buckets is None for at in other.log)


@pytest.mark.slow
def test_a_resumed_training_logs_the_same(two):
    keeper = StopsAfter(14)
    with pytest.raises(KeyboardInterrupt):
        trained(3, 8, keeper=keeper)
    assert len(keeper.held.trained[0].log) == 1
    _, resumed = trained(3, 8, resumed=keeper.held)
    for mine, other in zip(resumed.trained, two[1].trained, strict=True):
        assert [at.valid_buckets for at in mine.log] == [at.valid_buckets for at in other.log]
