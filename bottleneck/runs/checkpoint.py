"""Files of a network: its weights, the vocabularies that they belong to, and checkpoints.

Weights are safetensors, one float32 tensor a parameter, named by its place in the translator. A
vocabulary is a list, one token per line; subwords also have ``source.subwords.model`` and
``target.subwords.model``, which sentencepiece itself reads and writes.

A checkpoint is one safetensors file a run, which has all that a stopped run needs to go on: the
leaves of training's state and of the best weights by their numbers, as metadata JSON of what is no
array, and a digest of all. Runs that are trained together have a file each, of the same update.
"""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from ..corpus.subwords import Subwords
from ..corpus.vocabulary import WORDS, Vocabulary
from ..model.parts import Stack
from ..model.translator import Weights
from ..results.folders import CHECKPOINT, damaged, read_checked
from ..settings.concerns import CorpusSettings
from ..settings.files import write_bytes
from ..training.loop import Learner, Progress, Snapshot, Trained
from ..training.step import initial_state

FORMAT = 6
"""Raised when what a checkpoint holds changes; a run does not go on from one of another format."""
EVERY = 60.0
"""Seconds between two checkpoints."""


def save_weights(path: Path, weights: Weights) -> None:
    """Write all parameters as float32 tensors."""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    write_bytes(path, save({_name(place): np.ascontiguousarray(leaf) for place, leaf in leaves}))


def read_weights(content: bytes, like: Weights) -> Weights:
    """The parameters in a file's bytes, in the structure of ``like``."""
    tensors = load(content)
    return jax.tree_util.tree_map_with_path(
        lambda place, leaf: jax.numpy.asarray(tensors[_name(place)], leaf.dtype), like
    )


def _name(place: tuple) -> str:
    """``decoder.cells.0.weights.1`` for the path to a leaf."""
    keys = (getattr(key, "key", getattr(key, "idx", getattr(key, "name", ""))) for key in place)
    return ".".join(str(key) for key in keys if str(key) != "value")


def save_vocabularies(folder: Path, vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """Write both sides, each file whole or not at all."""
    for side, vocabulary in zip(("source", "target"), vocabularies, strict=True):
        write_bytes(folder / f"{side}.vocabulary", vocabulary.to_bytes())
        if isinstance(vocabulary.tokenizer, Subwords):
            write_bytes(folder / f"{side}.subwords.model", vocabulary.tokenizer.model)


def load_vocabularies(folder: Path, corpus: CorpusSettings) -> tuple[Vocabulary, Vocabulary]:
    """Read what ``save_vocabularies`` wrote; a missing or damaged file is a UserError."""
    vocabularies = []
    for side in ("source", "target"):
        path, tokenizer = folder / f"{side}.subwords.model", WORDS
        try:
            if corpus.tokens != "words":
                tokenizer = Subwords(read_checked(path))
            path = folder / f"{side}.vocabulary"
            vocabularies.append(Vocabulary.from_bytes(read_checked(path), tokenizer))
        except (OSError, ValueError) as error:
            raise damaged(path, error) from None
    return vocabularies[0], vocabularies[1]


class CheckpointError(Exception):
    """A checkpoint that nothing can go on from; says what it is: ``is of another run``."""


@dataclass
class Checkpoints:
    """Keeps a file in each of these folders, at intervals and when the run is asked to stop.

    A run that is asked stops at once, but in training after the current update and its checkpoint:
    it raises ``SystemExit``.
    """

    folders: Sequence[Path] = ()
    asked: bool = False
    training: bool = False
    last: float = field(default_factory=time.monotonic)

    def ask(self) -> None:
        """Ask the run to stop; one that is not in training does so here."""
        self.asked = True
        if not self.training:
            raise SystemExit(0)

    @contextmanager
    def at_updates(self, folders: Sequence[Path]) -> Iterator[None]:
        """Within the block runs of these folders train: a stop waits until an update has ended."""
        self.folders, self.training, self.last = folders, True, time.monotonic()
        try:
            yield
        finally:
            self.training = False
        if self.asked:
            raise SystemExit(0)

    def wanted(self) -> bool:
        """Whether the last checkpoint is old, or the run is to stop."""
        return self.asked or time.monotonic() - self.last > EVERY

    def keep(self, snapshot: Snapshot) -> None:
        """Write the checkpoint of each run; they end here if they are to stop."""
        on_host = snapshot._replace(state=jax.device_get(snapshot.state))
        for place, folder in enumerate(self.folders):
            write_bytes(folder / CHECKPOINT, to_bytes(on_host.part(place)))
        self.last = time.monotonic()
        if self.asked:
            raise SystemExit(0)


def to_bytes(snapshot: Snapshot) -> bytes:
    """The file's content for the snapshot of one run; JSON knows no infinity."""
    (trained,) = snapshot.trained
    leaves = jax.tree.leaves((snapshot.state, trained.weights))
    tensors = {str(number): np.asarray(leaf, order="C") for number, leaf in enumerate(leaves)}
    facts = {name: value for name, value in vars(trained).items() if name != "weights"}
    facts["log"] = [asdict(progress) for progress in trained.log]
    facts["valid_loss"] = None if math.isinf(trained.valid_loss) else trained.valid_loss
    losses = [float(loss[0]) for loss in snapshot.losses]
    text = json.dumps({"format": FORMAT, "losses": losses, "trained": facts})
    return save(tensors, metadata={"facts": text, "digest": digest(text, tensors)})


def digest(facts: str, tensors: dict[str, np.ndarray]) -> str:
    """Over all that a checkpoint has: names, shapes, types and bytes too."""
    return hashlib.sha256(facts.encode() + save(tensors)).hexdigest()


def read_checkpoint(folder: Path, learner: Learner) -> Snapshot | None:
    """The checkpoint of a run's folder, in the form of this learner; None where there is none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        with safe_open(path, "np") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if digest(metadata["facts"], tensors) != metadata["digest"]:
            raise CheckpointError("cannot be read (it does not match its checksum)")
        facts = json.loads(metadata["facts"])
        if facts["format"] != FORMAT:
            raise CheckpointError(f"is of format {facts['format']}, not {FORMAT}")
        start = jax.eval_shape(
            lambda weights: initial_state(weights, learner.settings), learner.weights
        )
        like = jax.tree.leaves((start, learner.weights))
        shapes = {str(number): (leaf.shape, leaf.dtype) for number, leaf in enumerate(like)}
        if {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()} != shapes:
            raise ValueError("its arrays are not those of this run's model")
        arrays = [jax.numpy.asarray(tensors[str(number)]) for number in range(len(tensors))]
        state, best = jax.tree.unflatten(jax.tree.structure((start, learner.weights)), arrays)
        known = facts["trained"]
        known["log"] = [Progress(**progress) for progress in known["log"]]
        known["valid_loss"] = math.inf if known["valid_loss"] is None else known["valid_loss"]
        losses = [np.array([loss], dtype=np.float64) for loss in facts["losses"]]
        return Snapshot(state, [Trained(best, **known)], losses)
    except (SafetensorError, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        words = " ".join(str(error).split())
        raise CheckpointError(f"cannot be read ({type(error).__name__}: {words})") from None


def join(snapshots: Sequence[Snapshot]) -> Snapshot:
    """Runs that stand at one update, each by itself, as one stack."""
    stack = Stack(len(snapshots))
    losses = zip(*(snapshot.losses for snapshot in snapshots), strict=True)
    return Snapshot(
        stack.join([snapshot.state for snapshot in snapshots]),
        [snapshot.trained[0] for snapshot in snapshots],
        [np.concatenate(item) for item in losses],
    )
