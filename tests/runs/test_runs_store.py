"""The store: a run is there as a whole or not at all, whoever is killed at whatever moment."""

import os
import shutil

import pytest

from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.runs import store as store_module
from seq2seq_bottleneck.runs.store import RunFolder, run_folders, sweep_up
from seq2seq_bottleneck.settings.errors import UserError

OLD = {"checkpoint.safetensors": b"old", "log.jsonl": b"old", "status.json": b'{"status": "done"}'}
NEW = {"status.json": b'{"status": "running"}', "checkpoint.safetensors": b"new", "more": b"new"}


class Killed(BaseException):
    """The end of the process, in a test."""


@pytest.fixture
def run(tmp_path):
    folder = RunFolder(tmp_path, "one")
    folder.path.mkdir()
    for name, content in OLD.items():
        (folder.path / name).write_bytes(content)
    return folder


def files(run):
    return {path.name: path.read_bytes() for path in run.path.iterdir()}


def kill_at(monkeypatch, step):
    """From now on the process is killed as it begins its given step on the disk, from 0."""
    steps = iter(range(99))

    def stepping(real):
        def wrapped(*arguments, **named):
            if next(steps) == step:
                raise Killed
            return real(*arguments, **named)

        return wrapped

    monkeypatch.setattr(store_module, "write_bytes", stepping(store_module.write_bytes))
    monkeypatch.setattr(os, "replace", stepping(os.replace))
    monkeypatch.setattr(os, "unlink", stepping(os.unlink))
    monkeypatch.setattr(os, "rmdir", stepping(os.rmdir))


def is_killed(monkeypatch, step, run, work):
    """Do the work on the run, held, and say whether the process was killed in it at this step."""
    lock = run.claim()
    kill_at(monkeypatch, step)
    try:
        work()
    except Killed:
        return True
    else:
        return False
    finally:
        monkeypatch.undo()
        lock.release()


@pytest.mark.parametrize("step", range(15))
def test_a_run_whose_removal_is_killed_is_there_as_a_whole_or_gone(run, monkeypatch, step):
    killed = is_killed(monkeypatch, step, run, run.remove)
    assert killed or step > 3
    if run.path.exists():
        assert files(run) == OLD
    else:
        assert run_folders(run.store) == finished_runs(run.store) == []
    run.claim().release()  # the next who holds the run clears away what is left
    assert {path.name for path in run.store.iterdir()} <= {".one.lock", "one"}


@pytest.mark.parametrize("step", range(20))
def test_a_run_whose_replacement_is_killed_is_the_old_or_the_new(run, monkeypatch, step):
    killed = is_killed(monkeypatch, step, run, lambda: run.replace(NEW))
    assert killed or step > 8
    run.claim().release()
    assert files(run) in (OLD, NEW)
    assert killed or files(run) == NEW
    assert {path.name for path in run.store.iterdir()} <= {".one.lock", "one"}


def test_a_run_that_was_not_there_is_put_in(tmp_path):
    run = RunFolder(tmp_path, "two")
    run.claim().release()
    run.replace(NEW)
    assert files(run) == NEW
    assert [found.run for found in run_folders(tmp_path)] == ["two"]


def test_what_lies_aside_is_no_run(run):
    shutil.copytree(run.path, run.store / ".two.aside" / "new")
    assert [found.run for found in run_folders(run.store)] == ["one"]


def test_what_killed_processes_left_is_swept_up_but_not_under_anyones_hands(run):
    other = RunFolder(run.store, "two")
    lock = other.claim()
    for name in ("one", "two"):
        shutil.copytree(run.path, run.store / f".{name}.aside" / "old")
    sweep_up(run.store)
    lock.release()
    hidden = {path.name for path in run.store.glob(".*") if path.suffix != ".lock"}
    assert hidden == {".two.aside"}
    sweep_up(run.store)
    assert not (run.store / ".two.aside").exists()


def test_a_removal_that_is_refused_is_the_users_to_mend(run, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(UserError, match="Permission denied"):
        run.remove()
    assert files(run) == OLD
    assert not run.in_use
