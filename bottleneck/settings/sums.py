"""Checksums of a folder's files, as `sha256sum` writes and checks them: ``SHA256SUMS``.

A file that is written anew is listed with the digest that it has and the one that it gets until it
is in its place, so that whoever is killed, or reads meanwhile, finds a listed file.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from .atomic import place, remove_parts, write_bytes, write_part
from .errors import unwritten

SUMS = "SHA256SUMS"
_LOCK = ".sums.lock"
_GAP = b"  "
_LINE = re.compile(rb"[0-9a-f]{64}  [^ *].*")
KEPT = 10_000
"""Folders whose sums are kept in memory, two kilobytes each."""

Content = bytes | Iterable[bytes]
"""Of a file: its bytes, or parts of them in their order."""
Listed = Mapping[str, Collection[str]]
"""Digests by the file's name in its folder, ``probes/fit.csv``, in the order of the lines."""


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


@lru_cache(maxsize=KEPT)
def _parsed(path: str, *_: int) -> Listed:
    """What a file lists, as long as it is the same: each file of a run asks for its run's sums."""
    with open(path, "rb") as file:
        return parsed(file.read())


def others_lines(folder: Path) -> bool:
    """Whether a folder's sums have lines that are not of our form: they would not be kept."""
    with suppress(FileNotFoundError, NotADirectoryError):
        lines = (folder / SUMS).read_bytes().split(b"\n")
        return any(line and not _LINE.fullmatch(line) for line in lines)
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
        lock = FileLock(folder / _LOCK)
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
