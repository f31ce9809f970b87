"""The two ends of a cluster without one: what goes out, what is kept, what counts as stopped."""

import subprocess
import sys
from tempfile import TemporaryFile
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from distributed import Client, Future

from seq2seq_bottleneck.runs import remote
from seq2seq_bottleneck.runs.dispatch import ATTEMPTS, Dispatch
from seq2seq_bottleneck.runs.pool import Job
from seq2seq_bottleneck.runs.remote import STOPPED, Result, Runner
from seq2seq_bottleneck.runs.stacked import CHECKPOINT
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import resolve

SETTINGS = resolve("smoke", ["corpus.name=copy", "corpus.copy_words=20"])
DONE = {"status.json": b'{"status": "done", "reason": ""}', "scores.csv": b"old"}
BEGUN = {"status.json": b'{"status": "running", "reason": ""}', CHECKPOINT: b"ours"}


def dispatch(store, force):
    client = Mock(spec=Client)
    client.nthreads.return_value = {"there": 1}
    client.submit.side_effect = lambda *_, **__: Mock(spec=Future)
    return Dispatch(client, store, lambda *_: None, force)


def send(held):
    """The files that go out with the one run there is, and its task."""
    held._send()
    (task,) = held.out
    order = held.client.submit.call_args.args[2]
    return order.files, task


def planned(store, force):
    held = dispatch(store, force)
    held._plan([Job("one", SETTINGS)])
    return held


def with_an_old_result(store):
    """The store holds the run as done."""
    (cell,) = planned(store, force=True).waiting
    cell.folder.claim().release()
    cell.folder.replace(DONE)


def stopped(files):
    return Result({"phase": STOPPED, "reason": "its process was ended by signal 9"}, files)


def test_a_forced_run_that_was_ended_at_its_start_begins_anew_again(tmp_path):
    with_an_old_result(tmp_path)
    held = planned(tmp_path, force=True)
    for _ in range(2):
        files, task = send(held)
        assert files == {}
        held._receive(task, stopped({}))
    (folder,) = run_folders(tmp_path)
    assert folder.status == "done"  # until there is something in its place


def test_a_forced_run_goes_on_from_what_its_own_attempt_left(tmp_path):
    with_an_old_result(tmp_path)
    held = planned(tmp_path, force=True)
    files, task = send(held)
    held._receive(task, stopped(BEGUN))
    (folder,) = run_folders(tmp_path)
    assert folder.status == "running"
    files, task = send(held)
    assert files == BEGUN
    held._receive(task, Result({"phase": "done", "run": folder.run, "reason": ""}, DONE))
    assert held.outcomes["one"].phase == "done"
    assert not folder.in_use


def test_without_force_a_run_goes_on_from_its_folder(tmp_path):
    held = planned(tmp_path, force=False)
    held.waiting[0].folder.claim().release()
    held.waiting[0].folder.replace(BEGUN)
    files, _ = send(held)
    assert files == BEGUN


def test_a_run_that_is_always_ended_from_outside_fails_in_the_end(tmp_path):
    held = planned(tmp_path, force=False)
    for _ in range(ATTEMPTS):
        _, task = send(held)
        held._receive(task, stopped({}))
    assert held.outcomes["one"].phase == "failed"
    assert not held.waiting


def test_a_fault_while_a_run_is_sent_lets_go_of_it(tmp_path, monkeypatch):
    held = planned(tmp_path, force=False)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    folder = held.waiting[0].folder
    monkeypatch.setattr("seq2seq_bottleneck.runs.dispatch.take_part", refuse)
    with pytest.raises(PermissionError):
        held._send()
    assert not folder.in_use


SAYS_SO = 'print(\'{"place": 0, "phase": "failed", "reason": "its own"}\')'
FAULT = "raise ValueError('of the program')"
BY_A_SIGNAL = "import os; os.kill(os.getpid(), 9)"


@pytest.mark.parametrize(
    ("program", "phase", "reason"),
    [
        (SAYS_SO, "failed", "its own"),
        (FAULT, "failed", "ValueError: of the program"),
        (
            BY_A_SIGNAL,
            STOPPED,
            "its process was ended by signal 9; perhaps there was not enough memory: fewer --jobs "
            "need less",
        ),
        ("", STOPPED, "its process ended with code 0"),
    ],
)
def test_a_run_was_stopped_if_it_ended_without_a_word(monkeypatch, program, phase, reason):
    """A failure that the run tells itself is one, though its process then ends as it should."""
    worker = SimpleNamespace(get_current_task=lambda: "task")
    monkeypatch.setattr(remote, "get_worker", lambda: worker)
    runner = Runner("sweep", {})
    runner._processes, runner._closing = {}, False
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert runner._follow(process, errors) == {"phase": phase, "reason": reason}
