"""The driver's side of a sweep on a cluster: sends runs out, puts what comes back into the store.

It sends about twice as many runs as the cluster has threads, and holds the locks of those alone,
so other sweeps may use the store. What it keeps of a run is its settings and, while they pass
through, its files.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from uuid import uuid4

import dask
from distributed import Client, Future
from filelock import BaseFileLock

from .. import __version__
from ..results.folders import ENDED, SETTINGS, STATUS
from ..settings.errors import UserError
from ..settings.run import RunSettings
from ..settings.sums import SUMS, digest_of, parsed, written
from .csvtext import json_text
from .pool import PATIENCE, Job, Listener, Outcome, tell_stopping
from .portable import Portable
from .remote import STOPPED, Files, Order, Result, Runner, execute_order, read_files
from .store import UNLISTED, RunFolder

ATTEMPTS = 4
"""How often a run is begun whose process is ended from outside; a lost worker counts with Dask."""

AHEAD = 2
"""Runs sent out for each thread of the cluster, so that none waits for the driver."""

LEAST_OUT = 4
"""Runs sent out to a cluster that has few workers yet: it may grow with what is asked of it."""

_LOST = "lost the scheduler; the same command goes on with what is missing"
_GATHERING = 60.0
_LOOK = 1.0
"""Seconds between looks at the cluster's size and at runs that another sweep is at."""


@dataclass
class Cell:
    """One run of the store, the jobs that ask for it, and its corpus' fingerprint.

    ``ours`` says that its folder was written by this sweep.
    """

    folder: RunFolder
    jobs: list[Job]
    fingerprint: str
    attempts: int = 0
    ours: bool = False

    @property
    def settings(self) -> RunSettings:
        """The run's settings, as they are here."""
        return self.jobs[0].settings


@dataclass
class Sent:
    """A cell that is out: the run a worker makes of it, whether one has begun, our lock on it."""

    cell: Cell
    run: str
    lock: BaseFileLock
    future: Future
    begun: bool = False


@dataclass
class Dispatch:
    """A sweep in progress."""

    client: Client
    store: Path
    listener: Listener
    force: bool
    name: str = field(default_factory=lambda: f"seq2seq-bottleneck-{uuid4().hex[:12]}")
    waiting: deque[Cell] = field(default_factory=deque)
    out: dict[str, Sent] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    incoming: Queue[tuple[str, Any]] = field(default_factory=Queue)
    _portable: Portable = field(default_factory=Portable)
    _places: tuple[float, int] = (0.0, 0)

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Bring all jobs to their end, in the order given."""
        self._plan(jobs)
        if self.waiting:
            with self._runners():
                while self.waiting or self.out:
                    self._send()
                    self._take()
        return [self.outcomes[job.name] for job in jobs]

    def _plan(self, jobs: Sequence[Job]) -> None:
        """Which runs the jobs ask for; those that have ended are told at once."""
        cells: dict[str, Cell] = {}
        for job in jobs:
            try:
                fingerprint = self._portable.fingerprint(job.settings)
            except UserError as error:
                self._tell([job], _failure(error))
                continue
            folder = RunFolder(self.store, job.settings.identity(fingerprint))
            cells.setdefault(folder.run, Cell(folder, [], fingerprint)).jobs.append(job)
        self.waiting.extend(cell for cell in cells.values() if self.force or not self._told(cell))

    @contextmanager
    def _runners(self) -> Iterator[None]:
        """Within the block every worker, those that join later too, has its runner."""
        for cell in self.waiting:
            self._portable.sent(cell.settings)
        self.client.subscribe_topic(self.name, self._heard)
        try:
            self._register(Runner(self.name, self._portable.files))
            yield
        except OSError as error:
            if self.client.status == "running":
                raise
            raise UserError(f"{_LOST} ({error})") from None
        finally:
            try:
                self._recall()
            finally:
                for sent in self.out.values():
                    sent.lock.release()

    def _register(self, runner: Runner) -> None:
        """Put the runner on the workers; it is loaded there, so the package must be there too."""
        try:
            self.client.register_plugin(runner, name=self.name)
        except (OSError, UserError):
            raise
        except Exception as error:  # Dask hands some errors on as plain ones.
            raise UserError(
                f"a worker of {self.client.scheduler.address} cannot load this package ({error}); "
                f"install seq2seq-bottleneck {__version__} there"
            ) from None

    async def _heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """A worker's word on a run, in the client's own thread."""
        self.incoming.put((event[1]["task"], event[1]["event"]))

    def _send(self) -> None:
        """Send out what there is room for; runs that another sweep is at go to the end."""
        for _ in range(len(self.waiting)):
            if len(self.out) >= self._room():
                break
            cell = self.waiting.popleft()
            try:
                self._try(cell)
            except UserError as error:
                self._tell(cell.jobs, _failure(error))

    def _try(self, cell: Cell) -> None:
        """Send one run out, unless it has ended meanwhile or another sweep is at it."""
        lock = cell.folder.claim(wait=False)
        if lock is None:
            self.waiting.append(cell)
            return
        try:
            if self.force or not self._told(cell):
                self._submit(cell, lock)
        finally:
            if all(sent.lock is not lock for sent in self.out.values()):
                lock.release()

    def _room(self) -> int:
        """How many runs may be out, by the cluster's size now."""
        if time.monotonic() - self._places[0] > _LOOK:
            threads = sum(self.client.nthreads().values())
            self._places = time.monotonic(), max(LEAST_OUT, AHEAD * threads)
        return self._places[1]

    def _left(self, cell: Cell) -> Files:
        """What a run goes on from: its folder; with ``force`` only if we have written it."""
        if self.force and not cell.ours:
            return {}
        return read_files(cell.folder.path)

    def _submit(self, cell: Cell, lock: BaseFileLock) -> None:
        """Send one run out, with the files that it goes on from."""
        files = self._left(cell)
        cell.attempts += 1
        settings = self._portable.sent(cell.settings)
        run = settings.identity(cell.fingerprint)
        order = Order(run, settings, files)
        task = f"{self.name}-{cell.folder.run}-{cell.attempts}"
        # A checkpoint is meant to travel with its order.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"}):
            future = self.client.submit(execute_order, self.name, order, key=task, pure=False)
        self.out[task] = Sent(cell, run, lock, future)
        self._await(task, future)

    def _await(self, task: str, future: Future) -> None:
        """Have the task's result put among what comes in."""

        def fetch(ended: Future) -> None:
            try:
                self.incoming.put((task, _result(ended)))
            except TimeoutError:
                # The worker that held the result has gone: Dask has the run done again.
                self._await(task, ended)

        future.add_done_callback(fetch)

    def _take(self) -> None:
        """Take in one thing that has come, or find that nothing has for a while."""
        try:
            task, news = self.incoming.get(timeout=_LOOK)
        except Empty:
            return
        if task not in self.out:
            return
        if isinstance(news, Result):
            self._receive(task, news)
        elif isinstance(news, UserError):
            raise news
        else:
            self.out[task].begun = True
            for job in self.out[task].cell.jobs:
                self.listener(job, news)

    def _receive(self, task: str, result: Result) -> None:
        """Put a run's files into the store; a run ended from outside goes out again."""
        cell, event = self._put_away(task, result)
        if event["phase"] != STOPPED:
            self._tell(cell.jobs, event)
        elif cell.attempts < ATTEMPTS:
            self.waiting.appendleft(cell)
        else:
            self._tell(cell.jobs, event | {"phase": "failed"})

    def _put_away(self, task: str, result: Result) -> tuple[Cell, dict[str, Any]]:
        """Write what came back, let go of the run, and say how it ended."""
        sent = self.out[task]
        try:
            event = _keep(sent, result)
        except UserError as error:
            event = _failure(error)
        del self.out[task]
        sent.lock.release()
        return sent.cell, event

    def _told(self, cell: Cell) -> bool:
        """Whether the run has ended in the store; if so it is told."""
        held = cell.folder.read_status()
        if held.get("status") not in ENDED:
            return False
        event = {"phase": held["status"], "run": cell.folder.run, "reason": held["reason"]}
        self._tell(cell.jobs, event)
        return True

    def _tell(self, jobs: Sequence[Job], event: dict[str, Any]) -> None:
        """Tell how jobs ended, and keep it."""
        for job in jobs:
            self.outcomes[job.name] = Outcome(job, **event)
            self.listener(job, event)

    def _recall(self) -> None:
        """Take the runners off the workers; what is out comes back with its checkpoint."""
        for task in [task for task, sent in self.out.items() if not sent.begun]:
            sent = self.out.pop(task)
            sent.future.cancel()
            sent.lock.release()
        if self.client.status != "running":
            return
        tell_stopping([job for sent in self.out.values() for job in sent.cell.jobs], self.listener)
        # Without the scheduler, or on a worker that never had it, there is nothing to take off.
        with suppress(OSError, ValueError, KeyError):
            self.client.unregister_worker_plugin(self.name)
        deadline = time.monotonic() + PATIENCE
        while self.out and time.monotonic() < deadline:
            self._take_back()

    def _take_back(self) -> None:
        """While stopping: put into the store what has come back."""
        try:
            task, news = self.incoming.get(timeout=_LOOK)
        except Empty:
            return
        if task in self.out and isinstance(news, Result):
            self._put_away(task, news)


def _result(future: Future) -> Result | UserError:
    """What a future holds; a lost scheduler is the sweep's end, anything else this run's alone."""
    if future.status == "cancelled":
        return UserError(_LOST)
    try:
        return future.result(timeout=_GATHERING)
    except TimeoutError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Result({"phase": "failed", "reason": " ".join(reason.split())})


def _keep(sent: Sent, result: Result) -> dict[str, Any]:
    """Write the files that came back; what to tell of the run."""
    if result.event.get("run", sent.run) != sent.run:
        reason = "the worker made another run of these settings; install the same version there"
        return {"phase": "failed", "reason": reason, "exit_code": UserError.exit_code}
    if STATUS in result.files:
        if unlike := _unlike(result.files):
            reason = f"its {unlike[0]} did not come as it left; the same command runs it again"
            return {"phase": "failed", "reason": reason, "exit_code": UserError.exit_code}
        sent.cell.folder.replace(_as_here(sent.cell, result.files))
        sent.cell.ours = True
    return result.event | ({"run": sent.cell.folder.run} if "run" in result.event else {})


def _unlike(files: Files) -> list[str]:
    """Files that are not as the sums say that come with them; before a run's end there are none."""
    if SUMS not in files:
        return []
    listed = parsed(files[SUMS])
    return sorted(
        name
        for name in {*files, *listed} - {SUMS, *UNLISTED}
        if name not in files or digest_of(files[name]) not in listed.get(name, ())
    )


def _as_here(cell: Cell, files: Files) -> Files:
    """A run's files as they are in this store: the user's own files by their names here."""
    if SETTINGS not in files:
        return files
    settings = json_text(cell.settings.model_dump()).encode()
    here = files | {SETTINGS: settings}
    if SUMS in files:
        here[SUMS] = written(parsed(files[SUMS]) | {SETTINGS: [digest_of(settings)]})
    return here


def _failure(error: UserError) -> dict[str, Any]:
    """A user's own error as an event."""
    return {"phase": "failed", "reason": str(error), "exit_code": error.exit_code}
