"""Disks, folders and memory that fail a command: one line, and then the same results."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from disturbed import TIMES, state
from lanes import sample_random
from ordinary_user import bottleneck, require_ordinary
from planted import write_planted
from small_sweeps import TINY

from seq2seq_bottleneck.corpus.download import folder_of, read_source
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.folders import STATUS, STORE
from seq2seq_bottleneck.runs.run import use_cache
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.machine import cache_root, mendable

FAULTY = Path(__file__).with_name("faulty_commands.py")
WORDS = {"full": "File too large", "readonly": "Permission denied"}
HUGE = """
[[group]]
name = "small"
[[group]]
name = "huge"
model.attention = "none"
model.embedding_size = 1_048_576
"""
ADDRESSES = 6 * 10**9
"""Bytes of addresses that a process gets: enough for a small cell, far too few for the huge one."""
TEXT = "--set corpus.train_pairs=200 --set corpus.valid_pairs=20 --set corpus.test_pairs=20"
SHORT = f"{TEXT} --set training.updates=10 --set scoring.resamples=20"
COMMANDS = {
    "reproduce": (f"reproduce --preset smoke --quiet --out out {SHORT}", 30),
    "export": ("export --bundle bundle --results out", 30),
    "table": ("export -o all.csv --results out", 30),
    "study": ("study length --quiet --results out", 30),
    "plot": ("plot bleu -o bleu.svg --results out", 30),
    "report": ("report -o page.html --results out", 30),
    "all": ("export --all --results out", 3),
}
"""Commands, and at how many of their writes the disk fails."""


def sweep(folder, cache, *options, text=TINY, **limits):
    """A tiny sweep in a process of its own, its results in ``folder``/out."""
    folder.mkdir(exist_ok=True)
    (folder.parent / "mine.toml").write_text(text)
    arguments = ["sweep", folder.parent / "mine.toml", "--quiet", "--out", folder / "out", *options]
    return bottleneck(arguments, folder.parent, XDG_CACHE_HOME=cache, **limits)


def numbers(folder):
    return Results.open(folder / "out").runs.drop(columns=TIMES)


def check_whole(folder, cache, whole, **limits):
    """The same command, when nothing is in its way."""
    assert sweep(folder, cache, **limits).returncode == 0
    pd.testing.assert_frame_equal(numbers(folder), whole)
    assert not list(folder.rglob("*.part"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, cache):
    """The numbers of the undisturbed sweep."""
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    done = sweep(folder, cache)
    assert done.returncode == 0, done.stderr
    return numbers(folder)


def check_message(done, reason):
    """It failed and says, for a person, what cannot be written and why; no fault of the program."""
    text = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in (1, 2, 3), text
    assert "Traceback" not in text, text
    assert re.search(rf"cannot write (into output folder )?'[^']+' \({reason}\); ", text), text


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("size", [0, 10, 40, 2_000, 20_000])
def test_no_room_for_files_of_some_size(tmp_path, cache, whole, size):
    done = sweep(tmp_path / "sweep", cache, size=size)
    if size:
        check_message(done, "File too large")
    else:
        (line,) = done.stderr.splitlines()
        assert done.returncode == 1
        assert re.match("bottleneck: .*(cannot write|TMPDIR)", line)
        assert "the output" not in line
    check_whole(tmp_path / "sweep", cache, whole)


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("size", ["16k", "120k", "200k"])
def test_a_full_disk(tmp_path, cache, whole, size):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user or this system mounts no tmpfs")
    try:
        check_message(sweep(disk / "sweep", cache), "No space left on device")
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        check_whole(disk / "sweep", cache, whole)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("closed", [".", "out", "out/runs", "out/runs/*"])
def test_a_folder_that_nothing_can_be_written_into(tmp_path, cache, whole, closed):
    folder = tmp_path / "sweep"
    if closed == "out/runs/*":  # folders of runs that were stopped as they began
        assert sweep(folder, cache).returncode == 0
        for status in folder.glob("out/runs/*/status.json"):
            status.write_text('{"status": "running", "reason": ""}')
            (status.parent / "SHA256SUMS").unlink()
    else:
        (folder / closed).mkdir(parents=True)
    folders = list(folder.glob(closed)) if closed != "." else [folder]
    for path in folders:
        path.chmod(0o555)
    check_message(sweep(folder, cache, ordinary=True), "Permission denied")
    for path in folders:
        path.chmod(0o755)
    check_whole(folder, cache, whole, ordinary=True)


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("damage", ["emptied", "cut", "bit", "closed", "a file"])
def test_a_spoilt_cache_of_programs(tmp_path, cache, whole, damage):
    """It costs time and nothing else."""
    spoilt, chance = shutil.copytree(cache, tmp_path / "cache"), random.Random(1)
    programs = [path for path in spoilt.rglob("*-cache") if path.is_file()]
    assert len(programs) > 10
    for path in programs:
        content = bytearray(path.read_bytes())
        if damage == "bit":
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        keep = {"emptied": 0, "cut": len(content) // 2}.get(damage, len(content))
        path.write_bytes(content[:keep])
        if damage == "closed":
            path.chmod(0)
    if damage == "closed":
        for path in spoilt.rglob("*/"):
            path.chmod(0o555)
    if damage == "a file":
        shutil.rmtree(spoilt)
        spoilt.write_text("")
    done = sweep(tmp_path / "sweep", spoilt, ordinary=True)
    for path in spoilt.rglob("*/") if damage == "closed" else ():
        path.chmod(0o755)
    assert (done.returncode, done.stderr) == (0, "")
    pd.testing.assert_frame_equal(numbers(tmp_path / "sweep"), whole)


@pytest.mark.exhaustive(sample="session")
def test_a_worker_out_of_memory_loses_its_own_run_alone(tmp_path, cache, whole):
    """Begun again, only that one is tried; the others are as in a sweep without it."""
    folder = tmp_path / "sweep"
    for _ in range(2):
        done = sweep(folder, cache, "--jobs", "2", text=TINY + HUGE, memory=ADDRESSES)
        assert done.returncode == 3, done.stderr
        assert "2 of 3 runs done" in done.stdout
        assert str(mendable(MemoryError())) in " ".join(done.stdout.split())
        assert "Traceback" not in done.stderr + done.stdout
        paths = (folder / "out" / STORE).glob(f"*/{STATUS}")
        statuses = sorted(json.loads(path.read_text())["status"] for path in paths)
        assert statuses == ["done", "done", "failed"]
        result = numbers(folder).drop(columns="arm")
        pd.testing.assert_frame_equal(result, whole.drop(columns="arm"))


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory, cache):
    folder = tmp_path_factory.mktemp("reproduced")
    done = bottleneck(COMMANDS["reproduce"][0].split(), folder, XDG_CACHE_HOME=cache)
    assert done.returncode == 0, done.stderr
    return folder


WRITES = [
    pytest.param(name, fault, most, marks=pytest.mark.exhaustive(minutes=10))
    for name, (_, most) in COMMANDS.items()
    for fault in WORDS
]
WRITES.append(pytest.param("", "", 3, marks=pytest.mark.slow, id="drawn"))


@pytest.mark.parametrize(("name", "fault", "most"), WRITES)
def test_a_fault_at_a_write_is_one_line_and_then_mended(
    tmp_path, reproduced, cache, name, fault, most
):
    draw = sample_random("faults")
    name, fault = name or draw.choice([*COMMANDS]), fault or draw.choice([*WORDS])
    arguments = [tmp_path, reproduced, fault, most, *COMMANDS[name][0].split()]
    done = bottleneck(arguments, tmp_path, ordinary=True, program=[FAULTY], XDG_CACHE_HOME=cache)
    assert done.returncode == 0, done.stderr[-2000:]
    undisturbed, *broken = [json.loads(line) for line in done.stdout.splitlines()]
    assert (undisturbed["code"], undisturbed["again"]) == (0, 0)
    assert len(broken) == min(most, undisturbed["writes"]) > 0
    for row in broken:
        assert row["code"] == 1, row
        assert len(row["message"].splitlines()) == 1, row
        assert "cannot write '" in row["message"], row
        assert WORDS[fault] in row["message"], row
        assert (row["readable"], row["again"]) == (0, 0), row
        assert (row["strange"], row["gone"], row["other"]) == ([], [], []), row
        # In a folder that is closed nothing can be cleared away: the next process does it.
        assert row["parts"] == [] or fault == "readonly", row


NO_HOME = {"HOME": None, "XDG_CACHE_HOME": None}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A store and a bundle that are for reading only, and a folder beside them that is not."""
    place = tmp_path_factory.mktemp("place")
    require_ordinary(place)
    write_planted(place / "store", {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.copytree(place / "store", place / "bundle", ignore=shutil.ignore_patterns("runs"))
    for name in ("store", "bundle"):
        for path in (place / name, *(place / name).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
    (place / "elsewhere").mkdir()
    yield place
    for path in place.rglob("*"):  # pytest is to clear them away
        if path.is_dir():
            path.chmod(0o755)


@pytest.mark.exhaustive(sample="test")
@pytest.mark.parametrize("name", ["store", "bundle"])
@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("export", "none1x1,"),
        ("table vindication", "none"),
        ("claims", "L-VIND"),
        ("plot bleu -o bleu.png", "bleu.png"),
        ("report -o page.html", "page.html"),
    ],
)
def test_a_folder_for_reading_only_is_shown_and_drawn_elsewhere(place, name, line, part):
    """Without a home: nothing is said but perhaps one line, nothing written."""
    before = state(place / name)
    arguments = [*line.split(), "--results", place / name]
    done = bottleneck(arguments, place / "elsewhere", ordinary=True, **NO_HOME)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) <= 1
    assert part in done.stdout
    assert state(place / name) == before


@pytest.mark.slow
@pytest.mark.parametrize("options", ["-o store/x.csv", "--bundle store/b"])
def test_what_would_be_written_into_it_is_refused_in_one_line(place, options):
    arguments = ["export", *options.split(), "--results", "store"]
    done = bottleneck(arguments, place, ordinary=True, **NO_HOME)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "cannot write" in line


def test_without_a_home_nothing_is_kept(fails, monkeypatch):
    """No HOME, and a user that the system does not know, as in many a container."""
    import pwd

    def unknown(user):
        raise KeyError(user)

    for name in NO_HOME:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache_root() is read_source("europarl") is None
    use_cache()
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        folder_of("europarl")
    assert "XDG_CACHE_HOME" in fails("corpus fetch europarl")
