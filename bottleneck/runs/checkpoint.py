"""Files of a network: its weights, its vocabularies, and checkpoints.

A checkpoint has all that a stopped run needs to continue: a digest, then safetensors with the
training state, the best weights and JSON. Runs that are trained together have one file each, from
the same update.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import jax
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path
from safetensors.numpy import load, save

from ..corpus.subwords import Subwords
from ..corpus.vocabulary import WORDS, Vocabulary
from ..model.parts import Stack, on_host
from ..model.translator import Weights
from ..results.folders import read_checked
from ..settings.concerns import CorpusSettings
from ..settings.files import write_file
from ..training.loop import Learner, Progress, Snapshot, Trained
from ..training.step import initial_state

FORMAT = b"8"  # raised when the content of checkpoints changes


def save_weights(path: Path, weights: Weights) -> None:
    """Write all parameters as float32 tensors, named such as ``decoder.cells.0.weights.1``."""
    tensors = {}
    for place, leaf in tree_leaves_with_path(weights):
        name = keystr(place, simple=True, separator=".").removesuffix(".value")
        tensors[name] = np.ascontiguousarray(leaf)
    write_file(path, save(tensors))


def save_vocabularies(folder: Path, vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    """Write the vocabularies of both sides."""
    for side, vocabulary in zip(("source", "target"), vocabularies, strict=True):
        lines = "".join(f"{token}\n" for token in vocabulary.tokens)
        write_file(folder / f"{side}.vocabulary", lines)
        if isinstance(vocabulary.tokenizer, Subwords):
            write_file(folder / f"{side}.subwords.model", vocabulary.tokenizer.model)


def load_vocabularies(folder: Path, corpus: CorpusSettings) -> tuple[Vocabulary, Vocabulary]:
    """Read what ``save_vocabularies`` wrote; a missing or damaged file is a UserError."""
    vocabularies = []
    for side in ("source", "target"):
        tokenizer = WORDS
        if corpus.tokens != "words":
            tokenizer = Subwords(read_checked(folder / f"{side}.subwords.model"))
        lines = read_checked(folder / f"{side}.vocabulary").decode()
        tokens = lines.removesuffix("\n").split("\n")
        vocabularies.append(Vocabulary(tuple(tokens), tokenizer))
    return vocabularies[0], vocabularies[1]


@dataclass
class Checkpoints:
    """Writes a checkpoint of each run in training, at intervals and before a ``SystemExit``."""

    seconds: ClassVar[float] = 60.0  # between two checkpoints
    folders: Sequence[Path] = ()
    asked: bool = False
    last: float = field(default_factory=time.monotonic)

    def ask(self) -> None:
        """Stop after the current update; at once if no run is in training."""
        self.asked = True
        if not self.folders:
            raise SystemExit(0)

    def wanted(self) -> bool:
        """Whether the last checkpoint is old, or the run has to stop."""
        return self.asked or time.monotonic() - self.last > self.seconds

    def keep(self, snapshot: Snapshot) -> None:
        """Write the checkpoint of each run; then stop if asked to."""
        states, stack = jax.device_get(snapshot.state), Stack(len(snapshot.trained))
        losses = [np.reshape(on_host(loss), -1).tolist() for loss in snapshot.losses]
        for place, folder in enumerate(self.folders):
            trained = snapshot.trained[place]
            leaves = enumerate(jax.tree.leaves((stack.part(states, place), trained.weights)))
            tensors = {str(number): np.asarray(leaf, order="C") for number, leaf in leaves}
            facts = {name: value for name, value in vars(trained).items() if name != "weights"}
            facts["log"] = [asdict(progress) for progress in trained.log]
            text = json.dumps({"losses": [loss[place] for loss in losses], "trained": facts})
            content = save(tensors | {"facts": np.frombuffer(text.encode(), np.uint8)})
            digest = sha256(FORMAT + content).hexdigest().encode()
            write_file(folder / "checkpoint.safetensors", digest + content)
        self.last = time.monotonic()
        if self.asked:
            raise SystemExit(0)


def read_checkpoint(folder: Path, learner: Learner) -> Snapshot | None:
    """A run's checkpoint, in the structure of this learner; None if missing or damaged."""
    path = folder / "checkpoint.safetensors"
    whole = path.read_bytes() if path.exists() else b""
    digest, content = whole[:64], whole[64:]
    if sha256(FORMAT + content).hexdigest().encode() != digest:
        return None
    tensors = load(content)
    facts = json.loads(tensors.pop("facts").tobytes())
    start = jax.eval_shape(partial(initial_state, settings=learner.settings), learner.weights)
    arrays = [jax.numpy.asarray(tensors[str(number)]) for number in range(len(tensors))]
    state, best = jax.tree.unflatten(jax.tree.structure((start, learner.weights)), arrays)
    known = facts["trained"]
    known["log"] = [Progress(**progress) for progress in known["log"]]
    losses = [np.array([loss], dtype=np.float64) for loss in facts["losses"]]
    return Snapshot(state, [Trained(best, **known)], losses)
