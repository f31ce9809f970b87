"""Archives and text from elsewhere, read with care: nothing is unpacked under a name of theirs.

A member whose name leads outside, a link, a device, an encrypted member, more members than there
can be or more bytes than a text of that size unpacks to: the whole archive is refused, before
it is read any further.
"""

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINVAL
from pathlib import Path
from typing import IO, Any

from ...settings.errors import UserError
from .places import NOTHING_KEPT

RATIO = 100
"""Unpacked bytes to packed ones at most: text comes to 10, a bomb to 1,000."""
SMALL = 1_000_000
"""So many unpacked bytes are let pass whatever their ratio."""

GZIP_MARK = b"\x1f\x8b"
BROKEN = (
    EOFError,
    NotImplementedError,  # zipfile, of a member or version that it does not know
    ValueError,  # zipfile and tarfile, of numbers that cannot be
    gzip.BadGzipFile,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged archive raises."""
_PLAIN_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Limits:
    """What an archive may hold at most: files, and bytes when unpacked."""

    members: int
    unpacked: int

    def bytes_of(self, path: Path) -> int:
        """Bytes that this file may unpack to."""
        return min(self.unpacked, max(SMALL, RATIO * path.stat().st_size))


class Bounded:
    """A stream that gives no more than so many bytes in all."""

    def __init__(self, stream: Any, most: int, name: str) -> None:
        self._stream, self._left, self._name = stream, most, name

    def read(self, count: int) -> bytes:
        """The next bytes; a UserError where there are more than there may be."""
        found = self._stream.read(min(count, self._left + 1))
        self._left -= len(found)
        if self._left < 0:
            raise refused(self._name, "unpacks to far more than it should")
        return found


def refused(name: str, why: str) -> UserError:
    """The error for an archive that is not what it should be."""
    return UserError(f"{name!r} was refused: it {why}; {NOTHING_KEPT}")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What is broken in an archive that the block reads is told in one line, as a UserError."""
    try:
        yield
    except UnicodeDecodeError:
        raise UserError(f"{path.name!r} holds text that is not UTF-8; {NOTHING_KEPT}") from None
    except BROKEN:
        raise _damaged(path) from None
    except OSError as error:
        if error.errno != EINVAL:  # zipfile, sent to a place before the file's beginning
            raise
        raise _damaged(path) from None


def _damaged(path: Path) -> UserError:
    return UserError(f"{path.name!r} is damaged or cut off; fetch it again")


@contextmanager
def unpacked(path: Path, limits: Limits) -> Iterator[Bounded]:
    """The content of a gzip file, or of one that was unpacked on its way here."""
    with path.open("rb") as packed:
        is_gzip = packed.read(2) == GZIP_MARK
        packed.seek(0)
        stream = gzip.GzipFile(fileobj=packed) if is_gzip else packed
        yield Bounded(stream, limits.bytes_of(path), path.name)


def tar_members(path: Path, limits: Limits) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of every file of a tar archive, in its order; read each before the next.

    Raises UserError for an archive that is refused.
    """
    left = limits.bytes_of(path)
    with unpacked(path, limits) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        for count, member in enumerate(tar, start=1):
            left -= member.size
            plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.sparse
            _check(path.name, member.name, plain or member.isdir(), count, left, limits)
            held = tar.extractfile(member) if plain else None
            if held is not None:
                yield member.name, held


@contextmanager
def open_zip(path: Path, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """A zip archive, all of whose members were looked at; UserError where one is refused."""
    with zipfile.ZipFile(path) as held:
        left = limits.bytes_of(path)
        for count, member in enumerate(held.infolist(), start=1):
            left -= member.file_size
            kind = stat.S_IFMT(member.external_attr >> 16)
            plain = kind in (0, stat.S_IFREG, stat.S_IFDIR) and not member.flag_bits & 1
            plain &= member.compress_type in _PLAIN_ZIP
            _check(path.name, member.orig_filename, plain, count, left, limits)
        yield held


def _check(archive: str, name: str, plain: bool, count: int, left: int, limits: Limits) -> None:
    """Refuse the archive for a member; ``left`` bytes may still be unpacked after it."""
    if leads_outside(name):
        raise refused(archive, f"holds {name!r}, a path outside its own folder")
    if not plain:
        raise refused(archive, f"holds {name!r}, which is no plain file")
    if count > limits.members:
        raise refused(archive, f"holds more than {limits.members:,} files")
    if left < 0:
        raise refused(archive, "unpacks to far more than it should")


def leads_outside(name: str) -> bool:
    """Whether a member's name is absolute, climbs up, or is one that systems read differently."""
    parts = name.replace("\\", "/").split("/")
    return not parts[0] or ".." in parts or ":" in parts[0] or "\0" in name
