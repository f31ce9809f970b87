"""What this process may use of its machine: cores, threads, devices, folders."""

import os
import re
import sys
from pathlib import Path

from .errors import UserError

DEFAULT_OUT = Path("results") / "runs"
"""Where results go, a folder for each preset or sweep, unless a different one is named."""
COMMAND = "BOTTLENECK_COMMAND"
"""The environment variable with which a worker knows the command line that started it."""
NUMBERS = {
    "JAX_ENABLE_X64": "0",
    "JAX_DEFAULT_PRNG_IMPL": "threefry2x32",
    "JAX_THREEFRY_PARTITIONABLE": "1",
    "JAX_RANDOM_SEED_OFFSET": "0",
    "JAX_NUMPY_DTYPE_PROMOTION": "standard",
}
"""JAX's defaults, set whatever the environment says: each would change results."""


def cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cache_root() -> Path | None:
    """The folder of programs and corpora that can be made again; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "seq2seq-bottleneck"
    except RuntimeError:  # HOME is not set, and the system does not know the user
        return None


def mendable(error: Exception) -> UserError | None:
    """The error as one that the user can mend: ours, too little memory, no device; else None."""
    if isinstance(error, UserError):
        return error
    lack = re.search("RESOURCE_EXHAUSTED: |Out of memory allocating", str(error))
    if isinstance(error, MemoryError) or lack:
        return UserError(
            "not enough memory; smaller sizes (model.context_size, corpus vocabularies, "
            "training.batch_size, decoding.beam_size) and fewer runs at once (--jobs) need less"
        )
    jax, platform = sys.modules.get("jax"), os.environ.get("JAX_PLATFORMS")
    try:  # jax reports a missing device in many ways: it is asked for its devices once more
        if jax is not None and platform:
            jax.devices()
    except Exception:
        return UserError(f"jax finds no device of JAX_PLATFORMS={platform!r} here: unset it")
    return None
