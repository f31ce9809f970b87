"""The loop: it validates when due and by bucket, keeps the best, resumes, trains seeds together."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import two_cores
from lanes import few
from scipy.stats import entropy
from tiny import EOS
from tiny_training import (
    WORDS,
    close,
    copies,
    learners,
    same,
    settings_of,
    silent,
    spread_out,
    stream,
    train_one,
    translator,
    validated,
    validation,
)

from seq2seq_bottleneck.corpus.batches import encode_pairs, evaluation_batches, training_batches
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.pool import in_threads
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve
from seq2seq_bottleneck.training.loop import (
    by_bucket,
    sentence_losses,
    target_tokens,
    train,
    validation_updates,
)
from seq2seq_bottleneck.training.step import make_sentence_losses


def test_validation_is_spread_evenly_and_ends_with_the_last_update():
    assert validation_updates(settings_of(updates=10, validations=5)) == [2, 4, 6, 8, 10]
    for updates in range(1, 60):
        due = validation_updates(settings_of(updates=updates, validations=7))
        assert len(set(due)) == len(due) == min(7, updates)
        gaps = np.diff([0, *due, updates])
        assert gaps[-1] == 0
        assert gaps[:-1].max() - gaps[:-1].min() <= 1


def test_the_best_weights_are_kept_and_reports_and_tokens_counted():
    """A run whose validation loss goes up and down."""
    graph, weights = translator()
    settings = settings_of(updates=50, validations=10, learning_rate=0.5, final_learning_rate=1.0)
    reports = []
    trained = train_one((graph, weights), settings, report=reports.append)
    losses = validated(trained)
    assert trained.status == "done"
    assert trained.valid_loss == min(losses.values()) == losses[trained.best_update]
    assert losses[50] > trained.valid_loss  # else the last weights would pass for the best
    again = sentence_losses(make_sentence_losses(graph), trained.weights, validation()).sum()
    loss = again / target_tokens(validation()).sum()
    np.testing.assert_allclose(loss, trained.valid_loss, rtol=1e-6)
    assert list(losses) == validation_updates(settings)
    assert reports == trained.log
    assert [at.update for at in reports] == sorted({*range(5, 51, 5), 20, 40})
    counts = [stream().batch(update).target_lengths.sum() for update in range(50)]
    assert trained.target_tokens == sum(counts)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(("smoothing", "within"), [(0.0, 0.5), (0.4, 0.2)])
def test_it_learns_to_copy_as_surely_as_smoothing_lets_it(smoothing, within):
    """The best answer to smoothed targets has P = 1 - e + e / (words) on the right word."""
    model = translator(attention="additive", cell="gru", embedding_size=8, context_size=16)
    settings = settings_of(
        updates=300, batch_size=16, learning_rate=0.02, warmup_updates=10, validations=1,
        label_smoothing=smoothing,
    )  # fmt: skip
    trained = train_one(model, settings, stream(64, 16, longest=3), validation(16, 16, longest=3))
    best = np.full(WORDS - EOS, smoothing / (WORDS - EOS))
    best[0] += 1 - smoothing
    assert trained.log[0].loss > 1.0
    assert trained.log[-1].loss == pytest.approx(entropy(best), abs=0.1)
    assert trained.valid_loss == pytest.approx(-np.log(best[0]), abs=within)


def test_fillers_do_not_count():
    """Six sentences in batches of four: each once, in the order of the corpus."""
    graph, weights = translator()
    weights, evaluate = spread_out(weights), make_sentence_losses(graph)
    filled, alone = validation(batch_size=4), validation(batch_size=1)
    losses = sentence_losses(evaluate, weights, filled)
    np.testing.assert_allclose(losses, sentence_losses(evaluate, weights, alone), rtol=1e-5)
    assert len(set(losses.round(4))) > 3
    assert target_tokens(filled).tolist() == copies(6, seed=9).target_lengths


HUGE = {"learning_rate": 1e38, "clip_norm": 1e6}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "changes"),
    [(jnp.inf, {"updates": 3}), (jnp.nan, {"updates": 3}), (1, HUGE | {"updates": 3}),
     (1, HUGE | {"updates": 1})],
)  # fmt: skip
def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(number, changes):
    """Also in the last update: its loss is from before it, validation alone sees what it did."""
    graph, weights = translator()
    weights = jax.tree.map(lambda leaf: leaf * number, weights)
    trained = train_one((graph, weights), settings_of(validations=1, **changes))
    assert trained.status == "diverged"
    assert "learning_rate" in trained.reason
    assert trained.weights is weights
    assert trained.best_update == 0


# Losses by length bucket; training resumed.

SENTENCES = 9
BUCKETS = {"a": np.array([0, 2, 5, 7]), "b": np.array([1]), "c": np.array([], np.int64)}
"""Places; three sentences are in no bucket."""


def test_sums_are_those_of_the_sentences_of_the_bucket():
    tokens = np.arange(1, 10)
    sums = by_bucket(np.arange(9.0), tokens, BUCKETS)
    assert [tuple(bucket.values())[:3] for bucket in sums.values()] == [
        (4, 18, 14.0), (1, 2, 1.0), (0, 0, 0.0)
    ]  # fmt: skip
    assert sums["b"]["standard_error"] is sums["c"]["standard_error"] is None
    # A loss in proportion to length has no error.
    assert by_bucket(0.5 * tokens, tokens, BUCKETS)["a"]["standard_error"] == pytest.approx(0.0)


def test_the_error_is_that_of_a_mean_of_equal_lengths_and_of_resampled_sentences():
    random = np.random.default_rng(2)
    losses = random.gamma(2.0, 3.0, 50)
    error = by_bucket(losses, np.full(50, 7), {"all": np.arange(50)})["all"]["standard_error"]
    assert error == pytest.approx(np.std(losses / 7, ddof=1) / np.sqrt(50), rel=1e-12)
    tokens = random.integers(3, 40, 400)
    losses = tokens * random.gamma(4.0, 0.5, 400)
    error = by_bucket(losses, tokens, {"all": np.arange(400)})["all"]["standard_error"]
    drawn = random.integers(400, size=(4000, 400))
    means = losses[drawn].sum(axis=1) / tokens[drawn].sum(axis=1)
    assert error == pytest.approx(means.std(), rel=0.05)


AVERAGED = (("average_last", 0.4), ("learning_rate", 0.02))
MUON = (("optimizer", "muon"), ("learning_rate", 0.02))


def trained(seeds, changes, buckets=BUCKETS, keeper=None, resumed=None):
    graph, members = learners(
        *seeds,
        model={"dropout": 0.1},
        batches=lambda seed: training_batches(
            copies(90, longest=12), 4, seed, groups=2, batch_tokens=60
        ),
        **{"updates": 45, "validations": 5, "learning_rate": 0.05} | dict(changes),
    )
    unseen = validation(count=SENTENCES)
    return graph, train(graph, members, unseen, silent, keeper, resumed, buckets)


undisturbed = cache(trained)


@pytest.mark.exhaustive(sample="session")
def test_the_losses_by_bucket_are_logged_with_each_validation():
    """At the last one of the weights that the training ends with; all is the same without them."""
    graph, end = undisturbed((3, 8), ())
    evaluate, alone = make_sentence_losses(graph), validation(count=SENTENCES, batch_size=1)
    tokens = target_tokens(alone)
    for place, item in enumerate(end.trained):
        losses = sentence_losses(evaluate, end.part(place).state.weights, alone)
        assert len(set(losses.round(4))) > 3
        last = item.log[-1].valid_buckets
        for name, rows in BUCKETS.items():
            assert last[name]["nats"] == pytest.approx(losses[rows].sum(), rel=1e-5)
            assert last[name]["tokens"] == tokens[rows].sum()
        for at in item.log:
            assert (at.valid_buckets is None) == (at.valid_loss is None) == (at.update % 9 != 0)
    first, second = (item.log[-1].valid_buckets for item in end.trained)
    assert first != second
    _, plain = trained((3, 8), (), buckets=None)
    assert same(end.state, plain.state)
    for ours, other in zip(end.trained, plain.trained, strict=True):
        assert same(ours.weights, other.weights)
        assert [at.valid_loss for at in ours.log] == [at.valid_loss for at in other.log]
        assert all(at.valid_buckets is None for at in other.log)


class StopsAfter:
    """Takes a snapshot after some updates, and ends the training there."""

    def __init__(self, count):
        self.left, self.snapshot = count, None

    def wanted(self):
        self.left -= 1
        return self.left == 0

    def keep(self, snapshot):
        self.snapshot = snapshot
        raise KeyboardInterrupt


def logged(end):
    """All that a training leaves of each seed but its weights and times."""
    return [
        [(at.update, at.loss, at.valid_loss, at.valid_buckets) for at in item.log]
        + [(item.best_update, item.valid_loss, item.target_tokens)]
        for item in end.trained
    ]


@pytest.mark.exhaustive(sample="test")
@pytest.mark.parametrize("seeds", [(4,), (3, 8)])
@pytest.mark.parametrize(
    ("changes", "stop"),
    [((), 14), (AVERAGED, 10), (AVERAGED, 35), (MUON, 14)],
    ids=["plain", "before the window", "within the window", "muon"],
)
def test_a_resumed_training_gives_the_same_bits(seeds, changes, stop):
    """Stopped between two reports: losses since the last are kept."""
    _, whole = undisturbed(seeds, changes)
    keeper = StopsAfter(stop)
    with pytest.raises(KeyboardInterrupt):
        trained(seeds, changes, keeper=keeper)
    assert int(np.max(keeper.snapshot.state.update)) == stop
    assert 0 < len(keeper.snapshot.losses) < stop
    _, resumed = trained(seeds, changes, resumed=keeper.snapshot)
    assert logged(resumed) == logged(whole)
    assert same(resumed.state, whole.state)
    pairs = zip(resumed.trained, whole.trained, strict=True)
    assert all(same(one.weights, other.weights) for one, other in pairs)


# The same numbers always.

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
    (8, "none", "input"): (3.1608145, 3.1528116),
    (8, "additive", "input"): (3.1676561, 3.1603849),
    (8, "dot", "output"): (3.1690100, 3.1675240),
}
"""Training and validation loss after eight updates, by schema version and arm."""


@pytest.mark.parametrize(("version", "attention", "placement"), few(GOLDEN, 3))
def test_losses_are_those_of_this_schema_version(version, attention, placement):
    """A change of numerics must raise SCHEMA_VERSION, so that runs are never mixed."""
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


# Seeds trained together, and batches cut among the cores: as they would be alone and uncut.

SEEDS = (3, 1, 8)
SHORT_MUON = {"optimizer": "muon", "learning_rate": 0.02, "updates": 8, "validations": 2}
EXACT = (2e-4, 2e-4)
ROUGH = (2e-3, 2e-5)
"""Relative and absolute tolerance of weights."""


def three(model=None, **training):
    """The structure, and a learner of each seed."""
    changes = {"updates": 30, "validations": 3, "learning_rate": 0.05, **training}
    return learners(*SEEDS, model=model, **changes)


def trained_together(graph, members, report=silent):
    return train(graph, members, validation(), report).trained


@pytest.mark.parametrize(
    ("model", "training", "tolerance"),
    few(
        [
            ({"attention": "none"}, {}, EXACT),
            ({"attention": "additive", "cell": "gru", "dropout": 0.3}, {}, EXACT),
            ({"attention": "dot", "placement": "output", "cell": "lstm"}, {}, EXACT),
            ({"attention": "dot"}, {"teacher_forcing": 0.5}, EXACT),
            ({}, SHORT_MUON, ROUGH),
            ({}, {**SHORT_MUON, "average_last": 0.4, "teacher_forcing": 0.8}, ROUGH),
        ],
        3,
    ),
)
def test_together_each_seed_ends_as_it_does_alone(model, training, tolerance):
    graph, members = three(model, **training)
    ends = []
    for item, learner in zip(trained_together(graph, members), members, strict=True):
        weights, settings, batches = learner
        alone = train_one((graph, weights), settings, batches)
        close(item.weights, alone.weights, *tolerance)
        assert item.target_tokens == alone.target_tokens
        if tolerance == EXACT:
            assert item.best_update == alone.best_update
            np.testing.assert_allclose(item.valid_loss, alone.valid_loss, rtol=1e-4)
            losses = [at.loss for at in item.log], [at.loss for at in alone.log]
            np.testing.assert_allclose(*losses, rtol=1e-4)
        ends.append(item.valid_loss)
    assert len({round(end, 4) for end in ends}) == len(SEEDS)  # else the seeds were one


@pytest.mark.slow
def test_one_that_diverges_does_not_harm_the_others():
    graph, members = three()
    whole = trained_together(graph, members)
    reports = []
    spoilt = [
        member._replace(weights=jax.tree.map(lambda leaf: leaf * jnp.nan, member.weights))
        for member in members
    ]
    hurt = [members[0], spoilt[1], members[2]]
    ends = trained_together(graph, hurt, lambda place, _: reports.append(place))
    assert [item.status for item in ends] == ["done", "diverged", "done"]
    assert set(reports) == {0, 2}
    assert ends[1].log == []
    for place in (0, 2):
        close(ends[place].weights, whole[place].weights, 0)
    end = train(graph, spoilt, validation(), silent)
    assert {item.status for item in end.trained} == {"diverged"}
    assert int(end.state.update[0]) < 30


@pytest.fixture(scope="module")
def two():
    """What a process of two devices finds, cut and uncut."""
    path = Path(two_cores.__file__)
    environment = os.environ | in_threads(2) | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, path], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.exhaustive(sample="session")
def test_the_process_has_two_devices_and_cuts_what_has_rows_enough(two):
    assert two["devices"] == 2
    assert two["parts"] == [2, 1]
    assert two["ready"]  # many programs under way at once can hang; see ``in_parts``
    whole, cut = two["dropped"]  # each part drops units of its own
    assert cut != pytest.approx(whole, rel=1e-6)
    assert cut == pytest.approx(whole, rel=0.1)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("arm", two_cores.ROWS)
def test_losses_weights_and_sentence_losses_are_those_of_one_device(two, arm):
    """And with smoothed labels the mean of weights."""
    whole, cut = two["pairs"][arm]
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(cut[0][0], whole[0][0], rtol=1e-6)
    assert len(whole[2]) == two_cores.ROWS[arm]


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("beam", [1, 3])
def test_a_search_in_parts_finds_what_one_device_finds(two, beam):
    tokens, scores = two["searches"][str(beam)]
    alone_tokens, alone_scores = two_cores.searched(beam)
    assert tokens == alone_tokens
    np.testing.assert_allclose(scores, alone_scores, rtol=1e-5)
    assert len(tokens) == 33


@pytest.mark.exhaustive(sample="session")
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
