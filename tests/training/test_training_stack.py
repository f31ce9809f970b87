"""Seeds trained together, and batches cut among the cores: as they would be alone and uncut."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import two_cores
from lanes import few
from tiny_training import close, learners, silent, train_one, validation

from seq2seq_bottleneck.model.parts import on_host
from seq2seq_bottleneck.runs.pool import in_threads
from seq2seq_bottleneck.training.loop import train

SEEDS = (3, 1, 8)
MUON = {"optimizer": "muon", "learning_rate": 0.02, "updates": 8, "validations": 2}
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
            ({}, MUON, ROUGH),
            ({}, {**MUON, "average_last": 0.4, "teacher_forcing": 0.8}, ROUGH),
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


def test_a_result_on_the_host_is_numpys_or_jaxs_own_error():
    result = on_host(jnp.arange(6).reshape(2, 3) * 2)
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert on_host([1.5, 2.5]).tolist() == [1.5, 2.5]
    deleted = jnp.ones(3)
    deleted.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        on_host(deleted)


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
