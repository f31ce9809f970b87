"""Files appear whole or not at all, are listed in sums, and stay in their folder."""

import os
import shutil
import stat
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import write_begun, write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.store import RunFolder, sweep_up
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import (
    LONGEST,
    SUMS,
    check_file,
    check_place,
    check_writable,
    digest_of,
    is_name,
    of_one_time,
    parsed,
    read_sums,
    remove_empty,
    remove_parts,
    seal,
    topmost_missing,
    write_bytes,
    write_listed,
    write_part,
    write_text,
)
from seq2seq_bottleneck.settings.run import resolve

# Writing one file.


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_named_and_stays_what_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    message = "': it is a device or a pipe; name a file"
    for path in (pipe, tmp_path / "link"):
        with pytest.raises(UserError, match=f"{path.name}{message}"):
            write_text(path, "new")
    for name in ("null", "stdout", "of no such name"):  # not written: a fault would take them away
        with pytest.raises(UserError, match=f"{name}{message}"):
            check_file(Path("/dev") / name)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def dead_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_parts_of_dead_processes_go_those_of_living_ones_stay(tmp_path, monkeypatch):
    ours = write_part(tmp_path / "a", [b"ours"])
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        living = ours.rename(ours.with_name(ours.name.replace(str(os.getpid()), str(other.pid))))
        dead = living.with_name(living.name.replace(str(other.pid), str(dead_process())))
        dead = dead.with_name(dead.name.replace(".a.", ".b."))  # writing a itself clears a's
        dead.write_bytes(b"")
        ours = write_part(tmp_path / "a", [b"ours"])
        monkeypatch.setattr("platform.node", lambda: "elsewhere")
        remove_parts(tmp_path)  # as another machine that shares the folder
        assert sorted(tmp_path.iterdir()) == sorted([ours, living, dead])
        monkeypatch.undo()
        remove_parts(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([ours, living])
        other.stdin.close()
    remove_parts(tmp_path)
    assert list(tmp_path.iterdir()) == [ours]


def test_what_a_killed_process_left_of_one_file_goes_before_it_is_written_again(tmp_path):
    names = ["a[1].csv", "a1.csv"]
    for part in [write_part(tmp_path / name, [b"half"]) for name in names]:
        part.rename(part.with_name(part.name.replace(str(os.getpid()), str(dead_process()))))
    write_bytes(tmp_path / names[0], b"whole")
    left = {path.name for path in tmp_path.iterdir()}
    assert names[0] in left
    assert [name.startswith(".a1.csv.") for name in left - {names[0]}] == [True]


# Whether a place can be written to.


def test_a_place_that_could_be_written_passes_and_nothing_is_made(tmp_path):
    check_file(tmp_path / "new" / "folder" / "x.png")
    (tmp_path / "x.png").write_text("old")
    check_file(tmp_path / "x.png")
    check_place(tmp_path / "new")
    assert os.listdir(tmp_path) == ["x.png"]
    check_writable(tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_place_that_could_not_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.png").write_text("old")
    for check, path, reason in (
        (check_file, tmp_path, "it is a folder"),
        (check_file, tmp_path / "x.png" / "y.png", "Not a directory"),
        (check_place, tmp_path / "x.png", "Not a directory"),
        (check_writable, tmp_path / "x.png" / "out", r"x\.png.*name another with --out"),
    ):
        with pytest.raises(UserError, match=reason):
            check(path)
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)  # root may write anywhere
    with pytest.raises(UserError, match=r"x\.png' \(Permission denied\)"):
        check_file(tmp_path / "new" / "x.png")


def test_two_that_try_one_folder_at_once_do_not_meet(tmp_path, monkeypatch):
    tried, write = [], Path.write_bytes

    def slowly(path, content):
        """Another sweep tries the folder, and is through, while this one is at it."""
        size = write(path, content)
        tried.append(path.name)
        if len(tried) == 1:
            check_writable(tmp_path)
        return size

    monkeypatch.setattr(Path, "write_bytes", slowly)
    check_writable(tmp_path)
    assert len(set(tried)) == 2
    assert os.listdir(tmp_path) == []


def test_a_clean_up_begins_at_the_topmost_new_folder_and_keeps_what_holds_a_file(tmp_path):
    assert topmost_missing(tmp_path / "a" / "b") == tmp_path / "a"
    assert topmost_missing(tmp_path) is None
    (tmp_path / "out" / "deep" / "er").mkdir(parents=True)
    write_text(tmp_path / "kept" / "file", "x")
    remove_empty(tmp_path / "out")
    remove_empty(tmp_path / "kept")
    assert os.listdir(tmp_path) == ["kept"]


# Checksums.


class Killed(BaseException):
    """The end of the process, in a test."""


def coreutils(folder: Path) -> int:
    """What `sha256sum -c` says of a folder."""
    command = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def as_listed(folder: Path, name: str) -> bool:
    return digest_of((folder / name).read_bytes()) in read_sums(folder)[name]


def test_coreutils_agree(tmp_path):
    write_listed(tmp_path, [("a.csv", b"1\n"), ("probes/b.csv", "é".encode()), ("empty", b"")])
    assert sorted(read_sums(tmp_path)) == ["a.csv", "empty", "probes/b.csv"]
    assert coreutils(tmp_path) == 0
    (tmp_path / "a.csv").write_bytes(b"2\n")
    assert coreutils(tmp_path) == 1


def test_a_sealed_folder_lists_all_but_what_is_left_out_and_hidden(tmp_path):
    for name in ("a", "status.json", ".hidden"):
        (tmp_path / name).write_text(name)
    seal(tmp_path, ("status.json",))
    seal(tmp_path, ("status.json",))  # its own sums are not among them
    assert list(read_sums(tmp_path)) == ["a"]
    assert coreutils(tmp_path) == 0


@given(st.binary())
def test_any_bytes_are_read_as_some_sums(content):
    assert all(parsed(content).values())


def test_a_file_that_was_lost_stays_listed_until_it_is_written_again_or_taken_out(tmp_path):
    write_listed(tmp_path, [("a", b"1"), ("b", b"1")])
    (tmp_path / "a").unlink()
    write_listed(tmp_path, [("c", b"1")])
    assert list(read_sums(tmp_path)) == ["a", "b", "c"]
    assert coreutils(tmp_path) != 0
    write_listed(tmp_path, [("a", b"2")])
    assert coreutils(tmp_path) == 0
    write_listed(tmp_path, [], ["a", "never there"])
    assert list(read_sums(tmp_path)) == ["b", "c"]
    assert not (tmp_path / "a").exists()
    assert coreutils(tmp_path) == 0


@pytest.mark.parametrize("step", range(16))
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

    for name in ("replace", "fsync", "unlink"):
        monkeypatch.setattr(os, name, stepping(getattr(os, name)))
    try:
        write_listed(tmp_path, new.items())
        killed = False
    except Killed:
        killed = True
    monkeypatch.undo()
    assert killed or step > 12
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
    *("a\u202eb", "\ufeffa", "a\ud800", "a\u2028b"),  # not seen
    *("é" * (LONGEST // 2 + 1), ".hidden", 3, None, ["a"]),
)
NAMES = ("0123456789ab", "none-1", "scores.csv", "état", "文", "a" * LONGEST, "é" * (LONGEST // 2))


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


@pytest.fixture
def store(tmp_path):
    """A store with one begun run, and a file beside the store that nobody may touch."""
    (tmp_path / "precious").write_text("keep")
    write_begun(tmp_path, "run", resolve("smoke"))
    return tmp_path / "runs"


def test_a_folder_aside_of_no_run_is_left_alone(store):
    """``..aside`` is that of a run without a name: the store itself."""
    whole = store / "..aside" / "new"
    whole.mkdir(parents=True)
    (whole / "status.json").write_text('{"status": "done", "reason": ""}')
    sweep_up(store)
    assert RunFolder(store, "run").status == "running"
    assert whole.is_dir()


@pytest.mark.parametrize("name", ["../precious", "/tmp/x", "..", "a/b", ""])
def test_what_comes_back_from_another_machine_stays_in_its_folder(store, name):
    before = sorted(store.parent.rglob("*"))
    with pytest.raises(UserError, match="not kept"):
        RunFolder(store, "run").replace({"status.json": b"{}", name: b"x"})
    assert sorted(store.parent.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", ".", "a/b", "a\\b", "\u202ea"])
def test_a_run_of_a_bundle_that_names_another_folder_is_refused(tmp_path, name):
    write_planted(tmp_path, {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.rmtree(tmp_path / "runs")
    assert set(load_bundle(tmp_path).runs["run"]) == {"none1x1", "additive1x1"}
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace("none1x1", name))
    with pytest.raises(UserError, match=r"runs\.csv"):
        load_bundle(tmp_path)


SWEEP = "# Is it?\n[model]\ncontext_size = [8, 16]\n"


@pytest.mark.parametrize(
    "file", ["..toml", "...toml", ".toml", "a\x1b[31mb.toml", f"{'a' * 210}.toml"]
)
def test_a_sweep_whose_name_is_no_folders_asks_for_one(capsys, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(SWEEP)
    assert run(["sweep", file, "--dry-run"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--out" in line
    assert os.listdir(tmp_path) == [file]


@pytest.mark.slow
def test_such_a_sweep_runs_into_a_folder_that_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("...toml").write_text(SWEEP)
    options = ["--preset", "smoke", "--corpus", "copy", "--dry-run", "--out", "here"]
    assert run(["sweep", "...toml", *options]) == 0
    assert "context_size=16" in capsys.readouterr().out


SMALL = "sweep context_size --preset smoke --corpus copy --quiet --out"
LONG = "b" * 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "sweep loop.toml",
        f"sweep {'a' * 5000}.toml",
        f"sweep {'a' * 5000}",
        f"{SMALL} loop",
        f"{SMALL} {LONG}",
        "reproduce --preset smoke --out loop --quiet",
        "table vindication --results loop",
        f"table vindication --results {LONG}",
        "export --results loop",
        "runs --results loop",
        f"runs --results {LONG}",
        "translate hello --results loop",
        "claims --results loop",
        "corpus describe files --source loop --target loop",
        f"corpus describe files --source {LONG} --target loop",
        "score --hypotheses loop --references loop --sources loop",
    ],
)
def test_a_link_in_a_circle_and_too_long_a_name_are_one_line(
    capsys, tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    for name in ("loop", "loop.toml"):
        Path(name).symlink_to(name)
    assert run(arguments.split()) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bottleneck: ")
    assert sorted(os.listdir(tmp_path)) == ["loop", "loop.toml"]
