"""Batches cut among the cores of a process: the same losses, weights and outputs as uncut."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import two_cores

from seq2seq_bottleneck.runs.pool import in_threads

pytestmark = pytest.mark.exhaustive(sample="session")


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


def test_the_process_has_two_devices_and_cuts_what_has_rows_enough(two):
    assert two["devices"] == 2
    assert two["parts"] == [2, 1]


def test_nothing_is_left_under_way(two):
    """Many programs under way at once can hang; see ``in_parts``."""
    assert two["ready"]


@pytest.mark.parametrize("arm", [*map("-".join, two_cores.ARMS), "averaged", "muon"])
def test_losses_weights_and_sentence_losses_are_those_of_one_device(two, arm):
    """And with smoothed labels the mean of weights."""
    whole, cut = two["pairs"][arm]
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(cut[0][0], whole[0][0], rtol=1e-6)
    assert len(whole[2]) == two_cores.ROWS[arm]


def test_each_part_drops_units_of_its_own(two):
    whole, cut = two["dropped"]
    assert cut != pytest.approx(whole, rel=1e-6)
    assert cut == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_search_in_parts_finds_what_one_device_finds(two, beam):
    tokens, scores = two["searches"][f"33 {beam}"]
    alone_tokens, alone_scores = two_cores.searched(33, beam)
    assert tokens == alone_tokens
    np.testing.assert_allclose(scores, alone_scores, rtol=1e-5)
    assert len(tokens) == 33
