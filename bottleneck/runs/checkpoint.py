"""Checkpoints: one safetensors file a run, which holds all that a stopped run needs to go on.

Its tensors are ``state.N`` and ``best.N``, by their place in training's state and in the best
weights; its metadata is JSON of what is no array, and a digest of all. Runs that are trained
together have a file each, of the same update.
"""

import hashlib
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

from ..model.parts import Stack
from ..results.folders import CHECKPOINT
from ..settings.files import write_bytes
from ..training.loop import Learner, Progress, Snapshot, Trained
from ..training.step import initial_state

FORMAT = 5
"""Raised when what a checkpoint holds changes; one of another format is begun anew."""
EVERY = 60.0
"""Seconds between two checkpoints."""
FACTS = ("status", "best_update", "valid_loss", "log", "target_tokens", "seconds", "reason")
"""What of `Trained` is no array."""

Tensors = dict[str, np.ndarray]


class CheckpointError(Exception):
    """A checkpoint that nothing can go on from; says what it is: ``is of another run``."""


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
    """Keeps a file in each of these folders, at intervals and when training is asked to stop."""

    def __init__(self, folders: Sequence[Path], stop: StopRequest):
        self.folders, self.stop = folders, stop
        self._last = time.monotonic()

    def wanted(self) -> bool:
        """Whether the last checkpoint is old, or the run is to stop."""
        return self.stop.asked or time.monotonic() - self._last > EVERY

    def keep(self, snapshot: Snapshot) -> None:
        """Write the checkpoint of each run; raises ``Stopped`` if they are to stop."""
        on_host = snapshot._replace(state=jax.device_get(snapshot.state))
        for place, folder in enumerate(self.folders):
            write_bytes(folder / CHECKPOINT, to_bytes(on_host.part(place), folder.name))
        self._last = time.monotonic()
        if self.stop.asked:
            raise Stopped(0)


def to_bytes(snapshot: Snapshot, run: str) -> bytes:
    """The file's content for the snapshot of one run; JSON knows no infinity."""
    (trained,) = snapshot.trained
    tensors = {
        f"{kind}.{number}": np.asarray(leaf, order="C")
        for kind, tree in (("state", snapshot.state), ("best", trained.weights))
        for number, leaf in enumerate(jax.tree.leaves(tree))
    }
    known = {name: getattr(trained, name) for name in FACTS}
    known["log"] = [asdict(progress) for progress in trained.log]
    known["valid_loss"] = None if math.isinf(trained.valid_loss) else trained.valid_loss
    losses = [float(loss[0]) for loss in snapshot.losses]
    text = json.dumps({"format": FORMAT, "run": run, "losses": losses, "trained": known})
    return save(tensors, metadata={"facts": text, "digest": digest(text, tensors)})


def digest(facts: str, tensors: Tensors) -> str:
    """Over all that a checkpoint holds: names, shapes, types and bytes too."""
    return hashlib.sha256(facts.encode() + save(tensors)).hexdigest()


def read_checkpoint(folder: Path, learner: Learner) -> Snapshot | None:
    """The checkpoint of a run's folder, in the form of this learner; None where there is none.

    A file that is not all this run needs, whole and of the same shapes, is a ``CheckpointError``.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        with safe_open(path, "np") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(metadata["facts"])
        if facts["format"] != FORMAT:
            raise CheckpointError(f"is of format {facts['format']}, not {FORMAT}")
        if facts["run"] != folder.name:
            raise CheckpointError(f"is of run {facts['run']}")
        if digest(metadata["facts"], tensors) != metadata["digest"]:
            raise CheckpointError("cannot be read (it does not match its checksum)")
        return _snapshot(tensors, facts, learner)
    except (SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        words = " ".join(str(error).split())
        raise CheckpointError(f"cannot be read ({type(error).__name__}: {words})") from None


def _snapshot(tensors: Tensors, facts: dict[str, Any], learner: Learner) -> Snapshot:
    """The parts of a run's checkpoint, each where it belongs; ``ValueError`` if one does not."""
    state = jax.eval_shape(
        lambda weights: initial_state(weights, learner.settings), learner.weights
    )
    trees = {"state": state, "best": learner.weights}
    expected = {
        f"{kind}.{number}": (leaf.shape, np.dtype(leaf.dtype))
        for kind, tree in trees.items()
        for number, leaf in enumerate(jax.tree.leaves(tree))
    }
    if {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()} != expected:
        raise ValueError("its arrays are not those of this run's model")

    def filled(kind: str) -> Any:
        leaves, structure = jax.tree.flatten(trees[kind])
        arrays = [jax.numpy.asarray(tensors[f"{kind}.{number}"]) for number in range(len(leaves))]
        return jax.tree.unflatten(structure, arrays)

    known = facts["trained"]
    known["log"] = [Progress(**progress) for progress in known["log"]]
    known["valid_loss"] = math.inf if known["valid_loss"] is None else known["valid_loss"]
    losses = [np.array([loss], dtype=np.float64) for loss in facts["losses"]]
    return Snapshot(filled("state"), [Trained(filled("best"), **known)], losses)


def join(snapshots: Sequence[Snapshot]) -> Snapshot:
    """Runs that stand at one update, each by itself, as one stack."""
    stack = Stack(len(snapshots))
    losses = zip(*(snapshot.losses for snapshot in snapshots), strict=True)
    return Snapshot(
        stack.join([snapshot.state for snapshot in snapshots]),
        [snapshot.trained[0] for snapshot in snapshots],
        [np.concatenate(item) for item in losses],
    )
