"""Runs with many updates a dispatch: the same run, stopped and gone on with."""

import json

import numpy as np
import pandas as pd
import pytest

from seq2seq_bottleneck.runs.checkpoint import Checkpoints, StopRequest
from seq2seq_bottleneck.runs.pool import Job, run_jobs
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.runs.stacked import CHECKPOINT
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="session")

COPY = resolve(
    "smoke",
    ["corpus.name=copy", "corpus.copy_words=20", "training.updates=50", "scoring.resamples=9"],
)


class Killed(BaseException):
    """The end of the process, in a test."""


def go(store, together, kill_at=None):
    """One run in this process; which updates it reported."""
    heard = []

    def report(_, event):
        heard.append(event)
        if kill_at and event.get("update") == kill_at:
            raise Killed

    execute([COPY], store, report, StopRequest(), updates_together=together)
    assert heard[-1]["phase"] == "done"
    return [event["update"] for event in heard if event.get("update")]


def environment(folder):
    return json.loads((folder.path / "environment.json").read_text())


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    assert go(tmp_path / "whole", 7) == [20, 25, 40, 50]
    monkeypatch.setattr(Checkpoints, "EVERY", 0)
    with pytest.raises(Killed):
        go(tmp_path / "stopped", 7, kill_at=40)
    (stopped,) = run_folders(tmp_path / "stopped")
    assert (stopped.path / CHECKPOINT).is_file()
    assert go(tmp_path / "stopped", 7) == [40, 50]
    (whole,) = run_folders(tmp_path / "whole")
    assert stopped.run == whole.run
    for name in ("weights.safetensors", "hypotheses.jsonl", "sentences.csv"):
        assert (stopped.path / name).read_bytes() == (whole.path / name).read_bytes()
    assert environment(stopped)["updates_together"] == 7


def test_a_worker_takes_the_number_and_gives_what_single_updates_give(tmp_path):
    losses = []
    for together in (None, 20):
        store = tmp_path / str(together)
        (outcome,) = run_jobs([Job("one", COPY)], store, lambda *_: None, updates_together=together)
        assert outcome.phase == "done"
        (folder,) = run_folders(store)
        assert environment(folder)["updates_together"] == (together or 1)
        losses.append(pd.read_csv(folder.path / "scores.csv")["nll_per_token"])
    np.testing.assert_allclose(*losses, rtol=1e-6)
