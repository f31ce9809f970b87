"""The two ends of a cluster without one: what goes out, what is kept, what counts as stopped."""

import subprocess
import sys
from tempfile import TemporaryFile
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from distributed import Client, Future

from seq2seq_bottleneck.results.folders import CHECKPOINT, read_checked, read_settings
from seq2seq_bottleneck.runs import remote
from seq2seq_bottleneck.runs.dispatch import ATTEMPTS, Dispatch
from seq2seq_bottleneck.runs.pool import Job
from seq2seq_bottleneck.runs.remote import STOPPED, Result, Runner
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sums import SUMS, digest_of, read_sums, written

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
    monkeypatch.setattr("seq2seq_bottleneck.runs.dispatch.read_files", refuse)
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


def as_done(**changed):
    """A finished run's files as a worker sends them, some changed on the way."""
    files = {"scores.csv": b"new", "settings.json": b"{}"}
    listed = {name: [digest_of(content)] for name, content in files.items()}
    status = {"status.json": b'{"status": "done", "reason": ""}'}
    return files | {SUMS: written(listed)} | status | changed


def received(store, files):
    """How a run ended whose files came back so, and its folder."""
    held = planned(store, force=True)
    _, task = send(held)
    held._receive(task, Result({"phase": "done", "reason": ""}, files))
    return held.outcomes["one"], run_folders(store)


def test_the_sums_travel_and_list_the_settings_as_they_are_here(tmp_path):
    outcome, (folder,) = received(tmp_path, as_done())
    assert outcome.phase == "done"
    assert read_settings(folder.path) == SETTINGS
    assert read_checked(folder.path / "scores.csv") == b"new"
    assert sorted(read_sums(folder.path)) == ["scores.csv", "settings.json"]


@pytest.mark.parametrize("changed", [{"scores.csv": b"nev"}, {"more": b""}])
def test_files_that_came_otherwise_than_they_left_are_not_kept(tmp_path, changed):
    outcome, folders = received(tmp_path, as_done(**changed))
    assert (outcome.phase, folders) == ("failed", [])
    (name,) = changed
    assert outcome.reason == f"its {name} did not come as it left; the same command runs it again"
