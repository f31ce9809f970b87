"""Commands in processes of their own that are killed or asked to stop, and what they leave."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from ordinary_user import PROGRAM, told_before

from seq2seq_bottleneck.results.bundle import Results, tidy_csv

TIMES = ["train_seconds", "train_tokens_per_second"]
KINDS = ["driver", "worker", "all", "SIGTERM", "SIGINT"]
DEAD = 60.0
"""Seconds after which no process outlives its driver."""
LONGEST = 1800.0
"""Seconds in which any sweep of a test ends."""


@dataclass(frozen=True)
class Disturbed:
    """A sweep's file, options of its command, and a cache of its own."""

    file: Path
    cache: Path
    options: tuple[str, ...] = ()

    def begin(self, folder: Path) -> subprocess.Popen:
        """The running command; its results go to ``folder``."""
        arguments = ["sweep", str(self.file), *self.options, "--quiet", "--out", str(folder)]
        return begin(arguments, self.cache)

    def finish(self, folder: Path) -> str:
        """The sweep's numbers after an undisturbed run of the command."""
        wait(self.begin(folder))
        return numbers(folder)


def begin(arguments: Sequence[str], cache: Path, folder: Path | None = None) -> subprocess.Popen:
    """A running command in ``folder``."""
    return subprocess.Popen(
        told_before([sys.executable, *map(str, PROGRAM), *arguments], ordinary=False),
        cwd=folder,
        env=os.environ | {"XDG_CACHE_HOME": str(cache), "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait(process: subprocess.Popen) -> float:
    """Seconds until the command has ended without an error."""
    start = time.monotonic()
    assert ended(process, LONGEST)
    assert process.returncode == 0
    return time.monotonic() - start


def numbers(folder: Path) -> str:
    """The tidy table without times, as text: every digit counts."""
    return tidy_csv(Results.open(folder).runs.drop(columns=TIMES))


def state(folder: Path) -> dict[Path, int]:
    """When each file and folder was last changed."""
    return {path: path.lstat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def ended(process: subprocess.Popen, seconds: float) -> bool:
    """Whether the command ended in this time; code 3 means that a worker was killed."""
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    assert process.returncode in (0, 3), errors.decode()
    assert b"Traceback" not in errors, errors.decode()
    return True


def disturb(process: subprocess.Popen, kind: str, draw: random.Random) -> None:
    """Kill the driver, one of its workers or all of them, or ask the driver to stop.

    Waits for the driver's end, except if only a worker was killed. A driver that is asked to stop
    ends as interrupted, unless the signal kills Python before the program listens, or it was done.
    """
    driver = psutil.Process(process.pid)
    workers = driver.children(recursive=True)
    number = getattr(signal, kind, signal.SIGKILL)
    chosen = [driver, *workers] if kind == "all" else [driver]
    if kind == "worker":
        chosen = [draw.choice(workers)] if workers else []
    for victim in chosen:
        try:
            victim.send_signal(number)
        except psutil.NoSuchProcess:
            continue
    if kind != "worker":
        _, errors = process.communicate(timeout=LONGEST)
        code = process.returncode
        assert code in (0, 130, -number), errors.decode()
        assert code < 0 or b"Traceback" not in errors, errors.decode()
        _, alive = psutil.wait_procs(workers, timeout=DEAD)
        assert not alive, f"{kind}: a process outlives its driver"
