"""A digest of arrays, so that a file of them that was damaged is known."""

import hashlib
import json
from collections.abc import Mapping

import numpy as np


def tensors_digest(tensors: Mapping[str, np.ndarray]) -> str:
    """Over names, shapes, types and bytes of all, 64 hex digits."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        held = np.ascontiguousarray(tensors[name])
        digest.update(json.dumps([name, held.shape, held.dtype.str]).encode())
        digest.update(held.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
