"""A worker that finds no memory: its run fails and says so, the others' numbers are whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary_user import told_before

from seq2seq_bottleneck.results.bundle import load_results, tidy_csv
from seq2seq_bottleneck.results.folders import STATUS, STORE
from seq2seq_bottleneck.settings.errors import out_of_means

pytestmark = pytest.mark.exhaustive(sample="session")

SWEEP = """# What becomes of a cell that is too large for the machine?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
[model]
context_size = 8
[[group]]
name = "small"
model.attention = ["none", "dot"]
[[group]]
name = "huge"
model.attention = "none"
model.embedding_size = 1_048_576
"""
ADDRESSES = 6 * 10**9
"""Bytes of addresses that a process gets: enough for a small cell, far too few for the huge one."""


def swept(folder: Path, memory: int | None, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "seq2seq_bottleneck", "sweep", "mine.toml", "--out", "out"]
    return subprocess.run(
        told_before([*command, "--quiet", "--jobs", "2", *options], ordinary=False, memory=memory),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def numbers(folder: Path) -> str:
    timed = ["train_seconds", "train_tokens_per_second"]
    return tidy_csv(load_results(folder / "out").drop(columns=timed))


def statuses(folder: Path) -> list[str]:
    paths = (folder / "out" / STORE).glob(f"*/{STATUS}")
    return sorted(json.loads(path.read_text())["status"] for path in paths)


def test_a_worker_out_of_memory_loses_its_own_run_alone(tmp_path):
    """Begun again, only that one is tried; the others are as in a sweep without it."""
    limited, alone = tmp_path / "limited", tmp_path / "alone"
    for folder in (limited, alone):
        folder.mkdir()
    (limited / "mine.toml").write_text(SWEEP)
    (alone / "mine.toml").write_text(SWEEP.partition('[[group]]\nname = "huge"')[0])
    assert swept(alone, None).returncode == 0
    for _ in range(2):
        done = swept(limited, ADDRESSES)
        assert done.returncode == 3, done.stderr
        assert "2 of 3 cells done" in done.stdout
        assert str(out_of_means(MemoryError())) in " ".join(done.stdout.split())
        assert "Traceback" not in done.stderr + done.stdout
        assert statuses(limited) == ["done", "done", "failed"]
        assert numbers(limited) == numbers(alone)
