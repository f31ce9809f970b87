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
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EACCES, ENOTDIR
from functools import lru_cache
from glob import escape
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from filelock import FileLock

from .errors import UnwrittenError, UserError, unwritten

LONGEST = 200
"""Bytes of a name: file systems allow 255, and suffixes are added."""
SUMS = "SHA256SUMS"
_PART = re.compile(r"\..+\.(?P<machine>[0-9a-f]{8})-(?P<process>\d+)\.part")
_GAP = b"  "

Content = bytes | Iterable[bytes]
"""Of a file: its bytes, or parts of them in their order."""
Listed = Mapping[str, Collection[str]]
"""Digests by the file's name in its folder, ``probes/fit.csv``, in the order of the lines."""


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
    if kind or os.path.realpath(path.parent) == "/dev":
        raise UnwrittenError(f"cannot write {str(path)!r}: it is a device or a pipe; name a file")


def remove_parts(folder: Path, name: str | None = None) -> None:
    """Remove what processes of this machine that are no more were writing into a folder.

    With a ``name``, what was to be that file alone. Of other systems than POSIX, whose processes
    cannot be asked for, all parts stay.
    """
    for part in folder.glob(".*.part" if name is None else f".{escape(name)}.*.part"):
        match = _PART.fullmatch(part.name)
        if match and match["machine"] == _machine() and os.name == "posix":
            with suppress(OSError):  # the process lives, and is another user's
                try:
                    os.kill(int(match["process"]), 0)
                except ProcessLookupError:
                    part.unlink()


def _machine() -> str:
    """This machine, for names of files: a folder may be shared by several."""
    return sha256(platform.node().encode()).hexdigest()[:8]


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
    inside = sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else []
    for path in (*inside, folder):
        with suppress(OSError):
            path.rmdir()


def digest_of(content: bytes) -> str:
    """The digest of a file's bytes, 64 hex digits."""
    return sha256(content).hexdigest()


def parsed(sums: bytes) -> Listed:
    """What the lines of a ``SHA256SUMS`` list; what is no line of one lists nothing."""
    listed: dict[str, list[str]] = defaultdict(list)
    for line in sums.split(b"\n"):
        digest, gap, name = line.partition(_GAP)
        if gap:
            listed[name.decode(errors="replace")].append(digest.decode(errors="replace"))
    return listed


def written(listed: Listed) -> bytes:
    """The same as lines, by name."""
    lines = [f"{digest}  {name}\n" for name in sorted(listed) for digest in listed[name]]
    return "".join(lines).encode()


def read_sums(folder: Path) -> Listed | None:
    """What the sums of a folder list; None where it has none."""
    path = f"{folder}/{SUMS}"
    with suppress(FileNotFoundError, NotADirectoryError):
        state = os.stat(path)
        return _parsed(path, state.st_ino, state.st_mtime_ns, state.st_size)
    return None


@lru_cache(maxsize=10_000)  # folders, of two kilobytes each
def _parsed(path: str, *_: int) -> Listed:
    """What a file lists, as long as it is the same: each file of a run asks for its run's sums."""
    return parsed(Path(path).read_bytes())


def others_lines(folder: Path) -> bool:
    """Whether a folder's sums have lines that are not of our form: they would not be kept."""
    with suppress(FileNotFoundError, NotADirectoryError):
        lines = (folder / SUMS).read_bytes().split(b"\n")
        return any(line and not re.fullmatch(rb"[0-9a-f]{64}  [^ *].*", line) for line in lines)
    return False


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
    check: Callable[[], None] | None = None,
) -> None:
    """Write files into a folder and list them; those that are ``gone`` are removed.

    Each file is written before the next is asked for, and its parts need not all be in memory. A
    file that was lost stays listed, so that whoever reads it next says so. ``check`` is called once
    nobody else writes there, and raises where nothing is to be written.
    Killed at any moment this leaves each file as it was or as it is to be, and listed. One process
    at a time does so in a folder. A UserError where nothing can be written.
    """
    parts: dict[str, Path] = {}
    with _alone(folder):
        if check is not None:
            check()
        before, after = dict(read_sums(folder) or {}), {}
        try:
            for name, content in files:
                digest = sha256()
                pieces = [content] if isinstance(content, bytes) else content
                # The digest is updated by each piece on its way into the file.
                parts[name] = write_part(
                    folder / name, (digest.update(piece) or piece for piece in pieces)
                )
                after[name] = [digest.hexdigest()]
            both = {
                name: [*dict.fromkeys([*before.get(name, ()), *after.get(name, ())])]
                for name in (*before, *after)
            }
            write_bytes(folder / SUMS, written(both))
            for name, part in parts.items():
                place(part, folder / name)
        except BaseException:
            for part in parts.values():
                with suppress(OSError):  # closed meanwhile: whoever writes next clears it
                    part.unlink()
            raise
        for name in gone:
            (folder / name).unlink(missing_ok=True)
        kept = {name: digests for name, digests in before.items() if name not in gone}
        write_bytes(folder / SUMS, written(kept | after))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """What is written in the block is written by one process at a time, the leftovers cleared."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".sums.lock")
        lock.acquire()
    except OSError as error:
        raise unwritten(folder, error) from None
    try:
        for inside in (folder, *(path for path in folder.iterdir() if path.is_dir())):
            remove_parts(inside)
        yield
    except OSError as error:
        raise unwritten(folder, error) from None
    finally:
        lock.release()


def of_one_time(folder: Path, names: Iterable[str]) -> bool:
    """Whether files that were written together are all as they were, or all as they were to be.

    Only where a writer was killed between two of them can they be of both.
    """
    listed, times = read_sums(folder) or {}, set()
    for name in names:
        digests, digest = list(listed.get(name, ())), ""
        if len(digests) > 1 and (folder / name).is_file():
            digest = digest_of((folder / name).read_bytes())
        if digest in digests:
            times.add(digests.index(digest) - (len(digests) if digest == digests[-1] else 0))
    return times <= {0} or times <= {-1}
