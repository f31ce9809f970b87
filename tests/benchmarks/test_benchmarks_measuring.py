"""What the benchmarks count and print, without timing anything."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from figures import ratio
from products import training_operations
from workload import ARMS, padding_share

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.settings.concerns import ModelSettings

pytestmark = pytest.mark.exhaustive(sample="session")

FOLDER = Path(__file__).parents[2] / "experiments" / "benchmarks"


def batch_of(source_lengths, target_lengths):
    longest = max(source_lengths), max(target_lengths)
    shapes = [(len(source_lengths), length) for length in longest]
    lengths = np.array(source_lengths, np.int32), np.array(target_lengths, np.int32)
    return Batch(
        np.zeros(shapes[0], np.int32), lengths[0], np.zeros(shapes[1], np.int32), lengths[1]
    )


@pytest.mark.parametrize(
    ("arm", "context"),
    [
        ("none", 3 * 3 * 3),
        ("dot", 6 * 3 * 9 + 2 * 4 * 6 * 3),
        ("additive", 6 * 3 * 9 + 4 * 9 + 6 * 9 + 2 * 4 * 6 * 3),
        ("dot-output", 6 * 6 * 3 + 2 * 4 * 6 * 3),
    ],
)
def test_operations_are_those_of_the_formula(arm, context):
    model = ModelSettings(embedding_size=2, context_size=3, **ARMS[arm])
    recurrence, output = (4 + 6) * (3 * 2 * 3 + 3 * 3 * 3), 6 * 3 * 5
    counted = training_operations(model, 5, [batch_of([4], [6])])
    assert counted == 6 * (recurrence + output + context)


@pytest.mark.parametrize("arm", ARMS)
def test_padding_counts_for_nothing_and_ranges_are_of_their_numbers(arm):
    model = ModelSettings(embedding_size=2, context_size=3, **ARMS[arm])
    apart = [batch_of([4], [6]), batch_of([2], [3])]
    together = [batch_of([4, 2], [6, 3])]
    assert training_operations(model, 5, apart) == training_operations(model, 5, together)
    assert padding_share(apart) == 0
    assert padding_share(together) == pytest.approx(1 - 15 / 20)
    assert ratio([2.0, 4.0, 9.0], [1.0, 4.0, 3.0]) == (4.0 / 3.0, 1.0, 3.0)


def test_training_is_timed_from_the_command_line(tmp_path):
    pytest.importorskip("torch", reason="PyTorch (extra `bench`) is not installed")
    tiny = "--arms dot --steps 2 --repeats 1 --embedding 4 --context 6 --batch 3 --length 4"
    command = [sys.executable, str(FOLDER / "train_speed.py"), *tiny.split(), "--product", "16"]
    done = subprocess.run(
        [*command, "--csv", str(tmp_path / "rows.csv")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[2:]] == [
        ["dot", "ours"], ["dot", "torch"]
    ]  # fmt: skip
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 3
