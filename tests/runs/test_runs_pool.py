"""Processes that run: what happens when one dies, and that nothing half-written stays."""

import os
import signal

import pytest

from seq2seq_bottleneck.runs.pool import Job, run_jobs
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


def test_an_interrupt_ends_the_workers_and_leaves_no_run(tmp_path):
    jobs = [Job("long", resolve("smoke", [*COPY, "training.updates=100000"]))]

    def interrupt(_, event):
        if event.get("update"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, tmp_path, interrupt)
    assert [name for name in os.listdir(tmp_path) if not name.startswith(".")] == []


def test_a_store_that_cannot_be_written_is_told_as_a_users_error(tmp_path):
    (tmp_path / "store").write_text("a file where the store should be")
    (outcome,) = run_jobs(
        [Job("lost", resolve("smoke", COPY))], tmp_path / "store", lambda *_: None
    )
    assert outcome.phase == "failed"
    assert "cannot write" in outcome.reason
