"""The programs that are timed: each can train, and multiply matrices.

Functions import jax and torch, because a process needs only one of them.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from products import square
from workload import Workload

from seq2seq_bottleneck.runs.pool import worker_environment

PROGRAMS = {
    "ours": "this package",
    "torch": "PyTorch, eager, with our memory settings",
    "torch-compiled": "the same with torch.compile for the attending step and for logits and loss",
    "torch-as-is": "PyTorch, eager, with glibc's default memory settings",
}
"""The programs, and what each is."""


class Program(Protocol):
    """The model of one arm, with its optimizer."""

    def train(self, places: Iterable[int]) -> np.ndarray:
        """Train on these batches of the workload in turn; return their losses at the end."""
        ...

    def multiply(self, size: int) -> Callable[[], Any]:
        """A function that computes a float32 product of two square matrices."""
        ...


def environment(threads: int, as_is: bool = False) -> dict[str, str]:
    """The environment of a process with so many threads, with the memory settings of our workers.

    PyTorch is faster with them, too. ``as_is`` keeps the default memory settings.
    """
    count = str(threads)
    given = dict(os.environ) if as_is else worker_environment()
    return given | {
        "NPROC": count,
        "JAX_NUM_CPU_DEVICES": count,
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "JAX_PLATFORMS": "cpu",
    }


def make_program(name: str, folder: Path, arm: str, threads: int) -> Program:
    """One of ``PROGRAMS``, for the workload in a folder."""
    workload = Workload.load(folder)
    if name == "ours":
        from seq2seq_bottleneck.runs.run import cache_programs

        cache_programs()
        return Ours(workload, arm)
    weights = weights_file(folder, arm)
    return Torch(workload, arm, weights, threads, compiled=name == "torch-compiled")


def weights_file(folder: Path, arm: str) -> Path:
    """The file of an arm's starting weights."""
    return folder / f"{arm}.safetensors"


def write_weights(workload: Workload, arm: str, folder: Path) -> None:
    """Write our starting weights of an arm, from which the other programs start."""
    from seq2seq_bottleneck.model.translator import create
    from seq2seq_bottleneck.runs.checkpoint import save_weights

    _, weights = create(workload.arm(arm), *workload.vocabularies, workload.training.seed)
    save_weights(weights_file(folder, arm), weights)


class Ours:
    """This package's update, as a run calls it."""

    def __init__(self, workload: Workload, arm: str):
        from seq2seq_bottleneck.model.parts import Stack, parts_of
        from seq2seq_bottleneck.model.translator import create
        from seq2seq_bottleneck.training.step import initial_state, make_update

        training = workload.training
        graph, weights = create(workload.arm(arm), *workload.vocabularies, training.seed)
        self.batches = workload.batches
        self.state = initial_state(weights, training)
        parts = parts_of(max(len(batch.source) for batch in workload.batches))
        self.update = make_update(graph, training, Stack(1, parts))

    def train(self, places: Iterable[int]) -> np.ndarray:
        """Train; losses are read at the end, so that no step waits for the one before."""
        losses = []
        for place in places:
            self.state, loss = self.update(self.state, self.batches[place])
            losses.append(loss)
        return np.array([float(loss) for loss in losses])

    def multiply(self, size: int) -> Callable[[], Any]:
        """XLA's product."""
        import jax

        matrix, product = jax.numpy.asarray(square(size)), jax.jit(lambda left: left @ left)
        product(matrix).block_until_ready()
        return lambda: product(matrix).block_until_ready()


class Torch:
    """The PyTorch program; its batches become tensors before the time is taken."""

    def __init__(
        self, workload: Workload, arm: str, weights: Path, threads: int, compiled: bool = False
    ):
        import torch
        from from_ours import copy_into
        from safetensors.numpy import load_file
        from torch_translator import Learning, Translator, to_torch

        torch.set_num_threads(threads)
        training = workload.training
        model = Translator(workload.arm(arm), *workload.vocabularies)
        copy_into(model, load_file(weights))
        if compiled:
            _allow_shapes(len(workload.one_of_each_shape()))
            model.compile_parts()
        self.batches = [to_torch(batch) for batch in workload.batches]
        self.learning = Learning(model, training.learning_rate, training.clip_norm)

    def train(self, places: Iterable[int]) -> np.ndarray:
        """Train; PyTorch computes each step at once."""
        losses = [self.learning.update(self.batches[place]) for place in places]
        return np.array([float(loss) for loss in losses])

    def multiply(self, size: int) -> Callable[[], Any]:
        """PyTorch's product."""
        import torch

        matrix = torch.from_numpy(square(size))
        return lambda: matrix @ matrix


def _allow_shapes(count: int) -> None:
    """Let PyTorch compile a step for each padded shape; by default it gives up after eight."""
    import torch._dynamo

    torch._dynamo.config.recompile_limit = max(8, 2 * count)
