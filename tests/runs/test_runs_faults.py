"""A disk that is full or closed at any write, times that jump: one line, and then the same run."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from executing import executed, same_results, smoke
from ordinary_user import told_before

from seq2seq_bottleneck.runs.store import run_folders

PROGRAM = Path(__file__).with_name("faulty_disk.py")


@pytest.mark.exhaustive(minutes=3)
@pytest.mark.parametrize(
    ("fault", "words"), [("full", "File too large"), ("readonly", "Permission denied")]
)
def test_a_fault_of_the_disk_at_any_write_is_one_line_and_then_mended(tmp_path, fault, words):
    command = [sys.executable, str(PROGRAM), str(tmp_path), fault]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "JAX_PLATFORMS": "cpu"}
    program = subprocess.run(
        told_before(command), capture_output=True, text=True, timeout=900, env=environment
    )
    assert program.returncode == 0, program.stderr[-2000:]
    *broken, whole = map(json.loads, program.stdout.splitlines())
    assert len(broken) >= 14  # the files of a run's folder, and its statuses
    assert whole["first"]["phase"] == "done"
    for row in broken:
        reason = row["first"]["reason"]
        assert row["first"]["phase"] == "failed", row
        assert "cannot write '" in reason, row
        assert words in reason, row
        assert "\n" not in reason
        assert (row["again"], row["parts"]) == ("done", [])
        assert row["scores"] == whole["scores"]


@pytest.mark.exhaustive(sample="session")
def test_a_clock_that_jumps_changes_nothing(tmp_path, monkeypatch):
    """Back and forth by years, and the times of files with it."""
    settings = smoke("training.updates=20", "scoring.resamples=20")
    assert executed(tmp_path / "even", settings)[-1]["phase"] == "done"
    jumps = random.Random(1)
    monkeypatch.setattr(time, "time", lambda: jumps.uniform(-1e9, 4e9))
    monkeypatch.setattr(time, "perf_counter", lambda: jumps.uniform(-1e9, 4e9))
    assert executed(tmp_path / "jumping", settings)[-1]["phase"] == "done"
    for path in (tmp_path / "jumping").rglob("*"):
        os.utime(path, (jumps.randrange(10**9), jumps.randrange(4 * 10**9)))
    assert executed(tmp_path / "jumping", settings)[-1]["phase"] == "done"
    monkeypatch.undo()
    (even,), (jumping,) = (run_folders(tmp_path / name) for name in ("even", "jumping"))
    assert same_results(even.path, jumping.path)
    examples = [(run.path / "examples.json").read_bytes() for run in (even, jumping)]
    assert examples[0] == examples[1]
