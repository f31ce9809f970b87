"""Files that are devices, what is read from some of which never ends; and those that train."""

import os
import sys
from pathlib import Path
from stat import S_ISBLK, S_ISCHR

from .errors import UserError, out_of_means

PLATFORMS = "JAX_PLATFORMS"
NUMBERS = {
    "JAX_ENABLE_X64": "0",
    "JAX_DEFAULT_PRNG_IMPL": "threefry2x32",
    "JAX_THREEFRY_PARTITIONABLE": "1",
    "JAX_RANDOM_SEED_OFFSET": "0",
    "JAX_NUMPY_DTYPE_PROMOTION": "standard",
}
"""What jax is told of its numbers, whatever the environment says: each would make other results.

A run's name knows nothing of the environment. These are jax's own defaults.
"""


def is_endless(path: Path) -> bool:
    """Whether it is a device and no terminal, where a person ends what is read.

    A pipe is none, for what is at its other end stops. OSError for what cannot be looked at.
    """
    mode = path.stat().st_mode
    if not S_ISCHR(mode):
        return S_ISBLK(mode)
    with path.open("rb", buffering=0) as file:
        return not file.isatty()


def mendable(error: Exception) -> UserError | None:
    """The error as one that the user can mend: ours, too little memory, no device; else None."""
    return error if isinstance(error, UserError) else out_of_means(error) or _without_device()


def _without_device() -> UserError | None:
    """The error of jax that has no device of the kind that the environment asks for, or None.

    Asked once something has failed: jax says it in many ways, an AssertionError among them.
    """
    jax, asked = sys.modules.get("jax"), os.environ.get(PLATFORMS)
    if jax is None or not asked:
        return None
    try:
        jax.devices()
    except Exception:
        return UserError(f"jax finds no device of {PLATFORMS}={asked!r} here: leave that out")
    return None
