"""Full disks, bad folders and little memory: one line, and then the same results."""

import random
import re
import shutil

import pandas as pd
import pytest
from disturbed import TIMES
from ordinary_user import bottleneck
from small_sweeps import TINY

from seq2seq_bottleneck.corpus.download import folder_of
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.runs.run import cache_programs
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.machine import cache_root, mendable

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


def sweep(folder, cache, *options, text=TINY, **limits):
    """A tiny sweep in a process of its own, its results in ``folder``/out."""
    folder.mkdir(exist_ok=True)
    (folder.parent / "mine.toml").write_text(text)
    arguments = ["sweep", folder.parent / "mine.toml", "--quiet", "--out", folder / "out", *options]
    return bottleneck(arguments, folder.parent, XDG_CACHE_HOME=cache, **limits)


def numbers(folder):
    return Results.open(folder / "out").runs.drop(columns=TIMES)


def check_whole(folder, cache, whole):
    """The same command, undisturbed, gives the whole results."""
    assert sweep(folder, cache).returncode == 0
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
    """It failed and says in plain words what cannot be written and why, without a traceback."""
    text = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in (1, 2, 3), text
    assert "Traceback" not in text, text
    assert re.search(rf"cannot write (into output folder )?'[^']+' \({reason}\); ", text), text


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("size", [10, 2_000, 20_000])
def test_no_room_for_files_of_some_size(tmp_path, cache, whole, size):
    check_message(sweep(tmp_path / "sweep", cache, size=size), "File too large")
    check_whole(tmp_path / "sweep", cache, whole)


@pytest.mark.exhaustive(minutes=3, sample="session")
@pytest.mark.parametrize("damage", ["emptied", "bit", "a file"])
def test_a_spoilt_cache_of_programs(tmp_path, cache, whole, damage):
    """It costs time and nothing else."""
    spoilt, chance = shutil.copytree(cache, tmp_path / "cache"), random.Random(1)
    programs = [path for path in spoilt.rglob("*-cache") if path.is_file()]
    assert len(programs) > 10
    for path in programs:
        content = bytearray(path.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content if damage == "bit" else b"")
    if damage == "a file":
        shutil.rmtree(spoilt)
        spoilt.write_text("")
    done = sweep(tmp_path / "sweep", spoilt)
    assert (done.returncode, done.stderr) == (0, "")
    pd.testing.assert_frame_equal(numbers(tmp_path / "sweep"), whole)


@pytest.mark.exhaustive(sample="session")
def test_a_worker_out_of_memory_loses_its_own_run_alone(tmp_path, cache, whole):
    """The other runs are as in a sweep without it."""
    folder = tmp_path / "sweep"
    done = sweep(folder, cache, "--jobs", "2", text=TINY + HUGE, memory=ADDRESSES)
    assert done.returncode == 3, done.stderr
    assert "2 of 3 runs done" in done.stdout
    assert str(mendable(MemoryError())) in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr + done.stdout
    frames = [frame.drop(columns=["arm", "baseline"]) for frame in (numbers(folder), whole)]
    pd.testing.assert_frame_equal(*frames)


def test_without_a_home_nothing_is_kept(fails, monkeypatch):
    """No HOME, and a user that the system does not know, as in many containers."""
    import pwd

    def unknown(user):
        raise KeyError(user)

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache_root() is None
    cache_programs()
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        folder_of("europarl")
    assert "XDG_CACHE_HOME" in fails("corpus europarl --fetch")
