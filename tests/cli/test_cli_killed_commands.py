"""Commands that measure, draw and gather, killed at random moments: what was there stays good."""

import random
import shutil
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from disturbed import LONGEST, begin, disturb, ended, numbers
from test_cli_killed import SWEEP

from seq2seq_bottleneck.settings.files import SUMS

pytestmark = pytest.mark.exhaustive(minutes=5, sample="session")
COMMANDS = {
    "study": ["study", "length", "--quiet", "--results", "out"],
    "all": ["export", "--all", "--results", "out"],
    "merge": ["merge", "out", "other", "-o", "both"],
    "report": ["report", "-o", "page.html", "--results", "out"],
    "plot": ["plot", "bleu", "-o", "bleu.svg", "--results", "out"],
    "bench": [
        *["bench", "--quick", "--vary", "length=5", "--arms", "none", "--repeats", "1"],
        *["--quiet", "--out", "bench"],
    ],
}
MOMENTS = ["driver", "SIGTERM", "SIGINT", "all"]
"""What is done to each command, one after the other."""
UNTIMED = ["varied", "arm", "length", "batch_size", "repeats", "reason"]
"""Columns of a benchmark that are the same every time."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A folder with a finished sweep, and a copy of it as another person's."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "mine.toml").write_text(SWEEP)
    finish(["sweep", "mine.toml", "--quiet", "--out", "out"], cache, folder)
    shutil.copytree(folder / "out", folder / "other")
    return folder


def finish(command: list[str], cache: Path, folder: Path) -> float:
    """Seconds that the command takes, undisturbed."""
    start = time.monotonic()
    process = begin(command, cache, folder)
    assert ended(process, LONGEST)
    assert process.returncode == 0
    return time.monotonic() - start


def held(folder: Path) -> dict[str, bytes]:
    """The files by name, as far as they do not hang on the clock; of sums the reader judges."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): untimed(path)
        for path in files
        if path.name != SUMS and path.suffix != ".part"
    }


def untimed(path: Path) -> bytes:
    if path.name != "cost.csv":
        return path.read_bytes()
    return pd.read_csv(path, usecols=UNTIMED).to_csv().encode()


def under_way(command: list[str], cache: Path, folder: Path, moment: float) -> subprocess.Popen:
    """The command at this moment, or at an earlier one if it has ended by then."""
    process = begin(command, cache, folder)
    while ended(process, moment):
        moment, process = moment / 2, begin(command, cache, folder)
    return process


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_killed_at_random_moments(
    tmp_path: Path, whole: Path, cache: Path, name: str
) -> None:
    command, draw, before = COMMANDS[name], random.Random(name), held(whole)
    even, place = tmp_path / "even", tmp_path / "disturbed"
    for folder in (even, place):
        shutil.copytree(whole, folder)
    seconds, right = finish(command, cache, even), held(even)
    for kind in MOMENTS:
        process = under_way(command, cache, place, draw.uniform(0.1, 0.95) * seconds)
        disturb(process, kind, draw)
        between = held(place)
        assert not before.keys() - between.keys(), kind
        for file, content in between.items():
            assert content in (before.get(file), right.get(file)), (kind, file)
        assert numbers(place / "out") == numbers(whole / "out")
    finish(command, cache, place)
    assert held(place) == right
    assert not list(place.rglob("*.part"))
