"""Where this program keeps what it can make again: programs, lexicons, corpora."""

import os
from pathlib import Path


def cache_root() -> Path | None:
    """The folder for all of it; None where the user has no home that is known."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "seq2seq-bottleneck"
    except RuntimeError:  # no HOME, and a user that the system does not know
        return None
