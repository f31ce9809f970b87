"""Tasks (runs, probes, a benchmark) in worker processes, a single-threaded one per core.

If there are more cores than runs, a run gets several. On an accelerator, processes run one after
the other, and each trains the seeds of an arm together.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from queue import Queue
from threading import Thread
from typing import IO, Any

from ..settings.machine import NUMBERS, cores, mendable
from ..settings.run import RunSettings
from ..settings.sweep import Cell

Event = dict[str, Any]
"""An event of one run: its ``phase``, and facts about it."""
ENDS = ("done", "diverged", "failed")
"""The phases that the last event of a run may have."""


@dataclass
class Outcome:
    """How the run of a cell ended (`ENDS`), and why."""

    cell: Cell
    phase: str
    run: str = ""
    reason: str = ""


Listener = Callable[[Cell, Event], None]


def has_accelerator() -> bool:
    """Whether jax would find a GPU here, without importing jax."""
    plugin = any(find_spec(name) for name in ("jax_cuda12_plugin", "jax_cuda13_plugin"))
    on_cpu = os.environ.get("JAX_PLATFORMS", "").lower() == "cpu"
    return plugin and not on_cpu and Path("/dev/nvidia0").exists()


def run_cells(
    cells: Sequence[Cell],
    store: Path,
    listener: Listener,
    width: int | None = None,
    together: int | None = None,
    threads: int | None = None,
) -> list[Outcome]:
    """Execute the runs of all cells into ``store``: ``width`` processes at once.

    Each has this many ``threads``, and trains so many seeds ``together``. A run that diverges or
    fails does not stop the others; a KeyboardInterrupt stops them all, each with a checkpoint from
    which the same command continues.
    """
    accelerated = has_accelerator()
    if threads is None:
        # Finished runs count, too: a run's sums must not depend on where a command was stopped.
        threads = 1 if width or accelerated else max(1, cores() // max(1, len(cells)))
    width = width or (1 if accelerated else max(1, cores() // threads))
    together = together or (16 if accelerated else 1)
    alike: dict[RunSettings, list[Cell]] = {}
    for cell in cells:
        alike.setdefault(cell.settings.changed(training={"seed": 0}), []).append(cell)
    orders, stacks = [], []  # a stack has cells that differ only in their seed
    for group in alike.values():
        stacks += [group[place : place + together] for place in range(0, len(group), together)]
    for stack in sorted(stacks, key=lambda stack: cells.index(stack[0])):
        settings = [cell.settings.model_dump() for cell in stack]
        orders.append((stack, {"stack": settings, "store": str(store.resolve())}))
    ends = run_workers("runs.run:execute_stack", orders, listener, width, threads)
    return [Outcome(cell, **ends[cell]) for cell in cells]


def run_workers(
    task: str,
    orders: Iterable[tuple[Sequence[Any], dict[str, Any]]],
    listen: Callable[[Any, Event], None] = lambda *_: None,
    width: int = 1,
    threads: int = 1,
) -> dict[Any, Event]:
    """Run a task (`main`) once per order, each in a new process, ``width`` at once.

    An order has the subjects of its events, and the arguments of the task. ``listen`` gets each
    event with its subject; the last event of each subject is returned. Each of XLA's ``threads``
    is a device. All processes end with this call.
    """
    waiting, under_way, ends = list(orders), 0, {}
    processes: list[subprocess.Popen] = []
    events: Queue[tuple[Any, Event | None]] = Queue()
    variables = worker_environment(threads)
    try:
        while waiting or under_way:
            while waiting and under_way < width:
                subjects, order = waiting.pop(0)
                errors = tempfile.TemporaryFile("w+", encoding="utf8", errors="replace")  # noqa: SIM115 (the reader closes it)
                process = subprocess.Popen(
                    [sys.executable, "-m", "seq2seq_bottleneck.runs.pool"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf8",
                    env=variables,
                    # The parent handles a Ctrl-C in the terminal.
                    start_new_session=True,
                )
                processes.append(process)
                with suppress(BrokenPipeError), process.stdin:
                    process.stdin.write(json.dumps([task, len(subjects), order]))
                reading = process, errors, subjects, events
                Thread(target=_read_events, args=reading, daemon=True).start()
                under_way += 1
            subject, event = events.get()
            if event is None:
                under_way -= 1
            else:
                listen(subject, event)
                ends[subject] = event
        return ends
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=8)  # to write its checkpoint
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _read_events(
    process: subprocess.Popen, errors: IO[str], subjects: Sequence[Any], events: Queue
) -> None:
    """Queue a worker's events; at its end a failure for each unfinished subject, then None."""
    live = dict(enumerate(subjects))
    with errors, process.stdout:
        for line in process.stdout:
            with suppress(ValueError):  # a line that was being written when the process was killed
                place, event = json.loads(line)
                if place in live:
                    events.put((live[place], event))
                    if event["phase"] in ENDS:
                        del live[place]
        code = process.wait()
        errors.seek(0)
        lines = [line.strip() for line in errors if line.strip()]
    reason = lines[-1] if lines and code >= 0 else f"its process was ended by signal {-code}"
    if code == -signal.SIGKILL:
        reason = "its process was killed (signal 9); if memory was short, use fewer --jobs"
    for subject in live.values():
        events.put((subject, {"phase": "failed", "reason": reason}))
    events.put((None, None))


def worker_environment(threads: int = 1) -> dict[str, str]:
    """A worker's environment; the user's values stay if they do not change numbers.

    OpenBLAS has one thread, since its threads wait by spinning. glibc keeps freed pages: otherwise
    mapping XLA's buffers takes a third of a step. On a GPU the compiler does not try out kernels:
    that takes twice the time, and may choose different kernels each time.
    """
    memory = ("hugetlb=1", "arena_max=1", "mmap_threshold=4000000000", "trim_threshold=4000000000")
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{setting}" for setting in memory),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "JAX_TRACEBACK_FILTERING": "off",  # otherwise an error's last line is a notice
        **os.environ,
        **NUMBERS,
        "PYTHONSAFEPATH": "1",  # never import a user's tokenize.py from the working folder
    }
    if has_accelerator():
        flags = f"{environment.get('XLA_FLAGS', '')} --xla_gpu_autotune_level=0"
        return environment | {"XLA_FLAGS": flags.strip()}
    # NPROC: the cores that XLA counts.
    if threads > 1:
        environment |= {"NPROC": str(threads), "JAX_NUM_CPU_DEVICES": str(threads)}
    elif not environment.get("NPROC", "").isdecimal():
        environment["NPROC"] = "1"
    return environment


def main() -> None:
    """Run the task of an order, which is JSON on stdin; write events as JSON lines on stdout.

    The order has the task (module and name of a function that gets ``emit`` and the arguments),
    the number of its subjects, and the arguments. An error that the user can fix becomes an event
    of each subject. If the reader of the events ends, this process gets SIGTERM.
    """
    task, places, order = json.loads(sys.stdin.read())
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def emit(place: int, event: Event) -> None:
        try:
            print(json.dumps([place, event]), file=events, flush=True)
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
        for place in range(places):
            emit(place, {"phase": "failed", "reason": str(known)})


if __name__ == "__main__":
    main()
