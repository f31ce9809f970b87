"""The store has a whole run or none, whichever process is killed at whatever moment."""

import os

import pytest
from executing import killed_at

from seq2seq_bottleneck.runs.store import locked, replace_run, status_of

OLD = {"checkpoint.safetensors": b"old", "log.jsonl": b"old", "status.json": b'{"status": "done"}'}
DONE = b'{\n "status": "done",\n "reason": ""\n}\n'
NEW = {"status.json": DONE, "log.jsonl": b"new", "more": b"new"}
STEPS = ((os, "replace"), (os, "unlink"), (os, "rmdir"))


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "one"
    folder.mkdir()
    for name, content in OLD.items():
        (folder / name).write_bytes(content)
    return folder


def files(run):
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name != "SHA256SUMS"}


@pytest.mark.parametrize("step", range(20))
def test_a_run_whose_replacement_is_killed_is_the_old_or_the_new_or_to_be_done(run, step):
    with locked(run), killed_at(step, *STEPS) as killed:
        replace_run(run, NEW)
    assert killed or step > 8
    with locked(run, wait=0.0):
        if status_of(run) == "done":
            assert files(run) in (OLD, NEW)
    assert killed or files(run) == NEW
    assert {path.name for path in run.parent.iterdir()} <= {".one.lock", "one"}
