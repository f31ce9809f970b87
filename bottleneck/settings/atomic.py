"""Writing whole files or none: to a temporary name beside the file, then a rename."""

import os
from collections.abc import Iterable
from contextlib import suppress
from errno import EACCES, ENOTDIR
from pathlib import Path
from uuid import uuid4

from .errors import UserError, unwritten


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it holds either what it held before or all of ``content``."""
    write_parts(path, [content])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """``write_bytes`` of many parts, which need not all be in memory."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.writelines(parts)
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise unwritten(path, error) from None
        raise


def write_text(path: Path, text: str) -> None:
    """``write_bytes`` for text, as UTF-8 with Unix line ends."""
    write_bytes(path, text.encode("utf8"))


def check_writable(folder: Path) -> None:
    """Fail at once, before hours of work, where nothing can be written later.

    The file that tries it has a name of its own: two sweeps may begin in one folder at once.
    """
    probe = folder / f".writable.{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write into output folder {str(folder)!r} ({error.strerror}); "
            "name another with --out"
        ) from None


def check_file(path: Path) -> None:
    """Fail at once where a file cannot be written later, and make nothing.

    Folders that are missing are no failure: `write_bytes` makes them.
    """
    if path.is_dir():
        raise UserError(f"cannot write {str(path)!r}: it is a folder; name a file in it")
    check_place(path.parent)


def check_place(folder: Path) -> None:
    """The same of a folder that files are to be written into."""
    new = topmost_missing(folder)
    ground = new.parent if new else folder
    if not ground.is_dir():
        raise unwritten(folder, NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR)))
    if not os.access(ground, os.W_OK | os.X_OK):
        raise unwritten(folder, PermissionError(EACCES, os.strerror(EACCES)))


def topmost_missing(folder: Path) -> Path | None:
    """The highest of the folder and its parents that is not there yet; None if all are."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    return missing[-1] if missing else None


def remove_empty(folder: Path) -> None:
    """Remove a folder and the folders inside it as far as they hold no file."""
    for inside in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else ():
        with suppress(OSError):
            inside.rmdir()
    with suppress(OSError):
        folder.rmdir()
