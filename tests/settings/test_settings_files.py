"""Files appear whole or not at all, are listed in SHA256SUMS, and stay in their folder."""

import os
import subprocess
import sys
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest

from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import (
    check_file,
    check_place,
    is_name,
    read_sums,
    write_file,
    write_listed,
)


def test_a_file_is_written_with_its_folders_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "a" / "b" / "file.txt"
    write_file(path, "é\n")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UserError, match="No space left on device"):
        write_file(path, "new")
    assert path.read_bytes() == "é\n".encode()
    assert os.listdir(path.parent) == ["file.txt"]


def test_a_pipe_or_a_device_is_named_and_stays_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(UserError, match=f"{name}': it is a folder, a device or a pipe"):
            write_file(tmp_path / name, "new")
    for name in ("null", "stdout"):  # not written, because a fault would remove them
        with pytest.raises(UserError, match=f"{name}': it is a folder, a device or a pipe"):
            check_file(Path("/dev") / name)
    assert (tmp_path / "pipe").is_fifo()


def test_a_place_that_could_be_written_passes_and_others_are_named(tmp_path):
    (tmp_path / "x.png").write_text("old")
    check_file(tmp_path / "new" / "folder" / "x.png")
    assert os.listdir(tmp_path) == ["x.png"]
    with pytest.raises(UserError, match="it is a folder"):
        check_file(tmp_path)
    with pytest.raises(UserError, match=r"x\.png/out.*Not a directory"):
        check_place(tmp_path / "x.png" / "out")


# Checksums.


class Killed(BaseException):
    """Stands for the end of the process."""


def coreutils(folder: Path) -> int:
    """What `sha256sum -c` says about a folder."""
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def as_listed(folder: Path, name: str) -> bool:
    return sha256((folder / name).read_bytes()).hexdigest() in read_sums(folder)[name]


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
    assert all(as_listed(tmp_path, name) for name in (*old, "kept"))
    assert not (tmp_path / "c").exists() or as_listed(tmp_path, "c")
    # The next writer repairs everything.
    write_listed(tmp_path, new.items())
    assert coreutils(tmp_path) == 0
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


# Names from other people's files: none becomes a path out of its folder.

NO_NAMES = (
    *("..", "", "../a", "a/b", "/etc", "a\\b", "C:", "a\0b", "a\x1b[31m", "a\u202eb", "a\ud800"),
    *("é" * 121, ".hidden", 3, None),
)


def test_which_texts_name_a_file():
    assert not any(map(is_name, NO_NAMES))
    assert all(map(is_name, ("0123456789ab", "none-1", "scores.csv", "état", "文", "é" * 100)))
