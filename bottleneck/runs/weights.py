"""Weights on disk: safetensors, one tensor a parameter, named by its place in the translator."""

from pathlib import Path

import jax
import numpy as np
from safetensors.numpy import load, save

from ..model.translator import Weights
from ..settings.atomic import write_bytes


def save_weights(path: Path, weights: Weights) -> None:
    """Write all parameters as float32 tensors."""
    leaves = jax.tree_util.tree_leaves_with_path(weights)
    tensors = {_name(place): np.ascontiguousarray(leaf) for place, leaf in leaves}
    write_bytes(path, save(tensors))


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
