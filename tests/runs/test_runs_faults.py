"""A disk that is full or closed at any write: one line, and then the same run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary_user import told_before

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
