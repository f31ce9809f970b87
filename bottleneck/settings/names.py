"""Names that become paths: of runs and their files, of a stack's checkpoint, of a sweep."""

from pathlib import Path

from .errors import UsageError

DEFAULT_OUT = Path("results") / "runs"
"""Where results go, a folder for each preset or sweep, unless a different one is named."""
COMMAND = "BOTTLENECK_COMMAND"
"""The environment variable with which a worker knows the command line that started it."""
LONGEST = 200
"""Bytes of a name: file systems allow 255, and suffixes are added."""


def is_name(text: object) -> bool:
    """Whether this names one file or folder, not hidden, neither ``.`` nor ``..``.

    A name may come from a file that somebody else wrote: as a part of a path it must not lead out
    of its folder.
    """
    return (
        isinstance(text, str)
        and text.isprintable()
        and not text.startswith(".")
        and not set("/\\:") & set(text)
        and 0 < len(text.encode(errors="replace")) <= LONGEST
    )


def folder_name(sweep: str, place: str) -> str:
    """The name of a sweep, which is its folder's unless ``--out`` names one.

    Raises UsageError for a name that a folder cannot have.
    """
    if not is_name(sweep):
        raise UsageError(
            f"{place!r}: a folder cannot have the name {sweep!r}; name one with --out, or rename "
            "the file"
        )
    return sweep
