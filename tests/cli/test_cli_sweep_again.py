"""The same sweep again, in one process and in two, or by two commands at once: the same CSV."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from disturbed import LONGEST, TIMES, Disturbed, begin, ended
from small_sweeps import FOUR

from seq2seq_bottleneck.settings.files import SUMS

pytestmark = pytest.mark.exhaustive(minutes=2, sample="session")
TINY = [
    *["model.context_size=8", "corpus.test_pairs=50"],
    *["training.updates=12", "training.validations=2"],
]
OTHERS = {
    "JAX_ENABLE_X64": "1",
    "JAX_DEFAULT_PRNG_IMPL": "rbg",
    "JAX_THREEFRY_PARTITIONABLE": "0",
    "JAX_RANDOM_SEED_OFFSET": "5",
    "JAX_NUMPY_DTYPE_PROMOTION": "strict",
}
"""Each gave another CSV, or failed."""
SET = [word for setting in TINY for word in ("--set", setting)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> str:
    """The CSV of a sweep in one process."""
    return swept(tmp_path_factory.mktemp("once"), cache, ["--jobs", "1"])


def swept(place: Path, cache: Path, options: Sequence[str], commands: int = 1) -> str:
    """The CSV of a sweep in a folder of its own, by so many commands at once; but for times."""
    (place / "four.toml").write_text(FOUR)
    sweep = Disturbed(place / "four.toml", cache, (*SET, *options))
    for process in [sweep.begin(place / "out") for _ in range(commands)]:
        assert ended(process, LONGEST)
        assert process.returncode == 0
    assert ended(begin(["export", "-o", "runs.csv", "--results", "out"], cache, place), LONGEST)
    return pd.read_csv(place / "runs.csv", dtype=str).drop(columns=TIMES).to_csv()


@pytest.mark.parametrize("options", [("1",), ("2",), ("2", "--force")])
def test_the_same_sweep_makes_the_same_csv(
    tmp_path: Path, cache: Path, once: str, options: tuple[str, ...]
) -> None:
    assert swept(tmp_path, cache, ["--jobs", *options]) == once


def test_the_environment_of_jax_makes_no_other_csv(
    tmp_path: Path, cache: Path, once: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, other in OTHERS.items():
        monkeypatch.setenv(name, other)
    assert swept(tmp_path, cache, ["--jobs", "1"]) == once


def test_a_log_on_a_full_disk_ends_no_sweep(tmp_path: Path, cache: Path, once: str) -> None:
    (tmp_path / "four.toml").write_text(FOUR)
    sweep = [sys.executable, "-m", "seq2seq_bottleneck", "sweep", "four.toml", *SET]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*sweep, "--jobs", "1", "--out", "out"], stderr=full, cwd=tmp_path, check=False,
            stdout=subprocess.DEVNULL, env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        )  # fmt: skip
    assert done.returncode == 0
    assert (
        pd.read_csv(tmp_path / "out" / "runs.csv", dtype=str).drop(columns=TIMES).to_csv() == once
    )


def test_two_commands_on_one_folder_at_once(tmp_path: Path, cache: Path, once: str) -> None:
    assert swept(tmp_path, cache, ["--jobs", "1"], commands=2) == once
    sums = list((tmp_path / "out").rglob(SUMS))
    assert len(sums) == 1 + 2  # the bundle's and each run's
    for listed in sums:
        for line in listed.read_text().splitlines():
            digest, name = line.split(maxsplit=1)
            held = (listed.parent / name.lstrip("*")).read_bytes()
            assert hashlib.sha256(held).hexdigest() == digest, name
