"""Programs in processes of their own, asked in turn: one trains while the others wait.

A team is one program in one arrangement: so many processes of so many threads. Runs given to a
team are taken by its processes from a queue, as a sweep does it.
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
    """Processes side by side, and the threads of each."""

    processes: int
    threads: int

    def __str__(self) -> str:
        return f"{self.processes} x {self.threads}"


class Worker:
    """A process that answers lines of JSON with lines of JSON."""

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
        """Send an order and wait for its answer."""
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next line."""
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a process ended with code {self.process.wait()}: {self.command}")
        return json.loads(line)

    @property
    def command(self) -> str:
        """What was started."""
        return " ".join(map(str, self.process.args))

    def end(self) -> None:
        """Close its stdin, at which it ends."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Team:
    """One program, one arm, one arrangement; ``starting`` is the seconds until it was ready.

    Ready means that every padded shape has been compiled and trained on once; ``losses`` are
    those of these first updates.
    """

    program: str
    arrangement: Arrangement
    workers: list[Worker]
    starting: float
    losses: list[float]
    megabytes: float = 0.0
    rates: list[float] = field(default_factory=list)

    def train(self, runs: int, target_tokens: int) -> None:
        """Bring so many runs to their end, and note their target tokens per second of wall time."""
        answers, seconds = self._spread(runs, lambda worker: worker.ask(do="train"))
        self.rates.append(runs * target_tokens / seconds)
        self.megabytes = max(self.megabytes, *(answer["megabytes"] for answer in answers))

    def product_rate(self, size: int) -> float:
        """Operations a second of large products, all processes at once."""
        runs = len(self.workers)
        answers, _ = self._spread(runs, lambda worker: worker.ask(do="multiply", size=size))
        return sum(answer["rate"] for answer in answers)

    def _spread(
        self, runs: int, order: Callable[[Worker], dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], float]:
        """The order ``runs`` times, each by whichever process is free; how long all took."""
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
