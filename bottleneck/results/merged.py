"""Results of several machines as one bundle: every run as the first folder that holds it has it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from ..settings.errors import UsageError
from ..settings.sums import Content, write_listed
from . import schema
from .bundle import Bundle, load_bundle, read_table, tidy_csv
from .export import SENTENCES_HEAD, as_json, compressed, write_bundle
from .folders import read_groups
from .found import finished_runs
from .places import check_bundle
from .study_files import tables


@dataclass(frozen=True)
class Merged:
    """How many runs there are now, and how many of them a later folder had again.

    ``differing`` are those of the latter that have other scores there: trained on two machines.
    """

    runs: int
    again: int
    differing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    """A folder's bundle, and which of its runs are taken from it."""

    bundle: Bundle
    taken: frozenset[str]


def write_merged(folders: Sequence[Path], out: Path) -> Merged:
    """Write the bundle of all finished runs of stores and bundles into a folder of its own.

    Runs are the same where their names are, which are hashes of settings and data. What cannot be
    read, or written there, or would be lost there, is a ``UserError``.
    """
    _check_apart(folders, out)
    with TemporaryDirectory(prefix="bottleneck-") as held:
        places = [_as_bundle(each, Path(held) / str(at)) for at, each in enumerate(folders)]
        parts = _parts([load_bundle(place) for place in places])
        check = partial(check_bundle, out, {run for part in parts for run in part.taken})
        check()  # before anything is made there
        write_listed(out, _contents(parts), check=check)
    folders_of = Counter(run for part in parts for run in part.bundle.runs["run"].unique())
    again = [run for run, count in folders_of.items() if count > 1]
    differing = tuple(run for run in again if _differs(run, parts))
    return Merged(len(folders_of), len(again), differing)


def _differs(run: str, parts: Sequence[_Part]) -> bool:
    """Whether the folders that hold a run have different scores of it."""
    tables = (part.bundle.runs for part in parts)
    held = (table.loc[table["run"] == run, ["bucket", "bleu"]] for table in tables)
    return len({tidy_csv(rows) for rows in held if len(rows)}) > 1


def _check_apart(folders: Sequence[Path], out: Path) -> None:
    """Refuse a folder that is one of those to be read, or has what the bundle would not be of."""
    way = "name a new folder with --out"
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise UsageError(f"{str(out)!r} is one of the folders to be put together: {way}")
    if tables(out):
        raise UsageError(f"{str(out)!r} has results of its own: {way}")


def _as_bundle(folder: Path, place: Path) -> Path:
    """A bundle's own folder; of a store the bundle, made in its place."""
    runs = finished_runs(folder)
    if not runs:
        return folder
    write_bundle(runs, place, read_groups(folder))
    return place


def _parts(bundles: Sequence[Bundle]) -> list[_Part]:
    seen: set[str] = set()
    parts = []
    for bundle in bundles:
        parts.append(_Part(bundle, frozenset(bundle.runs["run"]) - seen))
        seen |= parts[-1].taken
    return parts


def _contents(parts: Sequence[_Part]) -> Iterator[tuple[str, Content]]:
    """The bundle's files by name, one at a time."""
    yield schema.RUNS, _table(parts, (part.bundle.runs for part in parts))
    yield schema.SENTENCES, compressed(_sentences(parts))
    yield schema.LEARNING, _table(parts, (part.bundle.learning() for part in parts))
    yield schema.EXAMPLES, compressed([as_json(_examples(parts)).encode()])
    yield schema.ENVIRONMENT, as_json(_environment(parts)).encode()


def _table(parts: Sequence[_Part], frames: Iterable[pd.DataFrame]) -> bytes:
    """One CSV file of a data frame of every bundle."""
    taken = [
        frame[frame["run"].isin(part.taken)] for part, frame in zip(parts, frames, strict=True)
    ]
    return tidy_csv(pd.concat([frame for frame in taken if len(frame)] or taken[:1])).encode()


def _sentences(parts: Sequence[_Part]) -> Iterator[bytes]:
    """The lines of all sentences, a bundle at a time; of an older one some columns."""
    yield SENTENCES_HEAD
    for part in parts:
        rows = read_table(part.bundle.folder / schema.SENTENCES, schema.COUNTED_COLUMNS)
        rows = rows[rows["run"].isin(part.taken)]
        yield rows.to_csv(index=False, header=False, lineterminator="\n").encode()


def _examples(parts: Sequence[_Part]) -> dict[str, Any]:
    return {
        run: held
        for part in parts
        for run, held in part.bundle.examples().items()
        if run in part.taken
    }


def _environment(parts: Sequence[_Part]) -> dict[str, Any]:
    """What the runs are and ran on; what one folder has not done, another may have."""
    all_held = [part.bundle.environment for part in parts]
    done = {
        run: held["runs"][run]
        for part, held in zip(parts, all_held, strict=True)
        for run in held["runs"]
        if run in part.taken
    }
    others = {
        run: described
        for held in reversed(all_held)
        for run, described in held.get("unfinished", {}).items()
        if run not in done
    }
    return {
        "schema": schema.VERSION,
        "runs": done,
        "unfinished": others,
        "other_versions": sum(held.get("other_versions", 0) for held in all_held),
    }
