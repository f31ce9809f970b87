"""What this process may use on its machine: cores, memory, devices, folders."""

import os
import platform
import re
import sys
from contextlib import suppress
from pathlib import Path

from .errors import UserError

DEFAULT_OUT = Path("results") / "runs"
"""The default place of results, with a folder for each preset or sweep."""
NUMBERS = {
    "JAX_ENABLE_X64": "0",
    "JAX_DEFAULT_PRNG_IMPL": "threefry2x32",
    "JAX_THREEFRY_PARTITIONABLE": "1",
    "JAX_RANDOM_SEED_OFFSET": "0",
    "JAX_NUMPY_DTYPE_PROMOTION": "standard",
}
"""JAX's defaults; they override the environment, because each of them changes results."""


def cores() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The processor's name, on Linux from ``/proc/cpuinfo``."""
    with suppress(OSError):
        if name := re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf8")):
            return name[1]
    return platform.processor()


def cache_root() -> Path | None:
    """The cache folder of compiled programs and corpora; None without a home folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "seq2seq-bottleneck"
    except RuntimeError:  # HOME is not set, and the system does not know the user
        return None


def mendable(error: Exception) -> UserError | None:
    """The error as a `UserError` if the user can fix it (ours, memory, no device), else None."""
    if isinstance(error, UserError):
        return error
    lack = re.search("RESOURCE_EXHAUSTED: |Out of memory allocating", str(error))
    if isinstance(error, MemoryError) or lack:
        return UserError(
            "not enough memory; smaller sizes (model.context_size, corpus vocabularies, "
            "training.batch_size, decoding.beam_size) and fewer runs at once (--jobs) need less"
        )
    jax, platform = sys.modules.get("jax"), os.environ.get("JAX_PLATFORMS")
    try:  # jax reports a missing device in many ways: ask it for its devices again
        if jax is not None and platform:
            jax.devices()
    except Exception:
        return UserError(f"jax finds no device for JAX_PLATFORMS={platform!r} here: unset it")
    return None
