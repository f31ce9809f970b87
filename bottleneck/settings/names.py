"""Names that become paths: of runs and their files, of a stack's checkpoint, of a sweep.

A name may come from a file that somebody else wrote. As one part of a path it must not lead out of
the folder that it is put in, and must be one that every file system takes.
"""

import re
import unicodedata
from pathlib import Path

from .errors import UsageError

DEFAULT_OUT = Path("results") / "runs"
"""Where results go, a folder a preset or sweep, unless another is named."""
COMMAND = "BOTTLENECK_COMMAND"
"""The environment's variable by which a worker knows the command line that started it."""
LONGEST = 200
"""Bytes of a name: file systems take 255, and endings are put behind it."""

_SEPARATORS = frozenset("/\\:")
"""What parts a path, on one system or another."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of controls, marks of direction, half pairs, separators of lines."""
_plain = re.compile(r"[\w.-]+", re.ASCII).fullmatch
"""What nearly all names are made of, and is told at once."""


def is_name(text: object) -> bool:
    """Whether this is the name of one file or folder, neither hidden nor ``.`` nor ``..``."""
    return (
        isinstance(text, str)
        and not text.startswith(".")
        and 0 < len(text.encode(errors="replace")) <= LONGEST
        and (_plain(text) is not None or not any(map(_is_strange, text)))
    )


def _is_strange(sign: str) -> bool:
    return sign in _SEPARATORS or unicodedata.category(sign) in _UNSEEN


def folder_name(sweep: str, place: str) -> str:
    """The name of a sweep, whose folder is called by it where no other is given.

    Raises UsageError where no folder can be called so.
    """
    if not is_name(sweep):
        raise UsageError(
            f"{place!r}: no folder can be called {sweep!r} after it; name one with --out, or give "
            "the file another name"
        )
    return sweep
