"""Two hundred cells, disturbed on the way: all done, nothing left over, and memory stays flat."""

import random
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from disturbed import KINDS, LONGEST, Disturbed, disturb, ended, numbers

from seq2seq_bottleneck.runs.store import run_folders

pytestmark = pytest.mark.exhaustive(minutes=30)
CELLS, SEEDS = 200, 20
SWEEP = """# Does a long sweep end?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 20
max_words = 14
train_pairs = 100
valid_pairs = 10
test_pairs = 20
[model]
attention = ["none", "dot"]
context_size = [4, 6, 8, 10, 12]
[training]
updates = 6
validations = 2
[scoring]
resamples = 10
"""
KILLS = 20
"""How often something is killed or stopped, at random moments of the first half."""
FEWEST = 80
"""Runs that the last command does undisturbed, over which memory is looked at."""
GROWTH = 2**25
"""Bytes that the driver may grow by from the first quarter of these to the last: 32 MiB."""


def done(folder: Path) -> int:
    return sum(run.status == "done" for run in run_folders(folder / "runs"))


def watched(process: subprocess.Popen, folder: Path) -> list[tuple[int, int]]:
    """Runs done and the driver's memory in bytes, time after time until it ends."""
    driver, found = psutil.Process(process.pid), []
    end = time.monotonic() + LONGEST
    while not ended(process, 2.0):
        assert time.monotonic() < end, "it does not end"
        try:
            found.append((done(folder), driver.memory_info().rss))
        except psutil.NoSuchProcess:
            break
    return found


def killed_on_the_way(sweep: Disturbed, folder: Path, kills: int) -> None:
    """The command, disturbed so often, at moments when less than half of the cells are done."""
    draw, moments = random.Random(2), np.linspace(0.02, 0.5, kills) * CELLS
    process = sweep.begin(folder)
    for number, moment in enumerate(moments):
        while done(folder) < moment and not ended(process, draw.uniform(0.0, 0.5)):
            pass
        if process.poll() is not None:  # a killed worker may have been all that was left to do
            process = sweep.begin(folder)
        kind = KINDS[number % len(KINDS)]
        disturb(process, kind, draw)
        if kind != "worker":
            process = sweep.begin(folder)
    process.kill()
    process.communicate()


def test_two_hundred_cells_with_random_kills(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(SWEEP)
    sweep = Disturbed(tmp_path / "long.toml", tmp_path / "cache", ("--seeds", str(SEEDS)))
    folder = tmp_path / "out"
    killed_on_the_way(sweep, folder, KILLS)
    assert CELLS - done(folder) >= FEWEST
    process = sweep.begin(folder)
    memory = watched(process, folder)
    assert process.returncode == 0
    assert done(folder) == CELLS
    assert not list(tmp_path.rglob("*.part"))
    first, last = np.array_split([size for _, size in memory], 4)[::3]
    assert np.median(last) - np.median(first) < GROWTH

    few = ("--set", "model.context_size=8", "--set", "training.seed=3,17")
    undisturbed = replace(sweep, options=few).finish(tmp_path / "few")
    held = set(numbers(folder).splitlines())
    assert set(undisturbed.splitlines()) <= held
