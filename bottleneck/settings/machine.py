"""What this process may use of its machine: cores, threads, and a folder for its cache."""

import os
from collections.abc import Mapping
from pathlib import Path


def cores() -> int:
    """Processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def nproc_from(environment: Mapping[str, str]) -> int | None:
    """How many threads NPROC asks of XLA; None where it is not set, or is no number above 0."""
    text = environment.get("NPROC", "").strip()
    return int(text) or None if text.isascii() and text.isdecimal() else None


def cache_root() -> Path | None:
    """The folder of programs, lexicons and corpora that can be made again.

    None where the user has no home that is known.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "seq2seq-bottleneck"
    except RuntimeError:  # no HOME, and a user that the system does not know
        return None
