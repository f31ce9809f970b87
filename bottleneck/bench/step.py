"""One arm's training step, compiled ahead of time: what memory it needs, and how long it takes.

Memory is what XLA's compiled programs say: the bytes of all that goes into a program, of its
results and of its work space, of whichever program needs more, the gradient's or the optimizer's.
It is known before anything is allocated and the same at every call, which a process's peak
resident memory is not: the allocator keeps what it once had, and Python and XLA themselves are in
it. It leaves out the program's code and what a library takes behind XLA's back. Of a process that
takes two steps the resident peak rises by as much and by 97 to 99 MB besides (2026-11-21, one core:
none at length 30, 91 and 188 MB; additive at 100, 280 and 379; dot-output at 200, 488 and 587).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..corpus.batches import Batch
from ..corpus.vocabulary import EOS, UNK
from ..model.translator import create
from ..settings.concerns import TrainingSettings
from ..training.stack import Stack
from ..training.step import TrainState, initial_state, make_update
from .grid import Arm, Sizes

TRAINING = TrainingSettings()
"""Clipping and Adam as in a run; warm-up, decay and learning rate change no step's cost."""


class Program:
    """A jitted function that is compiled where it is first traced, before there are arrays."""

    def __init__(self, function: Any):
        self.function, self.compiled, self.peak_bytes = function, None, 0

    def __call__(self, *arguments: Any) -> Any:
        """Traced: compiled for these shapes. With arrays: what was compiled."""
        if self.compiled is not None:
            return self.compiled(*arguments)
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
        self.compiled = self.function.lower(*shapes).compile()
        memory = self.compiled.memory_analysis()
        taken = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
        self.peak_bytes = taken + memory.output_size_in_bytes + memory.temp_size_in_bytes
        return self.function(*arguments)


@dataclass(frozen=True)
class Ahead(Stack):
    """A stack whose programs are compiled ahead of time and kept at hand."""

    programs: list[Program] = field(default_factory=list)

    def program(
        self, function: Callable, shared: Sequence[int] = (), cut: Sequence[int] = ()
    ) -> Callable:
        """The jitted function as a `Program`."""
        self.programs.append(Program(super().program(function, shared, cut)))
        return self.programs[-1]


class Step:
    """A training step of one arm at one set of sizes; nothing is allocated until `begin`."""

    def __init__(self, arm: Arm, sizes: Sizes):
        self.arm, self.sizes = arm, sizes
        graphs: list[Any] = []

        def begin() -> TrainState:
            vocabularies = sizes.vocabulary, sizes.vocabulary
            graph, weights = create(sizes.model(arm), *vocabularies, TRAINING.seed)
            graphs.append(graph)
            return initial_state(weights, TRAINING)

        stack = Ahead(1)
        shapes = jax.eval_shape(begin)
        self.update = make_update(graphs[0], TRAINING, stack)
        jax.eval_shape(self.update, shapes, batch_shapes(sizes))
        self.peak_bytes = max(program.peak_bytes for program in stack.programs)
        self._begin = begin

    def begin(self) -> None:
        """Draw weights and words, and take the first step."""
        sizes = self.sizes
        self.state = self._begin()
        self.batch = random_batch(sizes)
        self.seconds(1)

    def seconds(self, steps: int) -> float:
        """Seconds a step of so many steps in turn, none waiting for the host to look at it."""
        start = time.perf_counter()
        for _ in range(steps):
            self.state, _ = self.update(self.state, self.batch)
        jax.block_until_ready(self.state)
        return (time.perf_counter() - start) / steps


def random_batch(sizes: Sizes) -> Batch:
    """Random words, as many on both sides, so that nothing is padded."""
    draw = np.random.default_rng(1)
    shape = sizes.batch_size, sizes.length
    sides = [draw.integers(UNK + 1, sizes.vocabulary, shape, np.int32) for _ in range(2)]
    for side in sides:
        side[:, -1] = EOS
    lengths = np.full(sizes.batch_size, sizes.length, np.int32)
    return Batch(sides[0], lengths, sides[1], lengths)


def batch_shapes(sizes: Sizes) -> Batch:
    """The shapes of `random_batch`."""
    words = jax.ShapeDtypeStruct((sizes.batch_size, sizes.length), np.int32)
    lengths = jax.ShapeDtypeStruct((sizes.batch_size,), np.int32)
    return Batch(words, lengths, words, lengths)
