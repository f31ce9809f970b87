"""Atomic writing of files, the checksums of a folder, and checks of paths.

``SHA256SUMS`` lists a folder's files in the format of `sha256sum`. While a file is replaced, its
old and its new digest are both listed, so that a reader always finds a listed file, even if the
writer is killed.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EACCES, ENOTDIR
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from .errors import FileError, unwritten


def is_name(text: object) -> bool:
    """Whether a text can name a file or folder: not hidden, not a path, no formula in a CSV."""
    is_text = isinstance(text, str) and text.isprintable()
    return is_text and re.fullmatch(r"\w[^/\\:]{0,119}", text) is not None


def check_file(path: Path, listed: bool = False) -> None:
    """Raise a ``FileError`` if a file cannot be written here; create nothing.

    Unless ``listed``, it must not be one of the results that ``SHA256SUMS`` lists.
    """
    # Our rename would replace a device or a pipe by a file; as root, even /dev/null.
    other = os.path.exists(path) and not os.path.isfile(path)
    if other or os.path.realpath(path.parent) == "/dev":
        raise FileError(
            f"cannot write {str(path)!r}: it is a folder, a device or a pipe; name a file"
        )
    check_place(path.parent, path)
    if not listed and (path.name == "SHA256SUMS" or listed_digests(path)):
        raise FileError(
            f"cannot write {str(path)!r}: it is one of the results there; name another file"
        )


def check_place(folder: Path, path: Path | None = None) -> None:
    """The same check for a folder to write into; the error names ``path`` if given."""
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    number = EACCES if existing.is_dir() else ENOTDIR
    if number == ENOTDIR or not os.access(existing, os.W_OK | os.X_OK):
        raise unwritten(path or folder, OSError(number, os.strerror(number)))


@contextmanager
def _parts(place: Path, files: Iterable[tuple[Path, bytes]]) -> Iterator[dict[Path, Path]]:
    """Temporary files with these contents, by final path; an OSError becomes `unwritten`."""
    parts = {}
    try:
        for path, content in files:
            check_file(path, listed=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            parts[path] = path.with_name(f".{path.name}.{os.getpid()}.part")
            with parts[path].open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        yield parts
    except OSError as error:
        raise unwritten(place, error) from None
    finally:
        for part in parts.values():
            with suppress(OSError):  # already renamed
                part.unlink()


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file atomically: it has either its old content or all of ``content``.

    Text is written as UTF-8 with Unix line ends.
    """
    whole = content.encode("utf8") if isinstance(content, str) else content
    with _parts(path, [(path, whole)]) as parts:
        os.replace(parts[path], path)


def read_sums(folder: Path) -> dict[str, list[str]] | None:
    """Digests by file name, from a folder's ``SHA256SUMS``; None if it has none."""
    if not (folder / "SHA256SUMS").is_file():
        return None
    listed = {}
    text = (folder / "SHA256SUMS").read_bytes().decode(errors="replace")
    for digest, name in re.findall(r"(?m)^([0-9a-f]{64})  ([^ *\n].*)$", text):
        listed.setdefault(name, []).append(digest)
    return listed


def listed_digests(path: Path) -> list[str] | None:
    """A file's digests in ``SHA256SUMS`` of its folder or the one above; None without either."""
    folder = path.absolute().parent
    for place in (folder, folder.parent):  # ``probes/`` of a bundle has no sums
        if (sums := read_sums(place)) is not None:
            return sums.get(path.absolute().relative_to(place).as_posix(), [])
    return None


def _write_sums(folder: Path, listed: Mapping[str, list[str]]) -> None:
    lines = [f"{digest}  {name}\n" for name in sorted(listed) for digest in listed[name]]
    write_file(folder / "SHA256SUMS", "".join(lines))


def seal(folder: Path, left_out: Collection[str]) -> None:
    """List a folder's files in ``SHA256SUMS``, subfolders too, except hidden and ``left_out``."""
    listed = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        skipped = name in ("SHA256SUMS", *left_out) or path.name.startswith(".")
        if path.is_file() and not skipped:
            listed[name] = [sha256(path.read_bytes()).hexdigest()]
    _write_sums(folder, listed)


def write_listed(
    folder: Path, files: Iterable[tuple[str, bytes]], gone: Collection[str] = ()
) -> None:
    """Write files into a folder and list them in ``SHA256SUMS``; remove the files ``gone``.

    A file that was lost stays listed, so that the next reader reports it. If this is killed, each
    file is either old or new, and listed.
    """
    new = ((folder / name, content) for name, content in files)
    with _parts(folder, new) as parts, FileLock(folder / ".sums.lock"):
        before = read_sums(folder) or {}
        after = {name: digests for name, digests in before.items() if name not in gone}
        both = dict(before)
        for path, part in parts.items():
            name = path.relative_to(folder).as_posix()
            after[name] = [sha256(part.read_bytes()).hexdigest()]
            both[name] = [*dict.fromkeys([*before.get(name, ()), *after[name]])]
        _write_sums(folder, both)
        for path, part in parts.items():
            os.replace(part, path)
        for name in gone:
            (folder / name).unlink(missing_ok=True)
        _write_sums(folder, after)
