"""A run on a Dask worker: its folder and settings come in, the folder goes back.

Each run is a process of its own (``worker.py``) in a temporary folder, as it is on one machine, so
that the Dask worker stays small and answers at once. ``Runner`` is what a sweep puts on every
worker, once: the user's corpus, and the list of processes to end.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Thread
from typing import IO, Any

from distributed import Worker, WorkerPlugin, get_worker

from ..settings.atomic import write_bytes
from ..settings.run import RunSettings
from .pool import ENDS, end, held_processes, last_words, read_events, start

STOPPED = "stopped"
"""A phase beside those of ``pool``: something other than the run itself ended its process."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Order:
    """One run to execute: its name, its settings, and its folder as it stands."""

    run: str
    settings: RunSettings
    files: Files


@dataclass(frozen=True)
class Result:
    """How it ended, and its folder as it then stands."""

    event: dict[str, Any]
    files: Files = field(default_factory=dict)

    @property
    def phase(self) -> str:
        """``done``, ``diverged``, ``failed`` or ``stopped``."""
        return str(self.event["phase"])


def execute_order(runner: str, order: Order) -> Result:
    """The task that the scheduler hands out: the order, carried out by this worker's runner."""
    found = get_worker().plugins.get(runner)
    if not isinstance(found, Runner):
        return Result({"phase": STOPPED, "reason": "the sweep was stopped"})
    return found.execute(order)


class Runner(WorkerPlugin):
    """Executes orders on one worker; ends what it executes when nobody wants it any more."""

    def __init__(self, name: str, corpus: Files) -> None:
        self.name = name
        self._corpus = corpus

    def setup(self, worker: Worker) -> None:
        """On the worker: put the corpus where the runs find it."""
        self._worker = worker
        self._folder = self._temporary()
        write_files(Path(self._folder.name), self._corpus)
        self._corpus = {}
        self._processes: dict[Any, Popen] = {}
        self._closing = False

    def _temporary(self) -> TemporaryDirectory:
        """A folder that Dask clears away even if this worker is killed."""
        return TemporaryDirectory(dir=self._worker.local_directory, ignore_cleanup_errors=True)

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 (Dask's interface)
        """End all runs, each with a checkpoint; they go back as stopped."""
        self._closing = True
        await asyncio.to_thread(end, list(self._processes.values()))
        self._folder.cleanup()

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:  # noqa: ARG002
        """End a run that was cancelled, or whose sweep has gone."""
        process = self._processes.get(key)
        if process is not None and finish == "released":
            Thread(target=end, args=([process],), daemon=True).start()

    def execute(self, order: Order) -> Result:
        """Execute one order, in the worker's thread for tasks."""
        with (
            self._temporary() as store,
            TemporaryFile("w+", encoding="utf8", errors="replace") as errors,
            held_processes() as held,
        ):
            folder = Path(store, order.run)
            write_files(folder, order.files)
            held.append(
                start([order.settings], Path(store), False, errors, Path(self._folder.name))
            )
            event = self._follow(held[0], errors)
            return Result(event, read_files(folder))

    def _follow(self, process: Popen, errors: IO[str]) -> dict[str, Any]:
        """Pass a run's events on, by its task, while its process lives; its last event."""
        key, live, last = get_worker().get_current_task(), {0}, {}
        self._processes[key] = process
        if self._closing:
            process.terminate()
        try:
            for event in read_events(process, live):
                del event["place"]
                if event["phase"] in ENDS:
                    last = event
                else:
                    self._worker.log_event(self.name, {"task": key, "event": event})
        finally:
            del self._processes[key]
        return _without_a_word(process, errors) if live else last


def _without_a_word(process: Popen, errors: IO[str]) -> dict[str, Any]:
    """The end of a run that did not tell it: by a signal, as it was asked to, or by a fault."""
    phase = STOPPED if process.returncode <= 0 else "failed"
    return {"phase": phase, "reason": last_words(process, errors)}


def read_files(folder: Path) -> Files:
    """The files of a run's folder by name; none where there is no folder."""
    found = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path.read_bytes() for path in found if not path.name.startswith(".")}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files in the order given."""
    for name, content in files.items():
        write_bytes(folder / name, content)
