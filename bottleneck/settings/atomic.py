"""Writing whole files or none: to a temporary name beside the file, then a rename.

The bytes are on the disk before the name is, so that a power cut leaves no empty file under it.
"""

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, ENOTDIR
from glob import escape
from pathlib import Path
from uuid import uuid4

from .errors import UnwrittenError, UserError, unwritten

DEVICES = "/dev"
_PART = re.compile(r"\..+\.(?P<machine>[0-9a-f]{8})-(?P<process>\d+)\.part")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it holds either what it held before or all of ``content``."""
    place(write_part(path, [content]), path)


def write_text(path: Path, text: str) -> None:
    """``write_bytes`` for text, as UTF-8 with Unix line ends."""
    write_bytes(path, text.encode("utf8"))


def write_part(path: Path, parts: Iterable[bytes]) -> Path:
    """The content of a file to be, under a temporary name beside it; it is on the disk then.

    Its parts need not all be in memory. What killed processes left of the same file goes. What
    cannot be written is an ``UnwrittenError``, as are a device and a pipe: see ``_check_kind``.
    """
    _check_kind(path)
    part = path.with_name(f".{path.name}.{_machine()}-{os.getpid()}.part")
    with _or_nothing(part, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_parts(path.parent, path.name)
        with part.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
    return part


def place(part: Path, path: Path) -> None:
    """Give what ``write_part`` wrote its name."""
    with _or_nothing(part, path):
        os.replace(part, path)
    with suppress(OSError):  # the folder's names are on the disk too, where the system can
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _or_nothing(part: Path, path: Path) -> Iterator[None]:
    """Nothing is left of the part of a file where the block fails."""
    try:
        yield
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise unwritten(path, error) from None
        raise


def _check_kind(path: Path) -> None:
    """A rename would put a file in the place of a device, a pipe or the system's name for one.

    Root may do that to /dev/null, and every program of the machine would feel it.
    """
    if os.path.isdir(path):  # the functions of os.path fail on no folder that may not be read
        raise UnwrittenError(f"cannot write {str(path)!r}: it is a folder; name a file in it")
    kind = os.path.exists(path) and not os.path.isfile(path)
    if kind or os.path.realpath(path.parent) == DEVICES:
        raise UnwrittenError(f"cannot write {str(path)!r}: it is a device or a pipe; name a file")


def remove_parts(folder: Path, name: str | None = None) -> None:
    """Remove what processes of this machine that are no more were writing into a folder.

    With a ``name``, what was to be that file alone.
    """
    for part in folder.glob(".*.part" if name is None else f".{escape(name)}.*.part"):
        match = _PART.fullmatch(part.name)
        if match and match["machine"] == _machine() and not _lives(int(match["process"])):
            with suppress(OSError):
                part.unlink()


def _machine() -> str:
    """This machine, for names of files: a folder may be shared by several."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _lives(process: int) -> bool:
    """Whether a process of this number is there; of other systems than POSIX all may be."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def check_writable(folder: Path, option: str = "--out") -> None:
    """A ``UserError`` at once, before hours of work, where nothing can be written later.

    ``option`` is the one that names the folder. The file that tries it has a name of its own: two
    sweeps may begin in one folder at once.
    """
    probe = folder / f".writable.{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write into output folder {str(folder)!r} ({error.strerror}); "
            f"name another with {option}"
        ) from None


def check_file(path: Path) -> None:
    """An ``UnwrittenError`` at once where a file cannot be written later; make nothing.

    Folders that are missing are no failure: `write_bytes` makes them.
    """
    _check_kind(path)
    check_place(path.parent, path)


def check_place(folder: Path, path: Path | None = None) -> None:
    """The same of a folder that files are to be written into; the error names ``path`` if given."""
    new = topmost_missing(folder)
    existing = new.parent if new else folder
    if not existing.is_dir():
        raise unwritten(path or folder, NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR)))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise unwritten(path or folder, PermissionError(EACCES, os.strerror(EACCES)))


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
