"""Writing whole files or none, the checksums of a folder, and names that become paths.

A file is written under a temporary name beside it, then renamed. The bytes are on the disk before
the name is, so that a power cut leaves no empty file under it.

``SHA256SUMS`` lists a folder's files as `sha256sum` writes and checks them. A file that is written
again is listed with the digest that it has and the one that it gets until it is in its place, so
that whoever is killed, or reads meanwhile, finds a listed file.
"""

import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EACCES, ENOTDIR
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from .errors import UnwrittenError, unwritten

SUMS = "SHA256SUMS"
_MACHINE = sha256(platform.node().encode()).hexdigest()[:8]
"""This machine, for names of files: a folder may be shared by several."""

Content = bytes | Iterable[bytes]
"""Of a file: its bytes, or parts of them in their order."""
Listed = Mapping[str, list[str]]
"""Digests by the file's name in its folder, ``probes/fit.csv``, in the order of the lines."""


def is_name(text: object) -> bool:
    """Whether this names one file or folder, not hidden, neither ``.`` nor ``..``.

    A name may come from a file that somebody else wrote: as a part of a path it must not lead out
    of its folder. File systems allow 255 bytes, and suffixes are added.
    """
    return (
        isinstance(text, str)
        and text.isprintable()
        and not text.startswith(".")
        and not set("/\\:") & set(text)
        and 0 < len(text.encode(errors="replace")) <= 200
    )


def check_file(path: Path) -> None:
    """An ``UnwrittenError`` at once where a file cannot be written later; make nothing.

    A rename would put a file in the place of a device, a pipe or the system's name for one: root
    may do that to /dev/null, and every program of the machine would feel it.
    """
    # The functions of os.path fail on no folder that may not be read.
    other = os.path.exists(path) and not os.path.isfile(path)
    if other or os.path.realpath(path.parent) == "/dev":
        raise UnwrittenError(
            f"cannot write {str(path)!r}: it is a folder, a device or a pipe; name a file"
        )
    check_place(path.parent, path)


def check_place(folder: Path, path: Path | None = None) -> None:
    """The same of a folder that files are to be written into; the error names ``path`` if given.

    Folders that are missing are no failure: `write_bytes` makes them.
    """
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise unwritten(path or folder, NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR)))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise unwritten(path or folder, PermissionError(EACCES, os.strerror(EACCES)))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it holds either what it held before or all of ``content``.

    What cannot be written is an ``UnwrittenError``, as are a device and a pipe.
    """
    _place(write_part(path, [content]), path)


def write_text(path: Path, text: str) -> None:
    """``write_bytes`` for text, as UTF-8 with Unix line ends."""
    write_bytes(path, text.encode("utf8"))


def write_part(path: Path, parts: Iterable[bytes]) -> Path:
    """The content of a file to be, under a temporary name beside it; it is on the disk then.

    Its parts need not all be in memory. What killed processes left in the folder goes.
    """
    check_file(path)
    part = path.with_name(f".{path.name}.{_MACHINE}-{os.getpid()}.part")
    with _or_nothing(part, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_parts(path.parent)
        with part.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
    return part


def _place(part: Path, path: Path) -> None:
    """Give what ``write_part`` wrote its name."""
    with _or_nothing(part, path):
        os.replace(part, path)


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


def remove_parts(folder: Path) -> None:
    """Remove what processes of this machine that are no more were writing into a folder.

    Of other systems than POSIX, whose processes cannot be asked for, all parts stay.
    """
    for part in folder.glob(f".*.{_MACHINE}-*.part"):
        process = part.stem.rpartition("-")[2]
        if process.isdecimal() and os.name == "posix":
            with suppress(OSError):  # the process lives, and is another user's
                try:
                    os.kill(int(process), 0)
                except ProcessLookupError:
                    part.unlink()


def digest_of(content: bytes) -> str:
    """The digest of a file's bytes, 64 hex digits."""
    return sha256(content).hexdigest()


def parsed(sums: bytes) -> Listed:
    """What the lines of a ``SHA256SUMS`` list; what is no line of one lists nothing."""
    listed: dict[str, list[str]] = {}
    for line in sums.split(b"\n"):
        if match := re.fullmatch(rb"([0-9a-f]{64})  ([^ *].*)", line):
            digest, name = (group.decode(errors="replace") for group in match.groups())
            listed.setdefault(name, []).append(digest)
    return listed


def written(listed: Listed) -> bytes:
    """The same as lines, by name."""
    lines = [f"{digest}  {name}\n" for name in sorted(listed) for digest in listed[name]]
    return "".join(lines).encode()


def read_sums(folder: Path) -> Listed | None:
    """What the sums of a folder list; None where it has none."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return parsed((folder / SUMS).read_bytes())
    return None


def seal(folder: Path, left_out: Collection[str]) -> None:
    """List all files of a folder and of those inside it but some, and hidden ones."""
    listed = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in {SUMS, *left_out} and not path.name.startswith("."):
            listed[name] = [digest_of(path.read_bytes())]
    write_bytes(folder / SUMS, written(listed))


def write_listed(
    folder: Path,
    files: Iterable[tuple[str, Content]],
    gone: Collection[str] = (),
) -> None:
    """Write files into a folder and list them; those that are ``gone`` are removed.

    Each file is written before the next is asked for, and its parts need not all be in memory. A
    file that was lost stays listed, so that whoever reads it next says so.
    Killed at any moment this leaves each file as it was or as it is to be, and listed. One process
    at a time does so in a folder. A UserError where nothing can be written.
    """
    parts: dict[str, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".sums.lock"):
            for inside in filter(Path.is_dir, folder.iterdir()):
                remove_parts(inside)
            before = read_sums(folder) or {}
            after = {name: digests for name, digests in before.items() if name not in gone}
            both = dict(before)
            for name, content in files:
                digest = sha256()
                pieces = [content] if isinstance(content, bytes) else content
                # The digest is updated by each piece on its way into the file.
                parts[name] = write_part(
                    folder / name, (digest.update(piece) or piece for piece in pieces)
                )
                after[name] = [digest.hexdigest()]
                both[name] = [*dict.fromkeys([*before.get(name, ()), *after[name]])]
            write_bytes(folder / SUMS, written(both))
            for name, part in parts.items():
                _place(part, folder / name)
            for name in gone:
                (folder / name).unlink(missing_ok=True)
            write_bytes(folder / SUMS, written(after))
    except BaseException as error:
        for part in parts.values():
            with suppress(OSError):  # closed meanwhile: whoever writes next clears it
                part.unlink()
        if isinstance(error, OSError):
            raise unwritten(folder, error) from None
        raise


def of_one_time(folder: Path, names: Collection[str]) -> bool:
    """Whether files that were written together are all as they were, or all as they were to be.

    Only where a writer was killed between two of them can they be of both.
    """
    times = set()
    for name, digests in (read_sums(folder) or {}).items():
        if name in names and len(digests) > 1 and (folder / name).is_file():
            digest = digest_of((folder / name).read_bytes())
            if digest in digests:
                times.add("new" if digest == digests[-1] else digests.index(digest))
    return len(times) <= 1
