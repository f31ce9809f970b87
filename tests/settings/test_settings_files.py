"""Files appear whole or not at all, are listed in sums, and stay in their folder."""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import write_begun, write_planted

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.runs.store import RunFolder, sweep_up
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import (
    SUMS,
    check_file,
    check_place,
    digest_of,
    is_name,
    of_one_time,
    parsed,
    read_sums,
    seal,
    write_bytes,
    write_listed,
    write_text,
)
from seq2seq_bottleneck.settings.run import resolve


def test_a_file_is_written_with_its_folders_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "a" / "b" / "file.txt"
    write_text(path, "é\n")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UserError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_bytes() == "é\n".encode()
    assert os.listdir(path.parent) == ["file.txt"]


def test_a_pipe_or_a_device_is_named_and_stays_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(UserError, match=f"{name}': it is a folder, a device or a pipe"):
            write_text(tmp_path / name, "new")
    for name in ("null", "stdout", "of no such name"):  # not written: a fault would take them away
        with pytest.raises(UserError, match=f"{name}': it is a folder, a device or a pipe"):
            check_file(Path("/dev") / name)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_parts_of_dead_processes_of_this_machine_go_and_no_others(tmp_path, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    monkeypatch.setattr(
        os, "replace", lambda *_: None
    )  # its part stays, as of a process that lives
    write_bytes(tmp_path / "a", b"ours")
    monkeypatch.undo()
    ours = f"-{os.getpid()}.part"
    (part,) = tmp_path.iterdir()
    others = [f".a.elsewhere-{dead.pid}.part", part.name.replace(ours, f"-{os.getppid()}.part")]
    for name in (*others, part.name.replace(ours, f"-{dead.pid}.part")):
        (tmp_path / name).touch()
    write_bytes(tmp_path / "b", b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"b", part.name, *others}


def test_a_place_that_could_be_written_passes_and_others_are_named(tmp_path, monkeypatch):
    (tmp_path / "x.png").write_text("old")
    check_file(tmp_path / "new" / "folder" / "x.png")
    check_file(tmp_path / "x.png")
    check_place(tmp_path / "new")
    assert os.listdir(tmp_path) == ["x.png"]
    for check, path, reason in (
        (check_file, tmp_path, "it is a folder"),
        (check_file, tmp_path / "x.png" / "y.png", "Not a directory"),
        (check_place, tmp_path / "x.png" / "out", r"x\.png/out.*Not a directory"),
    ):
        with pytest.raises(UserError, match=reason):
            check(path)
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)  # root may write anywhere
    with pytest.raises(UserError, match=r"x\.png' \(Permission denied\)"):
        check_file(tmp_path / "new" / "x.png")


# Checksums.


class Killed(BaseException):
    """The end of the process, in a test."""


def coreutils(folder: Path) -> int:
    """What `sha256sum -c` says of a folder."""
    command = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def as_listed(folder: Path, name: str) -> bool:
    return digest_of((folder / name).read_bytes()) in read_sums(folder)[name]


def test_coreutils_agree_until_a_file_is_changed_or_lost(tmp_path):
    write_listed(tmp_path, [("a", b"1\n"), ("probes/b", "é".encode()), ("c", b"")])
    assert sorted(read_sums(tmp_path)) == ["a", "c", "probes/b"]
    assert coreutils(tmp_path) == 0
    (tmp_path / "a").write_bytes(b"2\n")
    assert coreutils(tmp_path) == 1
    (tmp_path / "a").unlink()
    write_listed(tmp_path, [("d", b"1")])
    assert list(read_sums(tmp_path)) == ["a", "c", "d", "probes/b"]  # it stays listed
    assert coreutils(tmp_path) == 1
    write_listed(tmp_path, [("a", b"2")], ["d", "never there"])
    assert coreutils(tmp_path) == 0
    assert not (tmp_path / "d").exists()
    assert "d" not in read_sums(tmp_path)


def test_a_sealed_folder_lists_all_but_what_is_left_out_and_hidden(tmp_path):
    for name in ("a", "status.json", ".hidden"):
        (tmp_path / name).write_text(name)
    for _ in range(2):  # its own sums are not among them
        seal(tmp_path, ("status.json",))
    assert list(read_sums(tmp_path)) == ["a"]
    assert coreutils(tmp_path) == 0


@given(st.binary())
def test_any_bytes_are_read_as_some_sums(content):
    assert all(parsed(content).values())


@pytest.mark.parametrize("step", range(14))
def test_killed_at_any_step_each_file_is_the_old_or_the_new_and_listed(tmp_path, monkeypatch, step):
    old, new = {"a": b"old", "probes/b": b"old"}, {"a": b"new", "probes/b": b"new", "c": b"new"}
    write_listed(tmp_path, [*old.items(), ("kept", b"kept")])
    steps = count()

    def stepping(real):
        def wrapped(*arguments, **named):
            if next(steps) == step:
                raise Killed
            return real(*arguments, **named)

        return wrapped

    for name in ("replace", "fsync"):
        monkeypatch.setattr(os, name, stepping(getattr(os, name)))
    try:
        write_listed(tmp_path, new.items())
        killed = False
    except Killed:
        killed = True
    monkeypatch.undo()
    assert killed or step >= 10
    existing = {name: (tmp_path / name).read_bytes() for name in old}
    assert all(existing[name] in (old[name], new[name]) for name in existing)
    assert killed or existing == {name: new[name] for name in old}
    assert all(as_listed(tmp_path, name) for name in (*old, "kept"))
    assert not (tmp_path / "c").exists() or as_listed(tmp_path, "c")
    # What is of both times is known, and only that.
    assert of_one_time(tmp_path, old) == (len(set(existing.values())) == 1)
    # And whoever writes next puts all of it right.
    write_listed(tmp_path, new.items())
    assert coreutils(tmp_path) == 0
    assert of_one_time(tmp_path, new)
    assert not list(tmp_path.rglob("*.part"))


SLOWLY = """
import sys
from pathlib import Path
from seq2seq_bottleneck.settings.files import write_listed
folder, name = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    write_listed(folder, [(f"{name}{number}", name.encode())])
"""


def test_two_processes_that_write_at_once_lose_no_line(tmp_path):
    both = [
        subprocess.Popen([sys.executable, "-c", SLOWLY, str(tmp_path), name]) for name in ("a", "b")
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    assert len(read_sums(tmp_path)) == 40
    assert coreutils(tmp_path) == 0


def test_what_cannot_be_written_is_the_users_to_mend_and_changes_nothing(tmp_path):
    write_listed(tmp_path, [("a", b"old")])
    (tmp_path / "b").mkdir()
    with pytest.raises(UserError, match="cannot write"):
        write_listed(tmp_path, [("a", b"new"), ("b", b"new")])
    assert not list(tmp_path.rglob("*.part"))
    assert as_listed(tmp_path, "a")


# Names from files that somebody else wrote: none becomes a path out of its folder.

NO_NAMES = (
    *("..", ".", "", "../a", "a/b", "/etc", "a\\b", "C:", "a\0b", "a\nb", "a\x1b[31m"),
    *("a\u202eb", "\ufeffa", "a\ud800", "a\u2028b", "é" * 101, ".hidden", 3, None, ["a"]),
)
NAMES = ("0123456789ab", "none-1", "scores.csv", "état", "文", "a" * 200, "é" * 100)


@pytest.mark.parametrize(
    ("text", "named"), [*((text, False) for text in NO_NAMES), *((text, True) for text in NAMES)]
)
def test_what_is_a_name(text, named):
    assert is_name(text) == named


@pytest.mark.slow
@given(st.text())
def test_a_name_stays_in_its_folder(text):
    if is_name(text):
        joined = os.path.normpath(os.path.join("/store", text))
        assert (os.path.dirname(joined), os.path.basename(joined)) == ("/store", text)


@pytest.mark.parametrize("name", ["../precious", "/tmp/x", "..", "a/b", ""])
def test_what_comes_back_from_another_machine_stays_in_its_folder(tmp_path, name):
    write_begun(tmp_path, "run", resolve("smoke"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="not kept"):
        RunFolder(tmp_path / "runs", "run").replace({"status.json": b"{}", name: b"x"})
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", ".", "a/b", "a\\b", "\u202ea"])
def test_a_run_of_a_bundle_that_names_another_folder_is_refused(tmp_path, name):
    write_planted(tmp_path, {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.rmtree(tmp_path / "runs")
    assert set(Results.open(tmp_path).runs["run"]) == {"none1x1", "additive1x1"}
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace("none1x1", name))
    with pytest.raises(UserError, match=r"runs\.csv"):
        Results.open(tmp_path)


def test_a_folder_aside_of_no_run_is_left_alone(tmp_path):
    """``..aside`` is that of a run without a name: the store itself."""
    write_begun(tmp_path, "run", resolve("smoke"))
    (tmp_path / "runs" / "..aside").mkdir()
    sweep_up(tmp_path / "runs")
    assert RunFolder(tmp_path / "runs", "run").status == "running"
    assert (tmp_path / "runs" / "..aside").is_dir()
