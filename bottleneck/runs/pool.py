"""Runs as worker processes (`main`), one single-threaded process per core.

Where there are more cores than runs, a run has several. On an accelerator one process goes after
the other, and each trains the seeds of equal shape together.
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
from pkgutil import resolve_name
from queue import Queue
from threading import Thread
from typing import IO, Any

from ..settings.machine import NUMBERS, cores, mendable
from ..settings.run import RunSettings
from ..settings.sweep import Member


@dataclass(frozen=True)
class Job:
    """One run to execute, a name for the display, and what its experiment calls it."""

    name: str
    settings: RunSettings
    member: Member | None = None


@dataclass
class Outcome:
    """How a job ended (`ENDS`), and why; ``exit_code`` is that of the user's own error, else 0."""

    job: Job
    phase: str
    run: str = ""
    reason: str = ""
    exit_code: int = 0


Listener = Callable[[Job, dict[str, Any]], None]
Executor = Callable[[Sequence[Job], Path, Listener], list[Outcome]]
"""Maps jobs to outcomes: run folders in the store, events to the listener."""
ENDS = ("done", "diverged", "failed")
"""Phases of a run's last event."""


def has_accelerator() -> bool:
    """Whether jax would find a GPU here, without importing jax."""
    plugin = any(find_spec(name) for name in ("jax_cuda12_plugin", "jax_cuda13_plugin"))
    on_cpu = os.environ.get("JAX_PLATFORMS", "").lower() == "cpu"
    return plugin and not on_cpu and Path("/dev/nvidia0").exists()


def divide(
    runs: int, width: int | None = None, threads: int | None = None, together: int | None = None
) -> tuple[int, int, int]:
    """How many runs go at once, with how many threads each, and how many seeds as one program.

    ``runs`` counts those already done: a run's sums must not depend on where a command was stopped.
    """
    if has_accelerator():
        return width or 1, threads or 1, together or 16
    threads = threads or (1 if width else max(1, cores() // max(1, runs)))
    return width or max(1, cores() // threads), threads, together or 1


def run_jobs(
    jobs: Sequence[Job],
    store: Path,
    listener: Listener,
    width: int | None = None,
    together: int | None = None,
    threads: int | None = None,
) -> list[Outcome]:
    """Execute all jobs into ``store``, as many at once as `divide` says.

    A run that diverges or fails does not stop the others; a KeyboardInterrupt stops them all, each
    with a checkpoint from which the same command goes on.
    """
    free, threads, together = divide(len(jobs), width, threads, together)
    waiting, outcomes = list(reversed(stacks(jobs, together))), {}
    with worker_processes() as (start, events):
        while len(outcomes) < len(jobs):
            while waiting and free:
                stack = waiting.pop()
                settings = [job.settings.model_dump() for job in stack]
                order = {"stack": settings, "store": str(store.resolve())}
                start(stack, "runs.run:execute_stack", order, len(stack), threads)
                free -= 1
            stack, event = events.get()
            job = stack[event.pop("place")]
            listener(job, event)
            if event["phase"] in ENDS:
                outcomes[job.name] = Outcome(job, **event)
                free += all(other.name in outcomes for other in stack)
    return [outcomes[job.name] for job in jobs]


def stacks(jobs: Sequence[Job], together: int) -> list[list[Job]]:
    """Jobs that differ in their seed alone, at most ``together`` in each list."""
    alike: dict[RunSettings, list[Job]] = {}
    for job in jobs:
        alike.setdefault(job.settings.changed(training={"seed": 0}), []).append(job)
    order = []
    for group in alike.values():
        order += [group[place : place + together] for place in range(0, len(group), together)]
    return sorted(order, key=lambda stack: jobs.index(stack[0]))


@contextmanager
def worker_processes() -> Iterator[tuple[Callable[..., None], Queue]]:
    """A function that starts workers, which all end with the block, and the queue of their events.

    Each event comes with its worker's key.
    """
    processes: list[subprocess.Popen] = []
    events: Queue[tuple[Any, dict[str, Any]]] = Queue()

    def start(
        key: Any, task: str, order: dict[str, Any], places: int = 1, threads: int = 1
    ) -> None:
        """Start a process for a task (`main`); each of XLA's ``threads`` is a device."""
        variables = worker_environment()
        if threads > 1 and not has_accelerator():
            variables |= {"NPROC": str(threads), "JAX_NUM_CPU_DEVICES": str(threads)}
        errors = tempfile.TemporaryFile("w+", encoding="utf8", errors="replace")  # noqa: SIM115 (the reader closes it)
        process = subprocess.Popen(
            [sys.executable, "-m", "seq2seq_bottleneck.runs.pool"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf8",
            env=variables,
            # A Ctrl-C in the terminal is the parent's to handle.
            start_new_session=True,
        )
        processes.append(process)
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(json.dumps(order | {"task": task, "places": places}))

        def read() -> None:
            for event in read_events(process, errors, places):
                events.put((key, event))

        Thread(target=read, daemon=True).start()

    try:
        yield start, events
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=8)  # to write its checkpoint
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def read_events(
    process: subprocess.Popen, errors: IO[str], places: int
) -> Iterator[dict[str, Any]]:
    """A worker's events until its process ends, then a failure of each place without an end."""
    live = set(range(places))
    with errors, process.stdout:
        for line in process.stdout:
            with suppress(ValueError):  # a line that was being written when the process was killed
                event = json.loads(line)
                if event["phase"] in ENDS:
                    live.discard(event["place"])
                yield event
        code = process.wait()
        errors.seek(0)
        lines = [line.strip() for line in errors if line.strip()]
    reason = lines[-1] if lines and code >= 0 else f"its process ended by signal {-code}"
    if code == -signal.SIGKILL:
        reason = "its process was killed (signal 9); if memory was short, fewer --jobs need less"
    for place in sorted(live):
        yield {"place": place, "phase": "failed", "reason": reason}


def worker_environment() -> dict[str, str]:
    """A worker's environment; what does not change numbers is as the user has set it.

    OpenBLAS's threads would wait by spinning. glibc gives no pages back: else mapping XLA's buffers
    would take a third of a step. On a GPU no kernels are tried out while compiling: it would take
    twice the time, and choose others each time.
    """
    memory = ("hugetlb=1", "arena_max=1", "mmap_threshold=4000000000", "trim_threshold=4000000000")
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{setting}" for setting in memory),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "JAX_TRACEBACK_FILTERING": "off",  # else an error ends in a notice
        **os.environ,
        **NUMBERS,
        "PYTHONSAFEPATH": "1",  # a user's own tokenize.py in the working folder is no module
    }
    if has_accelerator():
        flags = f"{environment.get('XLA_FLAGS', '')} --xla_gpu_autotune_level=0"
        return environment | {"XLA_FLAGS": flags.strip()}
    if not environment.get("NPROC", "").isdecimal():
        environment["NPROC"] = "1"  # the cores that XLA counts
    return environment


def main() -> None:
    """Do the task of an order: JSON on stdin; events go out as JSON lines on stdout.

    The order names the ``task``, a function by module and name, which is given ``emit`` and the
    rest of the order. An event has a ``place``, from 0 to the order's ``places``, and a ``phase``.
    An error that the user can mend is an event. The end of the events' reader is SIGTERM to this.
    """
    order = json.loads(sys.stdin.read())
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    task, live = order.pop("task"), set(range(order.pop("places")))

    def emit(place: int, event: dict[str, Any]) -> None:
        if event["phase"] in ENDS:
            live.discard(place)
        try:
            print(json.dumps({"place": place} | event), file=events, flush=True)
        except BrokenPipeError:
            # What is left in the buffer must not be flushed at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), events.fileno())
            signal.raise_signal(signal.SIGTERM)

    try:
        resolve_name(f"seq2seq_bottleneck.{task}")(emit, **order)
    except Exception as error:
        known = mendable(error)
        if known is None:
            raise
        for place in sorted(live):
            emit(place, {"phase": "failed", "reason": str(known), "exit_code": known.exit_code})


if __name__ == "__main__":
    main()
