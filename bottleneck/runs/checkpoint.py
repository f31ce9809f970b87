"""Checkpoints: one safetensors file that holds all a stopped stack of runs needs to go on."""

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..model.translator import Weights
from ..settings.atomic import write_bytes
from ..training.loop import Learner, Progress, Snapshot, Trained
from ..training.stack import Stack
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
    """Keeps one file up to date, at intervals and when the runs it speaks of are asked to stop."""

    EVERY = 60.0  # seconds

    def __init__(self, path: Path, stop: StopRequest):
        self.path, self.stop = path, stop
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

    def read(self, learners: Sequence[Learner]) -> Snapshot | None:
        """The last checkpoint, in the form of these learners; None without a whole one."""
        try:
            return from_file(self.path, learners)
        except (FileNotFoundError, SafetensorError, KeyError, ValueError):
            return None


FACTS = ("status", "best_update", "valid_loss", "log", "target_tokens", "seconds", "reason")


def to_bytes(snapshot: Snapshot) -> bytes:
    """All arrays by place, and what is no array as JSON in the file's own metadata."""
    weights = [trained.weights for trained in snapshot.trained]
    leaves = jax.tree.leaves((snapshot.state, weights))
    tensors = {str(place): np.asarray(leaf, order="C") for place, leaf in enumerate(leaves)}
    facts = {
        "losses": [losses.tolist() for losses in snapshot.losses],
        "trained": [_facts(trained) for trained in snapshot.trained],
    }
    return save(tensors, metadata={"facts": json.dumps(facts)})


def _facts(trained: Trained) -> dict[str, Any]:
    """What is no array; JSON knows no infinity."""
    facts = {name: getattr(trained, name) for name in FACTS}
    facts["log"] = [asdict(progress) for progress in trained.log]
    return facts | {"valid_loss": None if math.isinf(trained.valid_loss) else trained.valid_loss}


def from_file(path: Path, learners: Sequence[Learner]) -> Snapshot:
    """Read a checkpoint into the structure that these learners give."""
    states = [initial_state(learner.weights, learner.settings) for learner in learners]
    like = Stack(len(learners)).join(states), [learner.weights for learner in learners]
    with safe_open(path, "np") as file:
        facts = json.loads(file.metadata()["facts"])
        leaves = [file.get_tensor(str(place)) for place in range(len(jax.tree.leaves(like)))]
    state, weights = jax.tree.unflatten(jax.tree.structure(like), map(jax.numpy.asarray, leaves))
    pairs = zip(weights, facts["trained"], strict=True)
    trained = [_trained(best, held) for best, held in pairs]
    return Snapshot(state, trained, [np.array(losses) for losses in facts["losses"]])


def _trained(weights: Weights, facts: dict[str, Any]) -> Trained:
    valid_loss = math.inf if facts["valid_loss"] is None else facts["valid_loss"]
    log = [Progress(**progress) for progress in facts["log"]]
    return Trained(weights, **facts | {"valid_loss": valid_loss, "log": log})
