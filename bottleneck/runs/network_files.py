"""The trained network in a run's folder: its weights, and the vocabularies that they belong to.

Weights are safetensors, one float32 tensor a parameter, named by its place in the translator. A
vocabulary is a list, one token per line; subwords also have ``source.subwords.model`` and
``target.subwords.model``, which sentencepiece itself reads and writes.
"""

from pathlib import Path

import jax
import numpy as np
from safetensors.numpy import load, save

from ..corpus.subwords import Subwords
from ..corpus.vocabulary import WORDS, Vocabulary
from ..model.translator import Weights
from ..results.folders import damaged, read_checked
from ..settings.concerns import CorpusSettings
from ..settings.files import write_bytes


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
                tokenizer.check()
            path = folder / f"{side}.vocabulary"
            vocabularies.append(Vocabulary.from_bytes(read_checked(path), tokenizer))
        except (OSError, ValueError) as error:
            raise damaged(path, error) from None
    return vocabularies[0], vocabularies[1]
