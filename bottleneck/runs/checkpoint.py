"""Checkpoints: one safetensors file that holds all a stopped stack of runs needs to go on."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import safe_open

from ..model.translator import Weights
from ..settings.atomic import write_bytes
from ..training.loop import Learner, Progress, Snapshot, Trained
from ..training.stack import Stack
from ..training.step import initial_state
from .stacked import (
    BROKEN,
    CheckpointError,
    Facts,
    Tensors,
    broken,
    check_member,
    checkpoint_bytes,
    read_facts,
)


class Stopped(SystemExit):
    """Ends a run that was asked to stop; in training, after its checkpoint."""


class StopRequest:
    """Whether the run was asked to stop: at once, but in training after the current update."""

    def __init__(self) -> None:
        self.asked = False
        self._waits = False

    def ask(self) -> None:
        """Ask; where no update is under way this raises ``Stopped``."""
        self.asked = True
        if not self._waits:
            raise Stopped(0)

    @contextmanager
    def at_updates(self) -> Iterator[None]:
        """Within the block a stop waits until an update has ended: then it raises ``Stopped``."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
        if self.asked:
            raise Stopped(0)


class Checkpoints:
    """Keeps one file up to date, at intervals and when the runs it speaks of are asked to stop."""

    EVERY = 60.0  # seconds

    def __init__(self, path: Path, runs: Sequence[str], stop: StopRequest):
        self.path, self.runs, self.stop = path, runs, stop
        self._last = time.monotonic()

    def wanted(self) -> bool:
        """Whether the last checkpoint is old, or the run is to stop."""
        return self.stop.asked or time.monotonic() - self._last > self.EVERY

    def keep(self, snapshot: Snapshot) -> None:
        """Write the checkpoint; raises ``Stopped`` if the run is to stop."""
        write_bytes(self.path, to_bytes(snapshot, self.runs))
        self._last = time.monotonic()
        if self.stop.asked:
            raise Stopped(0)


FACTS = ("status", "best_update", "valid_loss", "log", "target_tokens", "seconds", "reason")


def to_bytes(snapshot: Snapshot, runs: Sequence[str]) -> bytes:
    """All arrays by place, and what is no array as facts; ``runs`` are the names of all seeds."""
    tensors = _named("state", snapshot.state)
    for place, trained in enumerate(snapshot.trained):
        tensors |= _named(f"best.{place}", trained.weights)
    facts = {
        "members": list(runs),
        "losses": [losses.tolist() for losses in snapshot.losses],
        "trained": [_facts(trained) for trained in snapshot.trained],
    }
    return checkpoint_bytes(tensors, facts)


def _named(kind: str, tree: Any) -> Tensors:
    leaves = enumerate(jax.tree.leaves(tree))
    return {f"{kind}.{number}": np.asarray(leaf, order="C") for number, leaf in leaves}


def _facts(trained: Trained) -> Facts:
    """What is no array; JSON knows no infinity."""
    facts = {name: getattr(trained, name) for name in FACTS}
    facts["log"] = [asdict(progress) for progress in trained.log]
    return facts | {"valid_loss": None if math.isinf(trained.valid_loss) else trained.valid_loss}


def read_checkpoint(path: Path, run: str, learner: Learner) -> Snapshot | None:
    """A run's own checkpoint, in the form of this learner; None where there is none.

    A file that is not all this run needs, whole and of the same shapes, is a ``CheckpointError``.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, "np") as file:
            facts = read_facts(file)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if facts["members"] != [run]:
            raise CheckpointError(f"is of run {' '.join(facts['members'])}")
        check_member(tensors, facts, 0)
        return _snapshot(tensors, facts, learner)
    except BROKEN as error:
        raise broken(error) from None


def _snapshot(tensors: Tensors, facts: Facts, learner: Learner) -> Snapshot:
    """The parts of a run's checkpoint, each where it belongs; ``ValueError`` if one does not."""
    like = jax.eval_shape(lambda weights: initial_state(weights, learner.settings), learner.weights)
    expected = _described("state", like) | _described("best.0", learner.weights)
    found = {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}
    if found != expected:
        raise ValueError("its arrays are not those of this run's model")
    losses = [np.array(each, dtype=np.float64) for each in facts["losses"]]
    if any(each.shape != (1,) for each in losses):
        raise ValueError("its losses are not those of one seed")
    (trained,) = facts["trained"]
    best = _filled("best.0", learner.weights, tensors)
    return Snapshot(_filled("state", like, tensors), [_trained(best, trained)], losses)


def _described(kind: str, like: Any) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Names, shapes and types of the arrays that a tree of this form has in a file."""
    leaves = enumerate(jax.tree.leaves(like))
    return {f"{kind}.{number}": (leaf.shape, np.dtype(leaf.dtype)) for number, leaf in leaves}


def _filled(kind: str, like: Any, tensors: Tensors) -> Any:
    """A tree of this form, of the arrays in a file."""
    leaves, structure = jax.tree.flatten(like)
    arrays = [jax.numpy.asarray(tensors[f"{kind}.{number}"]) for number in range(len(leaves))]
    return jax.tree.unflatten(structure, arrays)


def _trained(weights: Weights, facts: Facts) -> Trained:
    valid_loss = math.inf if facts["valid_loss"] is None else facts["valid_loss"]
    log = [Progress(**progress) for progress in facts["log"]]
    return Trained(weights, **facts | {"valid_loss": valid_loss, "log": log})


def join(snapshots: Sequence[Snapshot]) -> Snapshot:
    """Runs that stand at one update, each by itself, as one stack."""
    stack = Stack(len(snapshots))
    losses = zip(*(snapshot.losses for snapshot in snapshots), strict=True)
    return Snapshot(
        stack.join([snapshot.state for snapshot in snapshots]),
        [snapshot.trained[0] for snapshot in snapshots],
        [np.concatenate(each) for each in losses],
    )
