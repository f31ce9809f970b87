"""Weights on disk: safetensors, one tensor a parameter, named by its place in the translator."""

import hashlib
import json
from collections.abc import Mapping
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


def tensors_digest(tensors: Mapping[str, np.ndarray]) -> str:
    """Over names, shapes, types and bytes of all, 64 hex digits."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        held = np.ascontiguousarray(tensors[name])
        digest.update(json.dumps([name, held.shape, held.dtype.str]).encode())
        digest.update(held.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
