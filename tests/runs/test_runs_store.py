"""The store has a whole run or none, whichever process is killed at whatever moment."""

import os
from types import SimpleNamespace

import pytest
from executing import killed_at, smoke

from seq2seq_bottleneck.results.folders import json_text
from seq2seq_bottleneck.runs.cluster import receive
from seq2seq_bottleneck.runs.store import locked, status_of

OLD = {"checkpoint.safetensors": b"old", "log.jsonl": b"old", "status.json": b'{"status": "done"}'}
DONE = b'{\n "status": "done",\n "reason": ""\n}\n'
SETTINGS = json_text(smoke().model_dump()).encode()
NEW = {"status.json": DONE, "log.jsonl": b"new", "settings.json": SETTINGS}
STEPS = ((os, "replace"), (os, "unlink"), (os, "rmdir"))


def files(run):
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name != "SHA256SUMS"}


@pytest.mark.parametrize("step", range(20))
def test_a_run_whose_replacement_is_killed_is_the_old_or_the_new_or_to_be_done(tmp_path, step):
    run = tmp_path / "one"
    run.mkdir()
    for name, content in OLD.items():
        (run / name).write_bytes(content)
    future = SimpleNamespace(result=lambda: ({"phase": "done", "run": "one"}, {**NEW}))
    with killed_at(step, *STEPS) as killed:
        receive(future, run, smoke())
    assert killed or step > 8
    with locked(run, wait=0.0):
        if status_of(run) == "done":
            assert files(run) in (OLD, NEW)
    assert killed or files(run) == NEW
    assert {path.name for path in run.parent.iterdir()} <= {".one.lock", "one"}
