"""Runs in processes of their own, one single-threaded process a core.

Where there are more cores than runs, a run has several, each a device with its part of every batch
(``model.parts``). On an accelerator one process goes after the other, and each trains the seeds of
equal shape together.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, Any

from ..settings.machine import NUMBERS, cores, nproc_from
from ..settings.run import RunSettings


@dataclass(frozen=True)
class Job:
    """One run to execute, a name for the display, its sweep's group."""

    name: str
    settings: RunSettings
    group: str = ""


@dataclass
class Outcome:
    """How a job ended: ``done`` as run ``run`` of the store, ``diverged`` or ``failed``; why.

    ``exit_code`` is that of the user's own error, which has the ``reason`` as its message; else 0.
    """

    job: Job
    phase: str
    run: str = ""
    reason: str = ""
    exit_code: int = 0


Listener = Callable[[Job, dict[str, Any]], None]
Executor = Callable[[Sequence[Job], Path, Listener], list[Outcome]]
"""Maps jobs to outcomes: run folders in the store, events to the listener."""

PATIENCE = 8.0
"""Seconds that a worker has to write its checkpoint when asked to stop."""

ENDS = ("done", "diverged", "failed")
"""Phases of a run's last event."""


MEMORY = "glibc.malloc." + ":glibc.malloc.".join(
    ("hugetlb=1", "arena_max=1", "mmap_threshold=4000000000", "trim_threshold=4000000000")
)
"""What glibc (from 2.35; others ignore it) is told about a worker's memory: large pages, and no
giving back. XLA allocates its buffers anew at every step, and a third of a step goes into having
them mapped otherwise (results/LOG.md, 2026-11-20)."""
NO_AUTOTUNING = "--xla_gpu_autotune_level=0"
"""What XLA is told on a GPU: products by its own choice of kernel, none tried out while compiling.

On an H100 a shape then compiles in 4.6 s instead of 9.1, and an update takes 6.5 ms instead of 4.7,
so that only tens of thousands of updates would earn it back; and the choice is always the same one.
"""


def has_accelerator() -> bool:
    """Whether jax would find a GPU here, without importing jax."""
    plugin = any(find_spec(name) for name in ("jax_cuda12_plugin", "jax_cuda13_plugin"))
    on_cpu = os.environ.get("JAX_PLATFORMS", "").lower() == "cpu"
    return plugin and not on_cpu and Path("/dev/nvidia0").exists()


def default_width(threads: int = 1) -> int:
    """How many runs of so many threads go at once where nothing else is said."""
    return 1 if has_accelerator() else max(1, cores() // threads)


def default_threads(runs: int) -> int:
    """How many cores each of so many runs has where nothing else is said.

    All runs of a command count, those too that are done: what a run's sums are added up in must
    not hang on how often the command was stopped.
    """
    return 1 if has_accelerator() else max(1, cores() // max(1, runs))


def default_together() -> int:
    """How many seeds of equal shape make one program where nothing else is said.

    A small model leaves an accelerator mostly idle, and seeds fill it up; a core has no room.
    """
    return 16 if has_accelerator() else 1


def run_jobs(
    jobs: Sequence[Job],
    store: Path,
    listener: Listener,
    width: int | None = None,
    force: bool = False,
    together: int = 1,
    threads: int = 1,
) -> list[Outcome]:
    """Execute all jobs into ``store``, ``width`` at once (default: one per core; one on a GPU).

    Each has so many ``threads``, of which it makes a device each.

    Up to ``together`` jobs that differ in their seed alone are one stack, trained by one program
    in one process. Stacks start in the order of their first jobs, outcomes come in the order given.

    A run that diverges or fails does not stop the others; a KeyboardInterrupt stops them all,
    each with a checkpoint from which the same command goes on.
    """
    waiting, outcomes = list(reversed(stacks(jobs, together))), {}
    events: Queue[tuple[list[Job], dict[str, Any]]] = Queue()
    order = {"store": str(store.resolve()), "force": force}
    with held_processes() as processes:

        def begin(stack: list[Job]) -> None:
            """Start a worker and a thread that reads it."""
            errors = tempfile.TemporaryFile("w+", encoding="utf8", errors="replace")  # noqa: SIM115 (the reader closes it)
            stacked = order | {"stack": [job.settings.model_dump() for job in stack]}
            process = start_worker("runs", stacked, errors, threads if threads > 1 else None)
            processes.append(process)
            Thread(target=_read, args=(stack, process, errors, events), daemon=True).start()

        for _ in range(min(width or default_width(threads), len(waiting))):
            begin(waiting.pop())
        try:
            while len(outcomes) < len(jobs):
                stack, event = events.get()
                job = stack[event.pop("place")]
                listener(job, event)
                if event["phase"] not in ENDS:
                    continue
                outcomes[job.name] = Outcome(job, **event)
                if waiting and all(other.name in outcomes for other in stack):
                    begin(waiting.pop())
        except KeyboardInterrupt:
            over = {*outcomes, *(job.name for stack in waiting for job in stack)}
            for job in (job for job in jobs if job.name not in over):
                listener(job, {"phase": "stopping"})  # its checkpoint takes seconds
            raise
    return [outcomes[job.name] for job in jobs]


def stacks(jobs: Sequence[Job], together: int) -> list[list[Job]]:
    """Jobs that differ in their seed alone, at most ``together`` of them in each list.

    No seed comes twice in one: runs of a stack are different runs.
    """
    open_stacks: dict[str, list[Job]] = {}
    order: list[list[Job]] = []
    for job in jobs:
        alike = job.settings.without_seed().model_dump_json()
        stack = open_stacks.get(alike, [])
        seeds = {other.settings.training.seed for other in stack}
        if not stack or len(stack) >= together or job.settings.training.seed in seeds:
            stack = open_stacks[alike] = []
            order.append(stack)
        stack.append(job)
    return order


@contextmanager
def held_processes() -> Iterator[list[subprocess.Popen]]:
    """A list of processes, none of which outlives the block: those that do not stop are killed."""
    processes: list[subprocess.Popen] = []
    try:
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start_worker(
    room: str, order: dict[str, Any], errors: IO[str], threads: int | None = None
) -> subprocess.Popen:
    """Start the worker of a room, which reads its order from stdin and tells events on stdout.

    ``threads`` are XLA's, each a device of its own (``model.parts``); one where nothing is said. A
    worker that dies at once takes no order: whoever reads it sees that.
    """
    variables = {} if threads is None or has_accelerator() else in_threads(threads)
    process = subprocess.Popen(
        [sys.executable, "-m", f"seq2seq_bottleneck.{room}.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf8",
        errors="replace",
        env=worker_environment() | variables,
        # A Ctrl-C in the terminal is the parent's to handle.
        start_new_session=True,
    )
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(json.dumps(order))
    return process


def in_threads(count: int) -> dict[str, str]:
    """What tells XLA's CPU backend to have so many threads and as many devices."""
    return {"NPROC": str(count), "JAX_NUM_CPU_DEVICES": str(count)}


def worker_environment() -> dict[str, str]:
    """What a worker's libraries are told about threads, memory, kernels, where the user did not.

    And about numbers, whatever the user told them. On a GPU all cores compile: NPROC = 1 would have
    XLA compile its kernels one after the other. OpenBLAS has one thread: its threads wait by
    spinning, and with a worker on every core the orthogonal start of a cell's weights (256 x 256)
    took a second instead of milliseconds.
    """
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "GLIBC_TUNABLES": MEMORY,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "JAX_TRACEBACK_FILTERING": "off",  # else an error ends in a notice
        **os.environ,
        **NUMBERS,
    }
    if not has_accelerator():  # XLA's CPU backend counts cores by NPROC
        return environment | {"NPROC": str(nproc_from(environment) or 1)}
    flags = environment.get("XLA_FLAGS", "")
    if "xla_gpu_autotune_level" not in flags:
        flags = f"{flags} {NO_AUTOTUNING}".strip()
    return environment | {"XLA_FLAGS": flags}


def _read(stack: list[Job], process: subprocess.Popen, errors: IO[str], events: Queue) -> None:
    """Pass a worker's events on; of a run that it has not ended, that it failed."""
    live = set(range(len(stack)))
    with errors:
        for event in read_events(process, live):
            events.put((stack, event))
        reason = last_words(process, errors)
    for place in sorted(live):
        events.put((stack, {"place": place, "phase": "failed", "reason": reason}))


def read_events(process: subprocess.Popen, live: set[int]) -> Iterator[dict[str, Any]]:
    """A worker's own events until its process has ended; takes runs that end out of ``live``.

    A line that is no event is something else that has got into the pipe.
    """
    with process.stdout:
        for line in process.stdout:
            event = None
            with suppress(ValueError):
                event = json.loads(line)
            if isinstance(event, dict) and {"place", "phase"} <= event.keys():
                if event["phase"] in ENDS:
                    live.discard(event["place"])
                yield event
    process.wait()


def last_words(process: subprocess.Popen, errors: IO[str]) -> str:
    """Why a worker died: the signal, or the last line of its traceback."""
    if process.returncode is not None and process.returncode < 0:
        killed = "; perhaps there was not enough memory: fewer --jobs need less"
        why = killed if process.returncode == -signal.SIGKILL else ""
        return f"its process was ended by signal {-process.returncode}{why}"
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    return lines[-1] if lines else f"its process ended with code {process.returncode}"
