"""A real Dask scheduler with real workers, on loopback."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Cluster:
    """A scheduler and its workers; the workers' folder is none that a test works in."""

    folder: Path
    address: str = ""
    scheduler: subprocess.Popen | None = None
    workers: list[subprocess.Popen] = field(default_factory=list)

    def start(self, program: str, *arguments: str) -> subprocess.Popen:
        log = (self.folder / "log").open("a")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard", *arguments],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def start_scheduler(self) -> None:
        file = self.folder / "scheduler.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        self.scheduler = self.start("dask_scheduler", *arguments)
        wait_for(file.is_file)
        self.address = json.loads(file.read_text())["address"]

    def fill_up(self) -> None:
        """Bring the number of living workers to two."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        arguments = ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"]
        place = ["--local-directory", str(self.folder)]
        while len(self.workers) < 2:
            self.workers.append(self.start("dask_worker", self.address, *arguments, *place))

    def stop(self) -> None:
        """The workers first: one that finds no scheduler looks for it for a while."""
        for processes in (self.workers, [self.scheduler]):
            for process in processes:
                process.terminate()
            for process in processes:
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def wait_for(condition, seconds=30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
