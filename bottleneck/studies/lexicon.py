"""IBM model 1 of a run's training text, learned once for each text and kept on this machine.

Making the text and learning from it takes a minute of the preset lecture, and every sentence of
`bottleneck diagnose` that has no reference needs it. What is kept is one safetensors file beside
the compiled programs, named by the text's fingerprint, with a digest of all that is in it; one
that is of another form, damaged or not to be written is as none: the model is learned again.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..probes.ibm1 import IBM1
from ..questions.question import Tell
from ..questions.subject import Subject
from ..results.folders import ENVIRONMENT, damaged, read_object
from ..runs.network_files import tensors_digest
from ..settings.atomic import write_bytes
from ..settings.errors import UserError
from ..settings.machine import cache_root
from .survival import LEXICON_PAIRS, lexicon

FORM = "1"
"""Raised with whatever changes the model that a text gives: its tokens, its training, the file."""
WORDS = {"source": 1, "target": 0}
"""The two vocabularies of a file, and the number of the first word of each."""


def lexicon_of(subject: Subject, tell: Tell) -> IBM1:
    """The model of the run's training pairs; ``tell`` hears where it has to be learned.

    Raises UserError for a run that does not say which text it was trained on.
    """
    fingerprint = _fingerprint(subject.folder / ENVIRONMENT)
    path = lexicon_file(fingerprint)
    held = path and read_lexicon(path, fingerprint)
    if held is None:
        count = min(subject.settings.corpus.train_pairs, LEXICON_PAIRS)
        tell(
            f"no reference: learning which word is which from up to {count:,} training pairs "
            "(a minute or two, once for this text)"
        )
        held = lexicon(subject.corpus.train)
        if path is not None:
            with suppress(UserError):  # no room or no right to write there: it is learned again
                write_bytes(path, packed(held, fingerprint))
    return held


def _fingerprint(path: Path) -> str:
    """That of the run's text; without one every text would be the same."""
    found = read_object(path).get("fingerprint")
    if not isinstance(found, str) or not found:
        raise damaged(path, "it has no fingerprint of the text")
    return found


def lexicon_file(fingerprint: str) -> Path | None:
    """Where the model of a text is kept, for machines of all kinds; None where nothing is."""
    root = cache_root()
    name = hashlib.sha256(f"{FORM} {fingerprint}".encode()).hexdigest()[:16]
    return root and root / "lexicons" / f"{name}.safetensors"


def packed(model: IBM1, fingerprint: str) -> bytes:
    """The file: words as lines of UTF-8 in the order of their numbers, entries as they are."""
    tensors = {
        "source": _lines(model.source_ids),
        "target": _lines(model.target_ids),
        "keys": model.keys.astype(np.int64),
        "probabilities": model.probabilities,
    }
    return save(tensors, _stamp(tensors, fingerprint))


def read_lexicon(path: Path, fingerprint: str) -> IBM1 | None:
    """The model in a file; None where there is none of this text, whole and in this form."""
    try:
        with safe_open(path, framework="np") as file:
            told = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):
        return None
    if told != _stamp(tensors, fingerprint):
        return None
    words = {name: _numbers(tensors[name], first) for name, first in WORDS.items()}
    return IBM1(words["source"], words["target"], tensors["keys"], tensors["probabilities"])


def _stamp(tensors: Mapping[str, np.ndarray], fingerprint: str) -> dict[str, str]:
    """What a file says of itself."""
    return {"form": FORM, "fingerprint": fingerprint, "digest": tensors_digest(tensors)}


def _lines(words: Iterable[str]) -> np.ndarray:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _numbers(lines: np.ndarray, first: int) -> dict[str, int]:
    """Number by word; a word holds no line end, for text is cut at white space."""
    words = lines.tobytes().decode().split("\n")
    return {word: number for number, word in enumerate(words, first)}
