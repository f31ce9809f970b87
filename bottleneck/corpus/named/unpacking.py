"""From what was downloaded to a corpus' plain files, for each of the layouts that there are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ...settings.errors import UserError
from .archives import Limits, open_zip, reading, refused, tar_members, unpacked
from .places import NOTHING_KEPT, SIDES, side_file
from .writing import copy_lines, equal_count, pair_writer


@dataclass(frozen=True)
class Built:
    """Pairs of each split, and what was left out."""

    pairs: Mapping[str, int]
    left_out: Mapping[str, int] = field(default_factory=dict)


Unpack = Callable[[Sequence[Path], Path], Built]
"""Reads what was downloaded and writes the files of a corpus into a folder."""

PLAIN = Limits(members=1, unpacked=1_000_000_000)
"""Of one gzip file."""
SHORT = Limits(members=100, unpacked=300_000_000)
"""Of an archive of short sentences, whose lines are held one by one."""
FEW = Limits(members=100, unpacked=3_000_000_000)
"""Of an archive of some text files."""


def unpack_sides(splits: Sequence[str]) -> Unpack:
    """Gzip files, English and French of each split in turn."""

    def unpack(paths: Sequence[Path], folder: Path) -> Built:
        counts: dict[str, int] = {}
        for place, split in enumerate(splits):
            lines = {}
            for side, path in zip(SIDES, paths[2 * place : 2 * place + 2], strict=True):
                with reading(path), unpacked(path, PLAIN) as stream:
                    lines[side] = copy_lines(stream, side_file(folder, split, side))
            counts[split] = equal_count(lines, split)
        return Built(counts)

    return unpack


def unpack_members(english: str, french: str) -> Unpack:
    """A tar archive that holds one file a language, under these names among others.

    Any other archive is a ``UserError``, and nothing of it is kept.
    """

    def unpack(paths: Sequence[Path], folder: Path) -> Built:
        lines: dict[str, int] = {}
        with reading(paths[0]):
            for name, held in tar_members(paths[0], FEW):
                side = {english: "en", french: "fr"}.get(name.removeprefix("./"))
                if side is None:
                    continue
                if side in lines:
                    raise refused(paths[0].name, f"holds {name!r} twice")
                lines[side] = copy_lines(held, side_file(folder, "train", side))
        return Built({"train": equal_count(lines, "training")})

    return unpack


def unpack_columns(member: str) -> Unpack:
    """A zip archive with a file of tab-separated columns, English and French the first two.

    Any other archive is a ``UserError``, and nothing of it is kept.
    """

    def unpack(paths: Sequence[Path], folder: Path) -> Built:
        with reading(paths[0]), open_zip(paths[0], SHORT) as held:
            if member not in held.namelist():
                raise UserError(f"{paths[0].name!r} holds no {member!r}; {NOTHING_KEPT}")
            with held.open(member) as lines:
                count = _copy_columns(lines, folder, f"{member!r} of {paths[0].name!r}")
        return Built({"train": count})

    return unpack


def _copy_columns(lines: Iterable[bytes], folder: Path, name: str) -> int:
    """Write the first two columns of every line that is not blank; returns how many."""
    with pair_writer(folder, "train") as writer:
        for number, line in enumerate(lines, start=1):
            columns = line.decode().rstrip("\r\n").split("\t")
            if len(columns) >= 2:
                writer.write(*islice(columns, 2))
            elif columns[0].strip():
                raise UserError(f"{name} line {number} has one column, not two; {NOTHING_KEPT}")
    if not writer.count:
        raise UserError(f"{name} is empty; {NOTHING_KEPT}")
    return writer.count
