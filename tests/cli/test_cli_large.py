"""A text of two million pairs: a sweep over it stays within 4 GB, driver and worker together."""

import random
import subprocess
import sys
import time

import psutil
import pytest

from seq2seq_bottleneck.results.bundle import load_bundle

PAIRS = 2_000_000
WORDS = [f"w{number}" for number in range(20_000)]
SWEEP = f"""# Does a large text fit?
preset = "smoke"
[corpus]
name = "files"
source = "large.tsv"
train_pairs = {PAIRS}
[model]
attention = "none"
"""


def pairs():
    """Random sentences of 5 to 12 words, common words commoner, each with itself reversed."""
    draw = random.Random(1)
    for _ in range(PAIRS):
        words = [WORDS[int(20_000 * draw.random() ** 3)] for _ in range(draw.randint(5, 12))]
        yield f"{' '.join(words)}\t{' '.join(reversed(words))}\n"


def resident(process):
    """Bytes of a process and its children."""
    try:
        return sum(
            member.memory_info().rss for member in (process, *process.children(recursive=True))
        )
    except psutil.NoSuchProcess:  # one ended meanwhile
        return 0


@pytest.mark.exhaustive(minutes=5)
def test_two_million_pairs_are_trained_on_within_four_gigabytes(tmp_path):
    with (tmp_path / "large.tsv").open("w") as file:
        file.writelines(pairs())
    (tmp_path / "large.toml").write_text(SWEEP)
    command = [sys.executable, "-m", "seq2seq_bottleneck", "sweep", "large.toml", "--quiet"]
    most = 0
    with subprocess.Popen([*command, "--out", "out"], cwd=tmp_path) as running:
        while running.poll() is None:
            most = max(most, resident(psutil.Process(running.pid)))
            time.sleep(0.1)
    assert running.returncode == 0
    assert most < 4 * 10**9
    assert load_bundle(tmp_path / "out").runs["train_pairs"].iloc[0] > 0.99 * PAIRS
