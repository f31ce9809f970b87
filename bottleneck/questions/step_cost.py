"""One point of the benchmark (C9): a training step of every arm at one set of sizes.

It is measured in a process of its own, because a worker's memory and threads are set when it starts
(`runs.pool.worker_environment`), and so that no point is influenced by what another left behind.
All arms of the point are compiled first; then they take turns, A B A B, a group of steps each.

Memory is what XLA's compiled programs state: the bytes of all that goes into a program, of its
results and of its work space, of whichever program needs more, the gradient's or the optimizer's.
It is known before anything is allocated and is the same at every call. A process's peak resident
memory is not: it has Python, XLA, and what the allocator keeps, 97 to 99 MB more (2026-11-21).
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..corpus.batches import Batch
from ..corpus.vocabulary import EOS, UNK
from ..model.parts import Stack
from ..model.translator import create
from ..runs.run import describe_environment, use_cache
from ..settings.concerns import ModelSettings, TrainingSettings
from ..settings.machine import cores
from ..training.step import TrainState, initial_state, make_update
from .benchmark import EMBEDDING, Sizes
from .cost import OUTPUT

TRAINING = TrainingSettings()
"""Clipping and Adam as in a run; warm-up, decay and learning rate change no step's cost."""


def measure_point(emit: Callable[[int, dict[str, Any]], None], **order: Any) -> None:
    """The task of a worker process."""
    use_cache()
    emit(0, {"phase": "done"} | measure(**order))


def measure(sizes: Sequence[int], arms: Sequence[str], repeats: int) -> dict[str, Any]:
    """What is known of the machine, and of each arm: bytes, seconds of each group, steps of one.

    An arm that fails or does not fit into the free memory has a reason, and does not stop the
    others. Compiling is not timed and takes longest, so it has every core. The first round is for
    warming up and is not counted.
    """
    steps: dict[str, Step] = {}
    results: dict[str, dict[str, Any]] = {arm: {} for arm in arms}
    free = free_bytes()
    with ThreadPoolExecutor(cores()) as pool:
        for arm, future in [(arm, pool.submit(Step, arm, Sizes(*sizes))) for arm in arms]:
            try:
                step = future.result()
                results[arm]["peak_bytes"] = step.peak_bytes
                if free is not None and step.peak_bytes > free:
                    need, has = (f"{count / 1e9:,.1f} GB" for count in (step.peak_bytes, free))
                    raise MemoryError(f"a step needs {need}, {has} are free")
                step.begin()
            # What jax and NumPy raise for sizes that are too large.
            except (RuntimeError, MemoryError, OverflowError, ValueError, TypeError) as error:
                lines = str(error).strip().splitlines() or [type(error).__name__]
                results[arm]["reason"] = lines[0][:200]
            else:
                steps[arm] = step
    for arm, step in steps.items():
        count = max(1, round(0.3 / step.seconds(1)))  # a group takes 0.3 seconds, or a step
        results[arm] |= {"seconds": [], "steps": count}
    for number in range(repeats + 1):
        for arm, step in steps.items():
            elapsed = step.seconds(results[arm]["steps"])
            results[arm]["seconds"] += [elapsed] if number else []
    facts = describe_environment()
    machine = {
        "machine": facts["processor"],
        "version": facts["bottleneck"],
        "device": facts["device"],
        "threads": facts["threads"],
        "jax": facts["versions"]["jax"],
    }
    return {"machine": machine, "arms": results}


def free_bytes() -> int | None:
    """Free memory: the device's, otherwise the machine's as Linux states it."""
    memory = jax.devices()[0].memory_stats() or {}
    if "bytes_limit" in memory:
        return memory["bytes_limit"] - memory.get("bytes_in_use", 0)
    try:
        with open("/proc/meminfo", encoding="utf8") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration):
        return None


@dataclass(frozen=True)
class Ahead(Stack):
    """A stack whose programs are compiled when they are first traced, before there are arrays.

    ``peaks`` are the bytes that each program needs.
    """

    peaks: list[int] = field(default_factory=list)

    def program(
        self, function: Callable, shared: Sequence[int] = (), cut: Sequence[int] = ()
    ) -> Callable:
        """The jitted function: traced, it is compiled; with arrays, what was compiled runs."""
        jitted, executables = super().program(function, shared, cut), []

        def call(*arguments: Any) -> Any:
            if executables:
                return executables[0](*arguments)
            shapes = shapes_of(arguments)
            executables.append(jitted.lower(*shapes).compile())
            memory = executables[0].memory_analysis()
            taken = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
            self.peaks.append(taken + memory.output_size_in_bytes + memory.temp_size_in_bytes)
            return jitted(*arguments)

        return call


class Step:
    """A training step of one arm at one set of sizes; weights are not allocated until `begin`."""

    def __init__(self, arm: str, sizes: Sizes):
        model = ModelSettings(
            attention=arm.removesuffix(OUTPUT),
            placement="output" if arm.endswith(OUTPUT) else "input",
            embedding_size=EMBEDDING,
            context_size=sizes.context_size,
        )
        graphs: list[Any] = []

        def begin() -> TrainState:
            graph, weights = create(model, sizes.vocabulary, sizes.vocabulary, TRAINING.seed)
            graphs.append(graph)
            return initial_state(weights, TRAINING)

        stack, self.batch, self._begin = Ahead(1), random_batch(sizes), begin
        state = jax.eval_shape(begin)
        self.update = make_update(graphs[0], TRAINING, stack)
        jax.eval_shape(self.update, state, shapes_of(self.batch))
        self.peak_bytes = max(stack.peaks)

    def begin(self) -> None:
        """Draw weights, and take the first step."""
        self.state = self._begin()
        self.seconds(1)

    def seconds(self, steps: int) -> float:
        """Seconds per step of so many steps in turn; none waits for the host to look at it."""
        start = time.perf_counter()
        for _ in range(steps):
            self.state, _ = self.update(self.state, self.batch)
        jax.block_until_ready(self.state)
        return (time.perf_counter() - start) / steps


def shapes_of(tree: Any) -> Any:
    """The shapes and types of a tree's arrays."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


def random_batch(sizes: Sizes) -> Batch:
    """Random words, as many on both sides, so that nothing is padded."""
    draw = np.random.default_rng(1)
    shape = sizes.batch_size, sizes.length
    sides = [draw.integers(UNK + 1, sizes.vocabulary, shape, np.int32) for _ in range(2)]
    for side in sides:
        side[:, -1] = EOS
    lengths = np.full(sizes.batch_size, sizes.length, np.int32)
    return Batch(sides[0], lengths, sides[1], lengths)
