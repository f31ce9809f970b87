"""A text of two million pairs: a sweep over it stays within 4 GB, driver and worker together."""

import random
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from seq2seq_bottleneck.results.bundle import load_bundle

pytestmark = pytest.mark.exhaustive(minutes=5)

PAIRS = 2_000_000
WORDS = [f"w{number}" for number in range(20_000)]
MOST = 4 * 10**9
"""Bytes."""
SWEEP = f"""# Does a large text fit?
preset = "smoke"
[corpus]
name = "files"
source = "large.tsv"
train_pairs = {PAIRS}
[model]
attention = "none"
"""


def write_pairs(path: Path) -> None:
    """Random sentences of 5 to 12 words, common words commoner, each with itself reversed."""
    source = random.Random(1)
    with path.open("w") as file:
        for _ in range(PAIRS):
            words = [
                WORDS[int(20_000 * source.random() ** 3)] for _ in range(source.randint(5, 12))
            ]
            file.write(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")


def most_memory(command: list[str], folder: Path) -> int:
    """Resident bytes of a command and its children, at the moment when they had most."""
    most = 0
    with subprocess.Popen(command, cwd=folder) as running:
        driver = psutil.Process(running.pid)
        while running.poll() is None:
            most = max(most, held(driver))
            time.sleep(0.1)
    assert running.returncode == 0
    return most


def held(driver: psutil.Process) -> int:
    try:
        family = [driver, *driver.children(recursive=True)]
        return sum(each.memory_info().rss for each in family)
    except psutil.NoSuchProcess:  # one ended meanwhile
        return 0


def test_two_million_pairs_are_trained_on_within_four_gigabytes(tmp_path):
    write_pairs(tmp_path / "large.tsv")
    (tmp_path / "large.toml").write_text(SWEEP)
    command = [sys.executable, "-m", "seq2seq_bottleneck", "sweep", "large.toml", "--quiet"]
    assert most_memory([*command, "--out", "out"], tmp_path) < MOST
    bundle = load_bundle(tmp_path / "out")
    assert bundle.runs["train_pairs"].iloc[0] > 0.99 * PAIRS
