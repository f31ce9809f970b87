"""Processes that run: what happens when one dies, and that nothing half-written stays."""

import os
import signal

import pytest

from seq2seq_bottleneck.runs.checkpoint import Checkpoints
from seq2seq_bottleneck.runs.pool import Job, run_jobs
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import resolve

COPY = ["corpus.name=copy", "corpus.copy_words=20"]


def test_a_killed_worker_fails_alone(tmp_path):
    jobs = [
        Job("killed", resolve("smoke", [*COPY, "training.updates=100000"])),
        Job("lives", resolve("smoke", COPY)),
    ]
    process = {}

    def kill(job, event):
        process.setdefault(job.name, event.get("process"))
        if job.name == "killed" and event.get("update"):
            os.kill(process["killed"], signal.SIGKILL)

    first, second = run_jobs(jobs, tmp_path, kill)
    assert (first.phase, second.phase) == ("failed", "done")
    assert "signal 9" in first.reason
    assert (tmp_path / second.run / "scores.csv").is_file()


def test_an_interrupted_run_goes_on_to_the_same_weights(tmp_path):
    """Stopped in mid-training, then started again: bit for bit what an undisturbed run gives."""
    job = Job("long", resolve("smoke", [*COPY, "training.updates=400", "model.dropout=0.1"]))

    def interrupt(_, event):
        if event.get("update"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs([job], tmp_path / "stopped", interrupt)
    (folder,) = run_folders(tmp_path / "stopped")
    assert folder.status == "running"
    assert not folder.in_use
    assert (folder.path / Checkpoints.NAME).is_file()

    events = []
    (resumed,) = run_jobs([job], tmp_path / "stopped", lambda _, event: events.append(event))
    (whole,) = run_jobs([job], tmp_path / "whole", lambda *_: None)
    assert next(event["update"] for event in events if "update" in event) > 20
    assert resumed.run == whole.run == folder.run
    for name in ("weights.safetensors", "hypotheses.jsonl", "sentences.csv"):
        first = (tmp_path / "stopped" / resumed.run / name).read_bytes()
        assert first == (tmp_path / "whole" / whole.run / name).read_bytes()
    assert not (folder.path / Checkpoints.NAME).exists()


def test_a_finished_run_is_left_alone_unless_forced(tmp_path):
    job = Job("once", resolve("smoke", COPY))
    (first,) = run_jobs([job], tmp_path, lambda *_: None)
    path = tmp_path / first.run / "status.json"
    stamp = path.stat().st_mtime_ns
    phases = []
    run_jobs([job], tmp_path, lambda _, event: phases.append(event["phase"]))
    assert phases == ["starting", "preparing", "done"]
    assert path.stat().st_mtime_ns == stamp
    run_jobs([job], tmp_path, lambda *_: None, force=True)
    assert path.stat().st_mtime_ns != stamp


def test_two_at_once_on_one_run_do_it_once(tmp_path):
    settings = resolve("smoke", COPY)
    phases = {"one": [], "two": []}
    jobs = [Job(name, settings) for name in phases]
    outcomes = run_jobs(
        jobs, tmp_path, lambda job, event: phases[job.name].append(event["phase"]), width=2
    )
    assert outcomes[0].run == outcomes[1].run
    assert sorted("training" in seen for seen in phases.values()) == [False, True]


def test_a_store_that_cannot_be_written_is_told_as_a_users_error(tmp_path):
    (tmp_path / "store").write_text("a file where the store should be")
    (outcome,) = run_jobs(
        [Job("lost", resolve("smoke", COPY))], tmp_path / "store", lambda *_: None
    )
    assert outcome.phase == "failed"
    assert "cannot write" in outcome.reason
