"""The programs that are timed, each behind the same two questions: train, multiply.

Each is imported in a process of its own, so jax and torch are imported inside.
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
    "torch": "PyTorch, eager, memory as for ours",
    "torch-compiled": "the same with torch.compile for the attending step and for logits and loss",
    "torch-as-is": "PyTorch, eager, memory as glibc has it by default",
}
"""What can be timed."""


class Program(Protocol):
    """One arm's model with its optimizer."""

    def train(self, places: Iterable[int]) -> np.ndarray:
        """Train on these batches of the workload in turn; their losses, once all is computed."""
        ...

    def multiply(self, size: int) -> Callable[[], Any]:
        """A float32 product of two square matrices, ready to be computed."""
        ...


def environment(threads: int, as_is: bool = False) -> dict[str, str]:
    """For a process with so many threads: memory as our own workers have it, for every program.

    PyTorch, too, is faster with it. ``as_is`` leaves memory as it is where nobody says anything.
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
    """One of ``PROGRAMS`` on the workload of a folder."""
    workload = Workload.load(folder)
    if name == "ours":
        from seq2seq_bottleneck.runs.run import cache_programs

        cache_programs()
        return Ours(workload, arm)
    weights = weights_file(folder, arm)
    return Torch(workload, arm, weights, threads, compiled=name == "torch-compiled")


def weights_file(folder: Path, arm: str) -> Path:
    """Where an arm's starting weights lie."""
    return folder / f"{arm}.safetensors"


def write_weights(workload: Workload, arm: str, folder: Path) -> None:
    """Our own starting weights of an arm, for the other programs to start from."""
    from seq2seq_bottleneck.model.translator import create
    from seq2seq_bottleneck.runs.checkpoint import save_weights

    _, weights = create(workload.arm(arm), *workload.vocabularies, workload.training.seed)
    save_weights(weights_file(folder, arm), weights)


class Ours:
    """The package's own update, as a run calls it."""

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
        """Losses are looked at last, so that no step waits for the one before."""
        losses = []
        for place in places:
            self.state, loss = self.update(self.state, self.batches[place])
            losses.append(loss)
        return np.array([float(loss) for loss in losses])

    def multiply(self, size: int) -> Callable[[], Any]:
        """XLA's own product."""
        import jax

        matrix, product = jax.numpy.asarray(square(size)), jax.jit(lambda left: left @ left)
        product(matrix).block_until_ready()
        return lambda: product(matrix).block_until_ready()


class Torch:
    """The PyTorch program; its batches are made into tensors beforehand."""

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
        """PyTorch computes as it goes."""
        losses = [self.learning.update(self.batches[place]) for place in places]
        return np.array([float(loss) for loss in losses])

    def multiply(self, size: int) -> Callable[[], Any]:
        """PyTorch's own product."""
        import torch

        matrix = torch.from_numpy(square(size))
        return lambda: matrix @ matrix


def _allow_shapes(count: int) -> None:
    """A compiled step is compiled once for each padded shape, not given up after eight."""
    import torch._dynamo

    torch._dynamo.config.recompile_limit = max(8, 2 * count)
