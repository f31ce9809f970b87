"""A sweep that is killed again and again, at random moments, ends as if nobody had touched it."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from ordinary_user import told_before

from seq2seq_bottleneck.results.bundle import load_results, tidy_csv

pytestmark = pytest.mark.slow
SWEEP = """# Does anything get lost?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
test_pairs = 60
[model]
attention = ["none", "dot"]
context_size = 8
[training]
updates = 60
validations = 6
[scoring]
resamples = 20
"""
TIMES = ["train_seconds", "train_tokens_per_second"]
MOMENTS = 50
"""How often something is killed, or asked to stop."""
SEEDS = 6
"""So many runs an arm that the sweep is long enough to be killed often."""
DEAD = 60.0
"""Seconds within which what lost its driver is gone."""


def command(folder: Path) -> list[str]:
    program = "import sys; from seq2seq_bottleneck.cli.main import main; main()"
    arguments = ["sweep", str(folder.parent / "mine.toml"), "--seeds", str(SEEDS), "--quiet"]
    return told_before([sys.executable, "-c", program, *arguments, "--out", str(folder)], False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    (folder / "mine.toml").write_text(SWEEP)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cache of this module's own: programs that were half written are found again, too."""
    cache = str(tmp_path_factory.mktemp("cache"))
    return os.environ | {"XDG_CACHE_HOME": cache, "JAX_PLATFORMS": "cpu"}


def numbers(folder: Path) -> str:
    """The tidy table but for what is timed, as text: every digit counts."""
    return tidy_csv(load_results(folder).drop(columns=TIMES))


def disturb(process: subprocess.Popen, draw: random.Random) -> str:
    """Kill the driver, one of its workers or all of them, or ask the driver to stop."""
    kind = draw.choice(["driver", "worker", "all", "SIGTERM", "SIGINT"])
    driver = psutil.Process(process.pid)
    workers = driver.children(recursive=True)
    match kind:
        case "worker":
            chosen = [draw.choice(workers)] if workers else []
        case "all":
            chosen = [driver, *workers]
        case _:
            chosen = [driver]
    for each in chosen:
        try:
            each.send_signal(getattr(signal, kind, signal.SIGKILL))
        except psutil.NoSuchProcess:
            continue
    process.communicate(timeout=600)
    _, alive = psutil.wait_procs(workers, timeout=DEAD)
    assert not alive, f"{kind}: a process outlives its driver"
    return kind


def begun(folder: Path, environment: dict[str, str]) -> subprocess.Popen:
    """The command under way."""
    return subprocess.Popen(
        command(folder), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def ended(process: subprocess.Popen, seconds: float) -> bool:
    """Whether the command came to its end in this time; 3 is that a worker of it was killed."""
    try:
        _, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    assert process.returncode in (0, 3), told.decode()
    assert b"Traceback" not in told, told.decode()
    return True


def finish(folder: Path, environment: dict[str, str]) -> str:
    """Its numbers, once nobody touches it any more."""
    process = begun(folder, environment)
    assert ended(process, 600)
    assert process.returncode == 0
    return numbers(folder)


def test_killed_at_fifty_random_moments(place: Path, environment: dict[str, str]) -> None:
    start = time.monotonic()
    whole = finish(place / "whole", environment)
    seconds, draw = time.monotonic() - start, random.Random(1)
    kinds: Counter[str] = Counter()
    sweeps = 0
    while kinds.total() < MOMENTS:
        folder, sweeps = place / f"sweep{sweeps}", sweeps + 1
        while kinds.total() < MOMENTS:
            process = begun(folder, environment)
            if ended(process, draw.uniform(0.1, seconds / 4)):
                break
            kinds[disturb(process, draw)] += 1
        assert finish(folder, environment) == whole
    assert len(kinds) == 5, kinds
