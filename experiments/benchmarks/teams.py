"""Programs in separate processes that take turns: one trains while the others wait.

A team is one program in one arrangement, a number of processes with a number of threads each. Its
processes take runs from a queue, as in a sweep.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import IO, Any, NamedTuple

from programs import environment

HERE = Path(__file__).parent


class Arrangement(NamedTuple):
    """The number of processes side by side, and of threads in each."""

    processes: int
    threads: int

    def __str__(self) -> str:
        return f"{self.processes} x {self.threads}"


class Worker:
    """A process that answers each line of JSON with a line of JSON."""

    def __init__(
        self,
        script: str,
        arguments: list[str],
        environment: dict[str, str],
        errors: IO[str] | None = None,
    ):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf8",
            env=environment,
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send an order, and return its answer."""
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next answer; an error if the process has ended."""
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process ended with code {self.process.wait()}: {self.command}")
        return json.loads(line)

    @property
    def command(self) -> str:
        """The command line of the process."""
        return " ".join(map(str, self.process.args))

    def end(self) -> None:
        """Close its stdin, so that it ends; kill it if it does not."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Team:
    """One program, arm and arrangement; ``starting`` is the seconds until it was ready.

    It is ready when it has compiled every padded shape and trained on it once; ``losses`` are those
    of these first updates.
    """

    program: str
    arrangement: Arrangement
    workers: list[Worker]
    starting: float
    losses: list[float]
    megabytes: float = 0.0
    rates: list[float] = field(default_factory=list)

    def train(self, runs: int, target_tokens: int) -> None:
        """Train this many runs, and store their target tokens per second of wall time."""
        answers, seconds = self._spread(runs, lambda worker: worker.ask(do="train"))
        self.rates.append(runs * target_tokens / seconds)
        self.megabytes = max(self.megabytes, *(answer["megabytes"] for answer in answers))

    def product_rate(self, size: int) -> float:
        """Operations per second of large products, by all processes at once."""
        runs = len(self.workers)
        answers, _ = self._spread(runs, lambda worker: worker.ask(do="multiply", size=size))
        return sum(answer["rate"] for answer in answers)

    def _spread(
        self, runs: int, order: Callable[[Worker], dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], float]:
        """Give the order ``runs`` times, each to a free process; return answers and seconds."""
        free: Queue[Worker] = Queue()
        for worker in self.workers:
            free.put(worker)

        def one(_: int) -> dict[str, Any]:
            worker = free.get()
            try:
                return order(worker)
            finally:
                free.put(worker)

        with ThreadPoolExecutor(len(self.workers)) as pool:
            start = time.perf_counter()
            answers = list(pool.map(one, range(runs)))
            return answers, time.perf_counter() - start


@contextmanager
def team(program: str, arrangement: Arrangement, arm: str, folder: Path) -> Iterator[Team]:
    """A team whose processes end with the block."""
    start = time.perf_counter()
    arguments = [program, arm, str(folder), str(arrangement.threads)]
    set_up = environment(arrangement.threads, as_is=program == "torch-as-is")
    workers = [Worker("train_worker.py", arguments, set_up) for _ in range(arrangement.processes)]
    try:
        losses = [worker.answer()["losses"] for worker in workers]
        yield Team(program, arrangement, workers, time.perf_counter() - start, losses[0])
    finally:
        for worker in workers:
            worker.end()
