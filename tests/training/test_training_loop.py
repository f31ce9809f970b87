"""The loop: it validates when due, keeps the best, resumes, trains seeds together."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lanes import few
from tiny_training import (
    close,
    copies,
    learners,
    same,
    settings_of,
    silent,
    stream,
    train_one,
    translator,
    validated,
    validation,
)

from seq2seq_bottleneck.corpus.batches import encode_pairs, evaluation_batches, training_batches
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.model.parts import Stack
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.checkpoint import Checkpoints, read_checkpoint
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve
from seq2seq_bottleneck.training.loop import train
from seq2seq_bottleneck.training.step import make_sentence_losses


def test_the_best_weights_are_kept_and_reports_and_tokens_counted():
    """The run's validation loss goes up and down."""
    graph, weights = translator()
    settings = settings_of(updates=50, validations=10, learning_rate=0.5, final_learning_rate=1.0)
    reports = []
    trained = train_one((graph, weights), settings, report=reports.append)
    losses = validated(trained)
    assert trained.status == "done"
    assert trained.valid_loss == min(losses.values()) == losses[trained.best_update]
    assert losses[50] > trained.valid_loss  # otherwise the last weights would be the best
    again = make_sentence_losses(graph, Stack(1))(trained.weights, validation()).sum()
    tokens = sum(item.batch.target_lengths[: len(item.rows)].sum() for item in validation())
    loss = again / tokens
    np.testing.assert_allclose(loss, trained.valid_loss, rtol=1e-6)
    assert list(losses) == [*range(5, 51, 5)]
    assert reports == trained.log
    assert [at.update for at in reports] == sorted({*range(5, 51, 5), 20, 40})
    counts = [stream().batch(update).target_lengths.sum() for update in range(50)]
    assert trained.target_tokens == sum(counts)


@pytest.mark.slow
@pytest.mark.parametrize("updates", [3, 1])
def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(updates):
    """Also in the last update: its loss comes before it, so only validation sees its effect."""
    graph, weights = translator()
    settings = settings_of(updates=updates, validations=1, learning_rate=1e38, clip_norm=1e6)
    trained = train_one((graph, weights), settings)
    assert trained.status == "diverged"
    assert "learning_rate" in trained.reason
    assert trained.weights is weights
    assert trained.best_update == 0


# Training resumed.

AVERAGED = {"average_last": 0.4, "learning_rate": 0.02}
MUON = {"optimizer": "muon", "learning_rate": 0.02}


def learning(seeds, changes):
    """The structure, and a learner of each seed."""
    return learners(
        *seeds,
        model={"dropout": 0.1},
        batches=lambda seed: training_batches(
            copies(90, longest=12), 4, seed, groups=2, batch_tokens=60
        ),
        **{"updates": 45, "validations": 5, "learning_rate": 0.05} | changes,
    )


class StopsAfter(Checkpoints):
    """Asks the training to stop after some updates."""

    def wanted(self):
        self.left -= 1
        self.asked = self.left == 0
        return self.asked


def logged(end):
    """All that a training leaves of each seed, except weights and times."""
    return [
        [(at.update, at.loss, at.valid_loss) for at in item.log]
        + [(item.best_update, item.valid_loss, item.target_tokens)]
        for item in end.trained
    ]


@pytest.mark.exhaustive(sample="test")
@pytest.mark.parametrize(
    ("seeds", "changes", "stop"),
    [((4,), {}, 14), ((3, 8), AVERAGED, 10), ((3, 8), AVERAGED, 35), ((4,), MUON, 14)],
)
def test_a_resumed_training_gives_the_same_bits(tmp_path, seeds, changes, stop):
    """Stopped between two reports, and read back from files."""
    graph, members = learning(seeds, changes)
    unseen, folders = validation(count=9), [tmp_path / str(seed) for seed in seeds]
    whole = train(graph, members, unseen, silent)
    keeper = StopsAfter(folders)
    keeper.left = stop
    with pytest.raises(SystemExit):
        train(graph, members, unseen, silent, keeper)
    pairs = zip(folders, members, strict=True)
    snapshots = [read_checkpoint(folder, member) for folder, member in pairs]
    assert all(snapshot.state.update == stop for snapshot in snapshots)
    resumed = train(graph, members, unseen, silent, None, snapshots)
    assert logged(resumed) == logged(whole)
    assert same(resumed.state, whole.state)
    pairs = zip(resumed.trained, whole.trained, strict=True)
    assert all(same(one.weights, other.weights) for one, other in pairs)


# The same numbers in every version.

TINY = [
    "corpus.name=copy",
    "corpus.copy_words=20",
    "corpus.train_pairs=64",
    "model.context_size=12",
    "model.dropout=0.1",
    "training.updates=8",
    "training.batch_size=16",
]
GOLDEN = {
    (9, "none", "input"): (3.1608145, 3.1528116),
    (9, "additive", "input"): (3.1676561, 3.1603849),
    (9, "dot", "output"): (3.1690100, 3.1675240),
}
"""Training and validation loss after eight updates, by schema version and arm."""


@pytest.mark.parametrize(("version", "attention", "placement"), few(GOLDEN, 3))
def test_losses_are_those_of_this_schema_version(version, attention, placement):
    """A change of numerics must raise SCHEMA_VERSION, so that different runs are never mixed."""
    arm = [f"model.attention={attention}", f"model.placement={placement}"]
    settings = resolve("smoke", [*TINY, *arm])
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
    model = create(settings.model, *map(len, vocabularies), settings.training.seed)
    batches = training_batches(encode_pairs(corpus.train, *vocabularies), 16, 1, 2)
    valid = evaluation_batches(encode_pairs(corpus.valid, *vocabularies), 16)
    last = train_one(model, settings.training, batches, valid).log[-1]
    assert version == SCHEMA_VERSION
    golden = GOLDEN[version, attention, placement]
    np.testing.assert_allclose((last.loss, last.valid_loss), golden, rtol=2e-5)


# Seeds trained together, and batches split among cores, end as each would alone and unsplit.

SEEDS = (3, 1, 8)
LONGER = {"updates": 30, "validations": 3, "learning_rate": 0.05}
MUON_8 = {"optimizer": "muon", "learning_rate": 0.02, "updates": 8, "validations": 2}


@pytest.mark.parametrize(
    ("model", "training", "tolerance"),
    few(
        [
            ({"attention": "additive", "cell": "gru", "dropout": 0.3}, {}, (2e-4, 2e-4)),
            ({"attention": "dot", "placement": "output"}, {"teacher_forcing": 0.5}, (2e-4, 2e-4)),
            ({"attention": "none"}, {**MUON_8, "average_last": 0.4}, (2e-3, 2e-5)),
        ],
        3,
    ),
)
def test_together_each_seed_ends_as_it_does_alone(model, training, tolerance):
    graph, members = learners(*SEEDS, model=model, **LONGER | training)
    ends = train(graph, members, validation(), silent).trained
    for item, (weights, settings, batches) in zip(ends, members, strict=True):
        alone = train_one((graph, weights), settings, batches)
        close(item.weights, alone.weights, *tolerance)
        assert item.target_tokens == alone.target_tokens
        np.testing.assert_allclose(item.valid_loss, alone.valid_loss, rtol=1e-3)
    assert len({round(item.valid_loss, 4) for item in ends}) == len(SEEDS)


@pytest.mark.slow
def test_one_that_diverges_does_not_harm_the_others():
    graph, members = learners(*SEEDS, **LONGER)
    whole = train(graph, members, validation(), silent).trained
    spoilt = jax.tree.map(lambda leaf: leaf * jnp.nan, members[1].weights)
    hurt = [members[0], members[1]._replace(weights=spoilt), members[2]]
    ends = train(graph, hurt, validation(), silent).trained
    assert [item.status for item in ends] == ["done", "diverged", "done"]
    assert ends[1].log == []
    for place in (0, 2):
        close(ends[place].weights, whole[place].weights, 0)
