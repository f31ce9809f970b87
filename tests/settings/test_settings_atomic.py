"""Files appear whole or not at all, and faults name the file."""

import os
import stat
from pathlib import Path

import pytest

from seq2seq_bottleneck.settings.atomic import (
    check_file,
    check_place,
    check_writable,
    remove_empty,
    topmost_missing,
    write_text,
)
from seq2seq_bottleneck.settings.errors import UserError


def test_a_file_is_written_with_its_folders_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a" / "b" / "file.txt"
    write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    assert os.listdir(path.parent) == ["file.txt"]


def test_what_stood_there_stays_when_the_write_fails(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UserError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "taken").write_text("x")
    for option in ("--out", "--results"):
        with pytest.raises(UserError, match=f"taken.*name another with {option}"):
            check_writable(tmp_path / "taken" / "out", option)


def test_check_writable_leaves_nothing(tmp_path):
    check_writable(tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_file_that_could_be_written_passes_and_nothing_is_made(tmp_path):
    check_file(tmp_path / "new" / "folder" / "x.png")
    (tmp_path / "x.png").write_text("old")
    check_file(tmp_path / "x.png")
    check_place(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]


def test_a_file_that_could_not_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.png").write_text("old")
    for check, path, told in (
        (check_file, tmp_path, "it is a folder"),
        (check_file, tmp_path / "x.png" / "y.png", "Not a directory"),
        (check_place, tmp_path / "x.png", "Not a directory"),
    ):
        with pytest.raises(UserError, match=told):
            check(path)
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)  # root may write anywhere
    with pytest.raises(UserError, match=r"x\.png' \(Permission denied\)"):
        check_file(tmp_path / "new" / "x.png")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_named_and_stays_what_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    told = "': it is a device or a pipe; name a file"
    for path in (pipe, tmp_path / "link"):
        with pytest.raises(UserError, match=f"{path.name}{told}"):
            write_text(path, "new")
    for name in ("null", "stdout", "of no such name"):  # not written: a fault would take them away
        with pytest.raises(UserError, match=f"{name}{told}"):
            check_file(Path("/dev") / name)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_two_that_try_one_folder_at_once_do_not_meet(tmp_path, monkeypatch):
    tried, write = [], Path.write_bytes

    def slowly(path, content):
        """Another sweep tries the folder, and is through, while this one is at it."""
        written = write(path, content)
        tried.append(path.name)
        if len(tried) == 1:
            check_writable(tmp_path)
        return written

    monkeypatch.setattr(Path, "write_bytes", slowly)
    check_writable(tmp_path)
    assert len(set(tried)) == 2
    assert os.listdir(tmp_path) == []


def test_the_topmost_missing_folder_is_where_a_clean_up_begins(tmp_path):
    assert topmost_missing(tmp_path / "a" / "b") == tmp_path / "a"
    assert topmost_missing(tmp_path) is None


def test_remove_empty_keeps_what_holds_a_file(tmp_path):
    (tmp_path / "out" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    remove_empty(tmp_path / "out")
    remove_empty(tmp_path / "kept")
    assert os.listdir(tmp_path) == ["kept"]
