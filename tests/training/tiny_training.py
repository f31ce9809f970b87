"""A copying task, and translators that are small enough to train in a test."""

from functools import partial

import jax
import numpy as np
from tiny import EOS, random_weights

from seq2seq_bottleneck.corpus.batches import (
    Batch,
    EncodedPairs,
    evaluation_batches,
    training_batches,
)
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
from seq2seq_bottleneck.training.loop import Learner, train

WORDS = 8
spread_out = partial(random_weights, seed=2, spread=1.0)
"""The spread of random weights: large enough that no loss is near the uniform one."""


def settings_of(**changes):
    """Training settings for a few updates."""
    few = {"updates": 10, "batch_size": 4, "warmup_updates": 0, "validations": 2}
    return TrainingSettings(**{**few, **changes})


def translator(seed=1, **changes):
    """Structure and starting weights."""
    sizes = {"embedding_size": 3, "context_size": 4, "attention": "dot", "cell": "rnn"}
    return create(ModelSettings(**{**sizes, **changes}), WORDS, WORDS, seed)


def copies(count, longest=4, seed=0):
    """Sentences whose translation is themselves."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, longest + 1, count)
    sentences = [[*random.integers(4, WORDS, length).tolist(), EOS] for length in lengths]
    return EncodedPairs(sentences, [list(words) for words in sentences])


def stream(count=12, batch_size=4, seed=1, longest=4):
    """Training batches of one shape."""
    return training_batches(copies(count, longest), batch_size, seed, groups=1)


def validation(count=6, batch_size=4, longest=4):
    """Evaluation batches of one shape, the last filled up."""
    return evaluation_batches(copies(count, longest, seed=9), batch_size)


def one_batch():
    """Three pairs of unequal lengths, garbage in the padding."""
    source = np.array([[4, 5, 6, 2], [5, 2, 7, 7], [6, 7, 2, 4]], np.int32)
    target = np.array([[7, 4, 2, 6, 5], [4, 6, 5, 5, 2], [5, 2, 4, 6, 7]], np.int32)
    lengths = np.array([4, 2, 3], np.int32), np.array([3, 5, 2], np.int32)
    return Batch(source, lengths[0], target, lengths[1])


def train_one(model, settings, batches=None, held_out=None, report=lambda _: None):
    """Train one learner by itself; ``model`` is (structure, weights)."""
    learners = [Learner(model[1], settings, batches or stream())]
    end = train(model[0], learners, held_out or validation(), lambda _, at: report(at))
    return end.trained[0]


def learners(*seeds, model=None, batches=stream, **changes):
    """The structure, and a learner of each seed."""
    members = []
    for seed in seeds:
        graph, weights = translator(seed, **model or {})
        members.append(Learner(weights, settings_of(**changes, seed=seed), batches(seed=seed)))
    return graph, members


def leaves(tree):
    """The leaves as NumPy arrays."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(one, other):
    """Whether two trees are equal to the last bit."""
    return all(map(np.array_equal, leaves(one), leaves(other)))


def close(one, other, rtol, atol=None):
    """Assert that two trees are nearly equal."""
    for leaf, expected in zip(leaves(one), leaves(other), strict=True):
        np.testing.assert_allclose(leaf, expected, rtol=rtol, atol=rtol if atol is None else atol)


def validated(trained):
    """Validation losses by update."""
    return {at.update: at.valid_loss for at in trained.log if at.valid_loss is not None}


def silent(place, progress):
    """A report that is ignored."""
