"""Checkpoints: one safetensors file that holds all a stopped training needs to go on."""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..model.translator import Weights
from ..settings.atomic import write_bytes
from ..settings.concerns import TrainingSettings
from ..training.loop import Progress, Snapshot, Trained
from ..training.step import initial_state


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
        """Within the block a stop waits until an update has ended."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False


class Checkpoints:
    """Keeps a run's checkpoint up to date, at intervals and when the run is asked to stop."""

    NAME = "checkpoint.safetensors"
    EVERY = 60.0  # seconds

    def __init__(self, folder: Path, stop: StopRequest):
        self.path = folder / self.NAME
        self.stop = stop
        self._last = time.monotonic()

    def wanted(self) -> bool:
        """Whether the last checkpoint is old, or the run is to stop."""
        return self.stop.asked or time.monotonic() - self._last > self.EVERY

    def keep(self, snapshot: Snapshot) -> None:
        """Write the checkpoint; end the run if it is to stop."""
        write_bytes(self.path, to_bytes(snapshot))
        self._last = time.monotonic()
        if self.stop.asked:
            raise Stopped(0)

    def read(self, weights: Weights, settings: TrainingSettings) -> Snapshot | None:
        """The last checkpoint, in the form of ``weights``; None without one or a damaged one."""
        try:
            return from_file(self.path, weights, settings)
        except (FileNotFoundError, SafetensorError, KeyError, ValueError):
            return None


def to_bytes(snapshot: Snapshot) -> bytes:
    """All arrays by place, and what is no array as JSON in the file's own metadata."""
    trained = snapshot.trained
    leaves = jax.tree.leaves((snapshot.state, trained.weights))
    tensors = {str(place): np.asarray(leaf, order="C") for place, leaf in enumerate(leaves)}
    facts = {
        "losses": snapshot.losses,
        "best_update": trained.best_update,
        "valid_loss": None if math.isinf(trained.valid_loss) else trained.valid_loss,
        "log": [asdict(progress) for progress in trained.log],
        "target_tokens": trained.target_tokens,
        "seconds": trained.seconds,
    }
    return save(tensors, metadata={"facts": json.dumps(facts)})


def from_file(path: Path, weights: Weights, settings: TrainingSettings) -> Snapshot:
    """Read a checkpoint into the structure that these weights and settings give."""
    like = (initial_state(weights, settings), weights)
    with safe_open(path, "np") as file:
        facts = json.loads(file.metadata()["facts"])
        leaves = [file.get_tensor(str(place)) for place in range(len(jax.tree.leaves(like)))]
    state, best = jax.tree.unflatten(jax.tree.structure(like), map(jax.numpy.asarray, leaves))
    trained = Trained(
        best,
        best_update=facts["best_update"],
        valid_loss=math.inf if facts["valid_loss"] is None else facts["valid_loss"],
        log=[Progress(**progress) for progress in facts["log"]],
        target_tokens=facts["target_tokens"],
        seconds=facts["seconds"],
    )
    return Snapshot(state, trained, facts["losses"])
