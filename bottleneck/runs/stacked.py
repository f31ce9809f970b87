"""Checkpoints as files, and how a run takes its own out of that of a stack; no jax needed.

Runs that are trained together keep one checkpoint, so that none is ever behind the others. It lies
beside the run folders, and a mark in the folder of each member names it. Whatever comes next, in
this grouping or another: a run that is gone on with first takes its own part out and its mark off.
With the last mark the file goes too.

A checkpoint is a safetensors file: ``state.N`` (of a stack with the seeds as first axis),
``best.SEED.N``, and in its metadata as JSON what is no array; with a digest of all that is each
member's, which is the same in a stack and by itself.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..settings.atomic import write_bytes, write_text
from ..settings.names import is_hidden_name, is_name
from .csvtext import json_text
from .tensors import tensors_digest

FORMAT = 3
"""Raised when what a checkpoint holds changes; one of another format is begun anew."""

CHECKPOINT = "checkpoint.safetensors"
"""A run's own checkpoint, in its folder."""

MARK = "stack.json"
"""In a member's folder: whose stack it is in, and which file holds the stack's checkpoint."""

_ENDING = ".stack.safetensors"

FACTS = "facts"
DIGESTS = "digests"
"""Among the facts: of each member a digest of its tensors and facts."""
BROKEN = (SafetensorError, OSError, KeyError, IndexError, TypeError, ValueError, AttributeError)
"""What reading a file that is no whole checkpoint may raise."""

Facts = dict[str, Any]
Tensors = dict[str, np.ndarray]
Take = Callable[[str, int | None], np.ndarray]
"""A tensor by name: the part of one seed, by its place, or with None the whole."""


class CheckpointError(Exception):
    """A checkpoint that nothing can go on from; says what it is: ``is of another run``."""


def checkpoint_bytes(tensors: Tensors, facts: Facts) -> bytes:
    """A checkpoint file's content; ``facts`` has ``members``, ``losses`` and ``trained``."""

    def take(name: str, place: int | None) -> np.ndarray:
        return np.asarray(tensors[name] if place is None else tensors[name][place], order="C")

    seeds = len(facts["members"])
    digests = [
        member_digest(_own(tensors, place, seeds, take), _own_facts(facts, place))
        for place in range(seeds)
    ]
    return save(tensors, metadata={FACTS: json.dumps({"format": FORMAT, DIGESTS: digests} | facts)})


def member_digest(tensors: Tensors, facts: Facts) -> str:
    """Over all that is one member's, as it is in a checkpoint of one."""
    told = json.dumps([facts, tensors_digest(tensors)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def check_member(tensors: Tensors, facts: Facts, place: int) -> None:
    """Refuse one member's tensors that are not as they were written; a ValueError."""
    if member_digest(tensors, _own_facts(facts, place)) != facts[DIGESTS][place]:
        raise ValueError("it does not match its checksum")


def read_facts(file: Any) -> Facts:
    """What an open checkpoint says of itself; ``CheckpointError`` where that is another format."""
    facts = json.loads((file.metadata() or {})[FACTS])
    if facts["format"] != FORMAT:
        raise CheckpointError(f"is of format {facts['format']}, not {FORMAT}")
    return facts


def broken(error: Exception) -> CheckpointError:
    """The same fault, in words for a person."""
    return CheckpointError(
        f"cannot be read ({type(error).__name__}: {' '.join(str(error).split())})"
    )


def part_of(file: Path, run: str) -> bytes:
    """One member's own checkpoint, out of its stack's."""
    with safe_open(file, "np") as held:

        def take(name: str, place: int | None) -> np.ndarray:
            if place is None:
                return held.get_tensor(name)
            return np.asarray(held.get_slice(name)[place : place + 1][0], order="C")

        facts = read_facts(held)
        place = facts["members"].index(run)
        tensors = _own(held.keys(), place, len(facts["members"]), take)
        check_member(tensors, facts, place)
        return checkpoint_bytes(tensors, _own_facts(facts, place))


def _own(names: Iterable[str], place: int, seeds: int, take: Take) -> Tensors:
    """The tensors of one seed of so many, by the names that they have in a checkpoint of one."""
    found = {}
    for name in names:
        kind, *seed, number = name.split(".")
        if kind == "state":
            found[name] = take(name, None if seeds == 1 else place)
        elif seed == [str(place)]:
            found[f"{kind}.0.{number}"] = take(name, None)
    return found


def _own_facts(facts: Facts, place: int) -> Facts:
    return {
        "members": [facts["members"][place]],
        "losses": [[losses[place]] for losses in facts["losses"]],
        "trained": [facts["trained"][place]],
    }


def begin_stack(folders: Sequence[Path]) -> Path:
    """Mark runs as a stack; where it keeps its checkpoint.

    Whoever does this holds all the runs, so a file of that name is nobody's any more.
    """
    members = [folder.name for folder in folders]
    digest = hashlib.sha256(" ".join(members).encode()).hexdigest()[:12]
    file = folders[0].parent / f".{digest}{_ENDING}"
    file.unlink(missing_ok=True)
    for folder in folders:
        write_text(folder / MARK, json_text({"file": file.name, "members": members}))
    return file


def take_part(folder: Path) -> str:
    """Make a member of a stack a run by itself, with its own checkpoint.

    If that cannot be: a few words on what it goes on without. Killed anywhere, it can be done
    again.
    """
    if not (folder / MARK).is_file():
        return ""
    mark, why = _mark(folder), ""
    if not mark:
        (folder / MARK).unlink()
        return f"the stack's checkpoint, for its {MARK} names none"
    file = folder.parent / mark["file"]
    if file.is_file():
        try:
            part = part_of(file, folder.name)
        except CheckpointError as error:
            why = f"the stack's checkpoint, which {error}"
        except BROKEN as error:
            why = f"the stack's checkpoint, which {broken(error)}"
        else:
            write_bytes(folder / CHECKPOINT, part)
    leave_stack(folder)
    return why


def leave_stack(folder: Path) -> None:
    """Take the run's mark off; if it was the last, the stack's checkpoint goes."""
    mark = _mark(folder)
    (folder / MARK).unlink(missing_ok=True)
    if not mark:
        return
    others = (_mark(folder.parent / member) for member in mark["members"])
    if all(other.get("file") != mark["file"] for other in others):
        (folder.parent / mark["file"]).unlink(missing_ok=True)


def remove_unmarked(store: Path) -> None:
    """Remove the checkpoints of stacks that no run is in any more."""
    files = list(store.glob(f".*{_ENDING}"))
    marked = {_mark(mark.parent).get("file") for mark in store.glob(f"*/{MARK}")}
    for file in files:
        if file.name not in marked:
            file.unlink(missing_ok=True)


def _mark(folder: Path) -> dict[str, Any]:
    """The mark of a run; empty where it is in no stack, or in one that cannot be this store's."""
    try:
        held = json.loads((folder / MARK).read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return held if _is_mark(held) else {}


def _is_mark(held: Any) -> bool:
    """Whether this names a stack's checkpoint and runs, all of them beside each other.

    What the mark names is read and deleted, and the store may be somebody else's.
    """
    return (
        isinstance(held, dict)
        and is_hidden_name(held.get("file"))
        and held["file"].endswith(_ENDING)
        and isinstance(held.get("members"), list)
        and all(map(is_name, held["members"]))
    )
