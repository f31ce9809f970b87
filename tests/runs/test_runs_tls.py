"""README's way to a scheduler that speaks with holders of one certificate alone, as written."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask_cluster import Cluster

from seq2seq_bottleneck.runs.store import run_folders

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf8")
OPENSSL = re.search(r"^openssl .*?(?=  #)", README, flags=re.MULTILINE)
YAML = re.search(r"```yaml\n(.*?)```", README, flags=re.DOTALL)

pytestmark = [
    pytest.mark.exhaustive(sample="session"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a key with"),
]


def environment_of(folder: Path, own: bool = True) -> dict[str, str]:
    """That of a machine whose Dask reads README's settings; else of one that has none."""
    return {**os.environ, "DASK_CONFIG": str(folder if own else folder / "none")}


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    subprocess.run(shlex.split(OPENSSL[0]), cwd=folder, check=True, capture_output=True)
    (folder / "tls.yaml").write_text(YAML[1].replace("/path/to", str(folder)))
    return folder


@pytest.fixture(scope="module")
def scheduler(keys, tmp_path_factory) -> Iterator[str]:
    held = Cluster(tmp_path_factory.mktemp("elsewhere"), "tls", environment_of(keys))
    held.start_scheduler()
    try:
        held.fill_up()
        yield held.address
    finally:
        held.stop()


def sweep(folder: Path, address: str, environment: dict[str, str]) -> subprocess.CompletedProcess:
    text = '# Does it go out?\npreset = "smoke"\n[corpus]\nname = "copy"\n'
    (folder / "two.toml").write_text(text)
    few = ["--set", "training.updates=4", "--set", "scoring.resamples=9", "--quiet"]
    command = ["sweep", "two.toml", *few, "--scheduler", address, "--out", "out"]
    return subprocess.run(
        [sys.executable, "-m", "seq2seq_bottleneck", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_sweep_goes_to_workers_with_the_certificate(scheduler, keys, tmp_path):
    assert scheduler.startswith("tls://")
    done = sweep(tmp_path, scheduler, environment_of(keys))
    assert (done.returncode, done.stderr) == (0, "")
    assert [run.status for run in run_folders(tmp_path / "out" / "runs")] == ["done"]


@pytest.mark.parametrize("protocol", ["tls", "tcp"])
def test_who_has_no_certificate_is_refused_in_one_line(scheduler, keys, tmp_path, protocol):
    address = scheduler.replace("tls", protocol)
    done = sweep(tmp_path, address, environment_of(keys, own=False))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert address in done.stderr


def test_a_certificate_of_another_authority_is_refused_in_one_line(scheduler, tmp_path):
    subprocess.run(shlex.split(OPENSSL[0]), cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "tls.yaml").write_text(YAML[1].replace("/path/to", str(tmp_path)))
    done = sweep(tmp_path, scheduler, environment_of(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert scheduler in done.stderr


def test_with_the_certificate_asked_for_nothing_goes_out_in_clear(scheduler, keys, tmp_path):
    done = sweep(tmp_path, scheduler.replace("tls", "tcp"), environment_of(keys))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "require-encryption" in done.stderr
