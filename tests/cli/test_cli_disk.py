"""A sweep on a disk that is full, closed or a cache that is spoilt: a line, then the same table."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from ordinary_user import told_before

from seq2seq_bottleneck.results.bundle import load_results

pytestmark = pytest.mark.exhaustive(minutes=3, sample="session")
SWEEP = """# Does a full disk change anything?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
test_pairs = 40
[model]
attention = ["none", "dot"]
context_size = 8
[training]
updates = 20
[scoring]
resamples = 20
"""
TIMES = ["train_seconds", "train_tokens_per_second"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled programs of this module alone: what a test spoils is nobody else's."""
    return tmp_path_factory.mktemp("cache")


def sweep(
    folder: Path, cache: Path, ordinary: bool = False, size: int | None = None
) -> subprocess.CompletedProcess:
    """The command in a process of its own, its results in ``folder``/out."""
    folder.mkdir(exist_ok=True)
    (folder.parent / "mine.toml").write_text(SWEEP)
    program = "import sys; from seq2seq_bottleneck.cli.main import main; main()"
    out = ["--quiet", "--out", str(folder / "out")]
    command = [sys.executable, "-c", program, "sweep", str(folder.parent / "mine.toml"), *out]
    return subprocess.run(
        told_before(command, ordinary, size),
        env=os.environ | {"XDG_CACHE_HOME": str(cache), "JAX_PLATFORMS": "cpu"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def numbers(folder: Path) -> pd.DataFrame:
    return load_results(folder / "out").drop(columns=TIMES)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> pd.DataFrame:
    """The numbers of the undisturbed sweep."""
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    done = sweep(folder, cache)
    assert done.returncode == 0, done.stderr
    return numbers(folder)


def is_told(done: subprocess.CompletedProcess, why: str) -> None:
    """It failed and says, for a person, what cannot be written and why; no fault of the program."""
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in (1, 2, 3), told
    assert "Traceback" not in told, told
    assert re.search(rf"cannot write (into output folder )?'[^']+' \({why}\); ", told), told


@pytest.mark.parametrize("size", [10, 40, 2_000, 20_000])
def test_no_room_for_files_of_some_size(
    tmp_path: Path, cache: Path, whole: pd.DataFrame, size: int
) -> None:
    folder = tmp_path / "sweep"
    is_told(sweep(folder, cache, size=size), "File too large")
    assert sweep(folder, cache).returncode == 0
    pd.testing.assert_frame_equal(numbers(folder), whole)
    assert not list(folder.rglob("*.part"))


def test_no_room_for_any_file_at_all(tmp_path: Path, cache: Path) -> None:
    done = sweep(tmp_path / "sweep", cache, size=0)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("bottleneck: ")
    assert "cannot write" in line or "TMPDIR" in line
    assert "the output" not in line


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with hardly any room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user or this system mounts no tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("size", ["16k", "120k", "200k"])
def test_a_full_disk(small_disk: Path, cache: Path, whole: pd.DataFrame, size: str) -> None:
    def resize(size: str) -> None:
        remount = ["mount", "-o", f"remount,size={size}", str(small_disk)]
        subprocess.run(remount, check=True)

    resize(size)
    folder = small_disk / "sweep"
    is_told(sweep(folder, cache), "No space left on device")
    resize("50m")
    assert sweep(folder, cache).returncode == 0
    pd.testing.assert_frame_equal(numbers(folder), whole)


@pytest.mark.parametrize("closed", [".", "out", "out/runs", "out/runs/*"])
def test_a_folder_that_nothing_can_be_written_into(
    tmp_path: Path, cache: Path, whole: pd.DataFrame, closed: str
) -> None:
    folder = tmp_path / "sweep"
    if closed == "out/runs/*":  # folders of runs that were stopped as they began
        assert sweep(folder, cache).returncode == 0
        for status in folder.glob("out/runs/*/status.json"):
            status.write_text('{"status": "running", "reason": ""}')
            (status.parent / "SHA256SUMS").unlink()
    else:
        (folder / closed).mkdir(parents=True)
    folders = list(folder.glob(closed)) if closed != "." else [folder]
    for each in folders:
        each.chmod(0o555)
    is_told(sweep(folder, cache, ordinary=True), "Permission denied")
    for each in folders:
        each.chmod(0o755)
    assert sweep(folder, cache, ordinary=True).returncode == 0
    pd.testing.assert_frame_equal(numbers(folder), whole)


@pytest.mark.parametrize("damage", ["emptied", "cut", "bit", "closed", "a file"])
def test_a_spoilt_cache_of_programs(
    tmp_path: Path, cache: Path, whole: pd.DataFrame, damage: str
) -> None:
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
