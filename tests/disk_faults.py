"""Faults of a disk, from one write of this process on; for programs of their own."""

import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seq2seq_bottleneck.settings import files

Fault = Callable[[Path], None]


def full(_: Path) -> None:
    """From now on no file grows beyond ten bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))


def readonly(folder: Path) -> None:
    """From now on nothing is written into the folder, or where it is to be."""
    (folder if folder.exists() else folder.parent).chmod(0o555)


FAULTS: dict[str, Fault] = {"full": full, "readonly": readonly}


def mended(place: Path) -> None:
    """Neither is the case any more, in a folder and those inside it."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for folder in (place, *(path for path in place.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


@contextmanager
def faulty(fault: Fault, step: int) -> Iterator[list[Path]]:
    """The fault at write ``step`` of the block; gives the files whose writing was begun so far."""
    begun: list[Path] = []
    real = files.write_part

    def write_part(path: Path, pieces: Iterable[bytes], parts: dict[Path, Path]) -> None:
        if len(begun) == step:
            fault(path.parent)
        begun.append(path)
        real(path, pieces, parts)

    files.write_part = write_part
    try:
        yield begun
    finally:
        files.write_part = real
