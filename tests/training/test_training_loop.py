"""The loop: it learns, validates when due and by bucket, keeps the best, notices divergence."""

import subprocess
import sys
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lanes import few
from tiny_training import (
    StopsAfter,
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
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve
from seq2seq_bottleneck.training.loop import (
    by_bucket,
    sentence_losses,
    target_tokens,
    token_loss,
    train,
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


def test_the_best_weights_are_kept(restless):
    graph, _, trained, _ = restless
    losses = validated(trained)
    assert trained.status == "done"
    assert trained.valid_loss == min(losses.values()) == losses[trained.best_update]
    assert losses[50] > trained.valid_loss  # else the last weights would pass for the best
    again = token_loss(make_sentence_losses(graph), trained.weights, validation())
    np.testing.assert_allclose(again, trained.valid_loss, rtol=1e-6)


def test_it_validates_reports_and_counts_tokens(restless):
    _, settings, trained, reports = restless
    assert list(validated(trained)) == validation_updates(settings)
    assert reports == trained.log
    assert [at.update for at in reports] == sorted({*range(5, 51, 5), 20, 40})
    batches = stream()
    counts = [int(batches.batch(update).target_lengths.sum()) for update in range(settings.updates)]
    assert trained.target_tokens == sum(counts)


def test_fillers_do_not_count():
    """Six sentences in batches of four: each once, in the order of the corpus."""
    graph, weights = translator()
    weights, evaluate = spread_out(weights), make_sentence_losses(graph)
    filled, alone = validation(batch_size=4), validation(batch_size=1)
    losses = sentence_losses(evaluate, weights, filled)
    np.testing.assert_allclose(losses, sentence_losses(evaluate, weights, alone), rtol=1e-5)
    assert len(set(losses.round(4))) > 3
    tokens = target_tokens(filled)
    assert tokens.tolist() == copies(6, seed=9).target_lengths
    loss = token_loss(evaluate, weights, filled)
    np.testing.assert_allclose(loss, losses.sum() / tokens.sum(), rtol=1e-6)


@pytest.mark.exhaustive(sample="session")
def test_it_learns_to_copy():
    model = translator(attention="additive", cell="gru", embedding_size=8, context_size=16)
    settings = settings_of(
        updates=300, batch_size=16, learning_rate=0.02, warmup_updates=10, validations=1
    )
    batches = stream(count=64, batch_size=16, longest=3)
    held_out = validation(count=16, batch_size=16, longest=3)
    trained = train_one(model, settings, batches, held_out)
    assert trained.log[0].loss > 1.0
    assert trained.log[-1].loss < 0.1
    assert trained.valid_loss < 0.5


# Divergence.


@pytest.mark.slow
@pytest.mark.parametrize("number", [jnp.inf, jnp.nan])
def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(number):
    graph, weights = translator()
    weights = jax.tree.map(lambda leaf: leaf * number, weights)
    settings = settings_of(updates=3, validations=1)
    trained = train_one((graph, weights), settings, stream(), validation())
    assert trained.status == "diverged"
    assert "learning_rate" in trained.reason
    assert trained.weights is weights
    assert trained.best_update == 0


@pytest.mark.slow
@pytest.mark.parametrize("updates", [3, 1])
def test_a_huge_learning_rate_diverges(updates):
    """Also in the last update: its loss is from before it, validation alone sees what it did."""
    settings = settings_of(updates=updates, validations=1, learning_rate=1e38, clip_norm=1e6)
    trained = train_one(translator(), settings, stream(), validation())
    assert trained.status == "diverged"


# Losses by length bucket.

SENTENCES = 9
BUCKETS = {"a": np.array([0, 2, 5, 7]), "b": np.array([1]), "c": np.array([], np.int64)}
"""Places; three sentences are in no bucket."""


def test_sums_are_those_of_the_sentences_of_the_bucket():
    sums = by_bucket(np.arange(9.0), np.arange(1, 10), BUCKETS)
    keys = "sentences", "tokens", "nats"
    values = {name: tuple(bucket[key] for key in keys) for name, bucket in sums.items()}
    assert values == {"a": (4, 18, 14.0), "b": (1, 2, 1.0), "c": (0, 0, 0.0)}
    assert sums["b"]["standard_error"] is None
    assert sums["c"]["standard_error"] is None
    tokens = np.arange(1, 10)  # a loss in proportion to length has no error
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


def trained(*seeds, buckets=BUCKETS, keeper=None, resumed=None):
    graph, members = learners(*seeds, updates=30, validations=3, learning_rate=0.05)
    held_out = validation(count=SENTENCES)
    return graph, train(graph, members, held_out, silent, keeper, resumed, buckets)


@cache
def undisturbed(*seeds):
    """Trained once, and read by several tests."""
    return trained(*seeds)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("seeds", [(3,), (3, 8)])
def test_what_is_logged_is_of_the_weights_at_that_validation(seeds):
    """Which at the last one are the weights that the training ends with."""
    graph, end = undisturbed(*seeds)
    alone = validation(count=SENTENCES, batch_size=1)
    for place, item in enumerate(end.trained):
        weights = end.part(place).state.weights
        losses = sentence_losses(make_sentence_losses(graph), weights, alone)
        assert len(set(losses.round(4))) > 3
        for name, rows in BUCKETS.items():
            logged = item.log[-1].valid_buckets[name]
            np.testing.assert_allclose(logged["nats"], losses[rows].sum(), rtol=1e-5)


def test_losses_by_bucket_are_logged_where_validation_is_due_and_there_alone():
    _, end = undisturbed(3, 8)
    for item in end.trained:
        assert [at.update for at in item.log] == [10, 20, 30]
        for at in item.log:
            assert (at.valid_buckets is None) == (at.valid_loss is None)
            assert list(at.valid_buckets) == list(BUCKETS)
    first, second = ([at.valid_buckets for at in item.log] for item in end.trained)
    assert first != second
    _, end = trained(3, buckets={"all": np.arange(SENTENCES)})
    for at in end.trained[0].log:
        whole = at.valid_buckets["all"]
        assert whole["nats"] / whole["tokens"] == pytest.approx(at.valid_loss, rel=1e-12)


@pytest.mark.slow
def test_training_is_the_same_without_buckets():
    (_, end), (_, plain) = undisturbed(3, 8), trained(3, 8, buckets=None)
    assert same(end.state, plain.state)
    for ours, other in zip(end.trained, plain.trained, strict=True):
        assert same(ours.weights, other.weights)
        assert [at.valid_loss for at in ours.log] == [at.valid_loss for at in other.log]
        assert all(at.valid_buckets is None for at in other.log)


@pytest.mark.slow
def test_a_resumed_training_logs_the_same():
    keeper = StopsAfter(14)
    with pytest.raises(KeyboardInterrupt):
        trained(3, 8, keeper=keeper)
    assert len(keeper.snapshot.trained[0].log) == 1
    _, resumed = trained(3, 8, resumed=keeper.snapshot)
    for ours, other in zip(resumed.trained, undisturbed(3, 8)[1].trained, strict=True):
        assert [at.valid_buckets for at in ours.log] == [at.valid_buckets for at in other.log]


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
    (7, "none", "input"): (3.1608145, 3.1528116),
    (7, "additive", "input"): (3.1676561, 3.1603849),
    (7, "dot", "output"): (3.1690100, 3.1675240),
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


PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from tiny_training import leaves, settings_of, stream, train_one, translator, validation
seed = int(sys.argv[2])
model = translator(seed=seed, dropout=0.2)
trained = train_one(model, settings_of(seed=seed, updates=6), stream(seed=seed), validation())
assert trained.best_update > 0
print(hashlib.sha256(b"".join(leaf.tobytes() for leaf in leaves(trained.weights))).hexdigest())
"""


@pytest.mark.exhaustive(sample="session")
def test_two_processes_at_once_train_the_same_weights(request):
    folder = str(request.path.parent)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, folder, seed], stdout=subprocess.PIPE, text=True
        )
        for seed in ("1", "1", "2")
    ]
    one, again, other = (process.communicate(timeout=120)[0] for process in processes)
    assert all(process.returncode == 0 for process in processes)
    assert len(one.strip()) == 64
    assert one == again
    assert one != other
