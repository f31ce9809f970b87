"""Sums of a folder: as coreutils checks them, and readable whenever a writer is killed."""

import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.settings.atomic import remove_parts, write_bytes, write_part
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.sums import (
    SUMS,
    digest_of,
    of_one_time,
    parsed,
    read_sums,
    seal,
    write_listed,
    written,
)


class Killed(BaseException):
    """The end of the process, in a test."""


def coreutils(folder: Path) -> int:
    """What `sha256sum -c` says of a folder."""
    command = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def as_listed(folder: Path, name: str) -> bool:
    return digest_of((folder / name).read_bytes()) in read_sums(folder)[name]


def test_a_known_digest() -> None:
    """NIST's example of one block."""
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_of(b"abc") == known
    assert written({"a.csv": [known]}) == f"{known}  a.csv\n".encode()


def test_coreutils_agree(tmp_path: Path) -> None:
    write_listed(tmp_path, [("a.csv", b"1\n"), ("probes/b.csv", "é".encode()), ("empty", b"")])
    assert sorted(read_sums(tmp_path)) == ["a.csv", "empty", "probes/b.csv"]
    assert coreutils(tmp_path) == 0
    (tmp_path / "a.csv").write_bytes(b"2\n")
    assert coreutils(tmp_path) == 1


def test_a_sealed_folder_lists_all_but_what_is_left_out_and_hidden(tmp_path: Path) -> None:
    for name in ("a", "status.json", ".hidden"):
        (tmp_path / name).write_text(name)
    seal(tmp_path, ("status.json",))
    seal(tmp_path, ("status.json",))  # its own sums are not among them
    assert list(read_sums(tmp_path)) == ["a"]
    assert coreutils(tmp_path) == 0


@given(st.binary())
def test_any_bytes_are_read_as_some_sums(content: bytes) -> None:
    found = parsed(content)
    assert all(digests for digests in found.values())


def test_files_that_are_gone_are_listed_no_more(tmp_path: Path) -> None:
    write_listed(tmp_path, [("a", b"1"), ("b", b"1")])
    write_listed(tmp_path, [], ["a", "never there"])
    assert list(read_sums(tmp_path)) == ["b"]
    assert not (tmp_path / "a").exists()
    assert coreutils(tmp_path) == 0


def test_a_file_that_was_lost_stays_listed_until_it_is_written_again(tmp_path: Path) -> None:
    write_listed(tmp_path, [("a", b"1"), ("b", b"1")])
    (tmp_path / "a").unlink()
    write_listed(tmp_path, [("c", b"1")])
    assert list(read_sums(tmp_path)) == ["a", "b", "c"]
    assert coreutils(tmp_path) != 0
    write_listed(tmp_path, [("a", b"2")])
    assert coreutils(tmp_path) == 0


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """The process is killed as it begins its given step on the disk, from 0."""
    steps = count()

    def stepping(real):
        def wrapped(*arguments, **named):
            if next(steps) == step:
                raise Killed
            return real(*arguments, **named)

        return wrapped

    for name in ("replace", "fsync", "unlink"):
        monkeypatch.setattr(os, name, stepping(getattr(os, name)))


@pytest.mark.parametrize("step", range(16))
def test_killed_at_any_step_each_file_is_the_old_or_the_new_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    old, new = {"a": b"old", "probes/b": b"old"}, {"a": b"new", "probes/b": b"new", "c": b"new"}
    write_listed(tmp_path, [*old.items(), ("kept", b"kept")])
    kill_at(monkeypatch, step)
    try:
        write_listed(tmp_path, new.items())
        killed = False
    except Killed:
        killed = True
    monkeypatch.undo()
    assert killed or step > 12
    held = {name: (tmp_path / name).read_bytes() for name in old}
    assert all(held[name] in (old[name], new[name]) for name in held)
    assert killed or held == {name: new[name] for name in old}
    assert all(as_listed(tmp_path, name) for name in (*old, "kept"))
    assert not (tmp_path / "c").exists() or as_listed(tmp_path, "c")
    # What is of both times is known, and only that.
    assert of_one_time(tmp_path, old) == (len(set(held.values())) == 1)
    # And whoever writes next puts all of it right.
    write_listed(tmp_path, new.items())
    assert coreutils(tmp_path) == 0
    assert of_one_time(tmp_path, new)
    assert not list(tmp_path.rglob("*.part"))


SLOWLY = """
import sys, time
from pathlib import Path
from seq2seq_bottleneck.settings.sums import write_listed
folder, name = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    write_listed(folder, [(f"{name}{number}", name.encode())])
"""


def test_two_processes_that_write_at_once_lose_no_line(tmp_path: Path) -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", SLOWLY, str(tmp_path), name]) for name in ("a", "b")
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    assert len(read_sums(tmp_path)) == 40
    assert coreutils(tmp_path) == 0


def test_what_cannot_be_written_is_the_users_to_mend_and_changes_nothing(tmp_path: Path) -> None:
    write_listed(tmp_path, [("a", b"old")])
    (tmp_path / "b").mkdir()
    with pytest.raises(UserError, match="cannot write"):
        write_listed(tmp_path, [("a", b"new"), ("b", b"new")])
    assert not list(tmp_path.rglob("*.part"))
    assert as_listed(tmp_path, "a")


def dead_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_parts_of_dead_processes_go_those_of_living_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = write_part(tmp_path / "a", [b"mine"])
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        living = mine.rename(mine.with_name(mine.name.replace(str(os.getpid()), str(other.pid))))
        dead = living.with_name(living.name.replace(str(other.pid), str(dead_process())))
        dead = dead.with_name(dead.name.replace(".a.", ".b."))  # writing a itself clears a's
        dead.write_bytes(b"")
        mine = write_part(tmp_path / "a", [b"mine"])
        monkeypatch.setattr("platform.node", lambda: "elsewhere")
        remove_parts(tmp_path)  # as another machine that shares the folder
        assert sorted(tmp_path.iterdir()) == sorted([mine, living, dead])
        monkeypatch.undo()
        remove_parts(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([mine, living])
        other.stdin.close()
    remove_parts(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]


def test_what_a_killed_process_left_of_one_file_goes_before_it_is_written_again(
    tmp_path: Path,
) -> None:
    names = ["a[1].csv", "a1.csv"]
    parts = [write_part(tmp_path / name, [b"half"]) for name in names]
    for part in parts:
        part.rename(part.with_name(part.name.replace(str(os.getpid()), str(dead_process()))))
    write_bytes(tmp_path / names[0], b"whole")
    left = {path.name for path in tmp_path.iterdir()}
    assert names[0] in left
    assert [name.startswith(".a1.csv.") for name in left - {names[0]}] == [True]
