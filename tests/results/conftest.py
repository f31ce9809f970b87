"""A store of two arms and three seeds, and its bundle in a different folder."""

import shutil
from pathlib import Path

import pytest
from planted import write_planted

from seq2seq_bottleneck.runs.sweep import gather

ARMS = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1] * 5}


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store with its bundle, which no test changes."""
    folder = tmp_path_factory.mktemp("whole") / "store"
    write_planted(folder, ARMS, seeds=3)
    gather(folder)
    return folder


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "store"))


@pytest.fixture
def bundle(whole: Path, tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("runs")
    return Path(shutil.copytree(whole, tmp_path / "bundle", ignore=ignored))
