"""Padding never matters: the same loss, gradient, logits and weights whatever lies behind."""

import jax
import numpy as np
import pytest
from flax import nnx
from losses import mean_loss
from tiny_model import (
    PAIRS,
    decoder_inputs_of,
    padded,
    random_translator,
    run_forward,
    settings_of,
)

from seq2seq_bottleneck.training.loss import token_losses

ARMS = [
    {"attention": "additive"},
    {"attention": "dot", "placement": "output", "cell": "gru", "bidirectional": True},
    {"attention": "none", "layers": 2, "residual": True, "cell": "rnn"},
]
SAME = {True: {"rtol": 1e-6, "atol": 1e-12}, False: {"rtol": 1e-5, "atol": 1e-6}}


def everything(graph):
    """weights, batch, inputs -> gradient of the mean loss, token losses, logits, weights."""

    def mean(weights, batch):
        return mean_loss(nnx.merge(graph, weights), batch, 1.0, None)

    def run(weights, batch, inputs):
        translator = nnx.merge(graph, weights)
        logits, read = translator.logits(batch.source, batch.source_lengths, inputs)
        return jax.grad(mean)(weights, batch), token_losses(translator, batch), logits, read

    return jax.jit(run)


def measured(compiled, weights, batch):
    """Everything that must not depend on padding, cut to the unpadded batch's size."""
    sources, targets = (max(len(pair[side]) for pair in PAIRS) for side in (0, 1))
    gradient, losses, logits, read = compiled(weights, batch, decoder_inputs_of(batch))
    logits, read = np.asarray(logits), np.asarray(read)
    real = np.arange(targets)[None] < np.asarray(batch.target_lengths)[:, None]
    cut = np.asarray(losses)[:, :targets], logits[:, :targets][real], read[:, :targets, :sources]
    return jax.tree.leaves(gradient), cut[0], cut[1], cut[2][real]


def check(arm, double):
    """An unpadded-as-can-be batch against wider ones, bare and full of garbage."""
    graph, weights = random_translator(settings_of(**arm))
    compiled = everything(graph)
    expected = measured(compiled, weights, padded())
    for batch in (padded(extra=3), padded(extra=3, garbage=np.random.default_rng(7))):
        found = measured(compiled, weights, batch)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, **SAME[double])


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm["attention"])
def test_padding_changes_nothing(arm):
    check(arm, double=True)


@pytest.mark.slow
def test_padding_changes_nothing_in_float32():
    check(ARMS[0], double=False)


@pytest.mark.slow
@pytest.mark.usefixtures("float64")
def test_a_sentences_neighbours_change_nothing():
    """Alone in its batch, a sentence gets what it gets among others."""
    graph, weights = random_translator(settings_of(attention="general", bidirectional=True))
    together, _ = run_forward(graph, weights, padded())
    alone, _ = run_forward(graph, weights, padded(PAIRS[1:2]))
    np.testing.assert_allclose(together[1, :2], alone[0], rtol=1e-9)


@pytest.mark.usefixtures("float64")
def test_losses_are_exactly_zero_on_padding():
    graph, weights = random_translator(settings_of())
    batch = padded(extra=2, garbage=np.random.default_rng(7))
    losses = jax.jit(lambda given: token_losses(nnx.merge(graph, weights), given))(batch)
    real = np.arange(batch.target.shape[1])[None] < np.asarray(batch.target_lengths)[:, None]
    assert np.all(np.asarray(losses)[~real] == 0.0)
    assert np.all(np.asarray(losses)[real] > 0.0)
