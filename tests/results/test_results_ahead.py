"""Files are asked for before they are read: all that a reader of a store reads, and no more."""

import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from seq2seq_bottleneck.results.ahead import PASSES, read_ahead

NAMES = [name for names in PASSES for name in names]


@pytest.fixture
def asked(monkeypatch):
    """How often each file was asked for; the system is asked, too."""
    held = Counter()
    really = os.posix_fadvise

    def listening(opened, *arguments):
        held[os.readlink(f"/proc/self/fd/{opened}")] += 1
        return really(opened, *arguments)

    monkeypatch.setattr(os, "posix_fadvise", listening)
    return held


def ahead(folder):
    """Read ahead, and wait for it."""
    before = set(threading.enumerate())
    read_ahead(folder)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def write_runs(store):
    for run in ("one", "two"):
        (store / run).mkdir(parents=True)
        for name in [*NAMES, "examples.json"]:
            (store / run / name).write_text("text")


@pytest.mark.parametrize("named", [".", "runs"])
def test_each_file_that_is_read_of_a_run_is_asked_for_once(named, asked, tmp_path):
    store = tmp_path / "runs"
    write_runs(store)
    ahead(tmp_path / named)
    assert asked == {str(store / run / name): 1 for run in ("one", "two") for name in NAMES}


def test_what_cannot_be_opened_keeps_nothing_from_the_rest(asked, tmp_path):
    """A pipe without a writer, a link to nothing, a folder that is none."""
    write_runs(tmp_path)
    for name, put in ((NAMES[0], os.mkfifo), (NAMES[-1], lambda path: path.symlink_to("nothing"))):
        (tmp_path / "one" / name).unlink()
        put(tmp_path / "one" / name)
    (tmp_path / "a").write_text("no folder")
    ahead(tmp_path)
    missed = {str(tmp_path / "one" / name) for name in (NAMES[0], NAMES[-1])}
    assert len({*asked} - missed) == 2 * len(NAMES) - 2


@pytest.mark.parametrize("named", ["nothing", "no\0name"])
def test_where_there_is_no_store_nothing_is_asked_or_said(named, asked, tmp_path):
    ahead(Path(f"{tmp_path}/{named}"))
    assert not asked
