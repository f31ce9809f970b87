"""Files that are devices: what is read from some of them never ends."""

from pathlib import Path
from stat import S_ISBLK, S_ISCHR


def is_endless(path: Path) -> bool:
    """Whether it is a device and no terminal, where a person ends what is read.

    A pipe is none, for what is at its other end stops. OSError for what cannot be looked at.
    """
    mode = path.stat().st_mode
    if not S_ISCHR(mode):
        return S_ISBLK(mode)
    with path.open("rb", buffering=0) as file:
        return not file.isatty()
