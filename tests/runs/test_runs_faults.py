"""A disk that is full or closed at any write, times that jump: one line, and then the same run."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from executing import executed, smoke
from ordinary_user import told_before

from seq2seq_bottleneck.runs.store import run_folders

PROGRAM = Path(__file__).with_name("faulty_disk.py")
WORDS = {"full": "File too large", "readonly": "Permission denied"}
LEAST_WRITES = 15
"""Files of a run's folder, and its statuses: what is written must be tried as a whole."""


@pytest.mark.exhaustive(minutes=3)
@pytest.mark.parametrize("fault", WORDS)
def test_a_fault_of_the_disk_at_any_write_is_one_line_and_then_mended(
    tmp_path: Path, fault: str
) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), fault]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "JAX_PLATFORMS": "cpu"}
    told = subprocess.run(
        told_before(command), capture_output=True, text=True, timeout=900, env=environment
    )
    assert told.returncode == 0, told.stderr[-2000:]
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    *broken, whole = rows
    assert len(broken) >= LEAST_WRITES
    assert whole["first"]["phase"] == "done"
    for row in broken:
        reason = row["first"]["reason"]
        assert row["first"]["phase"] == "failed", row
        assert "cannot write '" in reason, row
        assert WORDS[fault] in reason, row
        assert "\n" not in reason
        assert (row["again"], row["parts"]) == ("done", [])
        assert row["scores"] == whole["scores"]


@pytest.mark.exhaustive(sample="session")
def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    for name in ("weights.safetensors", "hypotheses.jsonl", "sentences.csv", "examples.json"):
        assert (even.path / name).read_bytes() == (jumping.path / name).read_bytes()
