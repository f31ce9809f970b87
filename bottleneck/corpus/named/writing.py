"""The text of a corpus as plain files: one gzip file a language and split, a segment a line."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...settings.errors import UserError
from .places import NOTHING_KEPT, SIDES, side_file

CHUNK = 1 << 20


@contextmanager
def side_writer(path: Path) -> Iterator[gzip.GzipFile]:
    """A gzip file to write to; equal text makes equal bytes."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        yield packed


class PairWriter:
    """Writes the pairs of one split and counts them."""

    def __init__(self, english: gzip.GzipFile, french: gzip.GzipFile) -> None:
        self.count = 0
        self._english, self._french = english, french

    def write(self, english: str, french: str) -> None:
        """Add one pair, white space folded so that a segment is a line."""
        self._english.write(f"{' '.join(english.split())}\n".encode())
        self._french.write(f"{' '.join(french.split())}\n".encode())
        self.count += 1


@contextmanager
def pair_writer(folder: Path, split: str) -> Iterator[PairWriter]:
    """A writer of one split of the corpus in a folder."""
    english, french = (side_file(folder, split, side) for side in SIDES)
    with side_writer(english) as ours, side_writer(french) as theirs:
        yield PairWriter(ours, theirs)


def copy_lines(stream: Any, path: Path) -> int:
    """Write all of a stream, its last line ended; returns how many lines it has."""
    lines, last = 0, b"\n"
    with side_writer(path) as packed:
        while found := stream.read(CHUNK):
            packed.write(found)
            lines, last = lines + found.count(b"\n"), found[-1:]
        if last != b"\n":
            packed.write(b"\n")
    return lines + (last != b"\n")


def equal_count(counts: dict[str, int], split: str) -> int:
    """Pairs of a split by the lines of each side; UserError where these are not as many."""
    if set(counts) != set(SIDES) or len(set(counts.values())) != 1:
        found = ", ".join(f"{count:,} {side}" for side, count in sorted(counts.items())) or "none"
        raise UserError(
            f"the {split} text does not have a French line for each English one ({found}); "
            f"{NOTHING_KEPT}"
        )
    return counts["en"]


def thin(folder: Path, count: int, limit: int) -> int:
    """Keep ``limit`` of the ``count`` training pairs, evenly spread over the file."""
    if count <= limit:
        return count
    for side in SIDES:
        path = side_file(folder, "train", side)
        short = path.with_name(f"short.{path.name}")
        with gzip.open(path) as lines, side_writer(short) as packed:
            for place, line in enumerate(lines):
                if place * limit // count != (place + 1) * limit // count:
                    packed.write(line)
        short.replace(path)
    return limit
