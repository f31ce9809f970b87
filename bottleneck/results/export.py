"""Writing a results bundle: of finished runs, or of several stores and bundles together."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UsageError
from ..settings.files import Content, write_listed
from . import schema
from .bundle import Bundle, Counts, bundle_of_runs, load_bundle, tidy_csv
from .discovery import find_runs
from .folders import STORE
from .places import check_bundle
from .study_files import tables, travelling

AT_ONCE = 100
"""Runs whose sentences are made into text together."""


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
    """A bundle, and which of its runs are taken from it."""

    bundle: Bundle
    taken: frozenset[str]

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of the runs that are taken."""
        return table[table["run"].isin(self.taken)]

    def names(self) -> list[str]:
        """The runs that are taken, in their order."""
        return [run for run in self.bundle.runs["run"].unique() if run in self.taken]


def write_bundle(
    runs: Sequence[Path],
    folder: Path,
    groups: Mapping[str, str],
    text: bool = True,
    check: Callable[[], None] | None = None,
) -> list[str]:
    """Write the bundle of finished runs of a store into a folder; groups by run.

    With them go the studies' tables of the folder that the store is in, but for those that rest on
    a run of its store that is left out: these are named. Without ``text`` no example sentence goes,
    and so none of the corpus: the rest is numbers and settings. ``check`` is as `write_listed` has
    it.
    """
    store = runs[0].parent
    known = find_runs(store)
    left_out = {run.name for run in known.done} - {run.name for run in runs}
    travel = travelling(store.parent if store.name == STORE else store, folder, left_out)
    bundle = bundle_of_runs(store, replace(known, done=tuple(runs)), groups)
    files = chain(_files(_parts([bundle]), text), travel.contents())
    write_listed(folder, files, travel.gone, check)
    return list(travel.left_out)


def write_merged(folders: Sequence[Path], out: Path) -> Merged:
    """Write the bundle of all finished runs of stores and bundles into a folder of its own.

    Runs are the same where their names are, which are hashes of settings and data; the first folder
    that has a run gives it. What cannot be read, or written there, or would be lost there, is a
    ``UserError``; results as the place of the bundle are a ``UsageError``.
    """
    way = "name a new folder with --out"
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise UsageError(f"{str(out)!r} is one of the folders to be put together: {way}")
    if tables(out):
        raise UsageError(f"{str(out)!r} has results of its own: {way}")
    parts = _parts([load_bundle(folder) for folder in folders])
    check = partial(check_bundle, out, {run for part in parts for run in part.taken})
    check()  # before anything is made there
    write_listed(out, _files(parts), check=check)
    counts = Counter(run for part in parts for run in part.bundle.runs["run"].unique())
    again = [run for run, count in counts.items() if count > 1]
    return Merged(len(counts), len(again), tuple(run for run in again if _differs(run, parts)))


def _differs(run: str, parts: Sequence[_Part]) -> bool:
    """Whether the folders that have a run have different scores of it."""
    frames = [part.bundle.runs for part in parts]
    rows = [frame.loc[frame["run"] == run, ["bucket", "bleu"]] for frame in frames]
    return len({tidy_csv(scores) for scores in rows if len(scores)}) > 1


def _parts(bundles: Sequence[Bundle]) -> list[_Part]:
    seen: set[str] = set()
    parts = []
    for bundle in bundles:
        parts.append(_Part(bundle, frozenset(bundle.runs["run"]) - seen))
        seen |= parts[-1].taken
    return parts


def _files(parts: Sequence[_Part], text: bool = True) -> Iterator[tuple[str, Content]]:
    """The bundle's files by name, one at a time."""
    yield schema.RUNS, _table([part.rows(part.bundle.runs) for part in parts])
    yield schema.SENTENCES, _compressed(_sentences(parts))
    yield schema.LEARNING, _table([part.rows(part.bundle.learning()) for part in parts])
    yield schema.EXAMPLES, _compressed(_examples(parts if text else ()))
    yield schema.ENVIRONMENT, _json(_environment(parts)).encode()


def _table(frames: Sequence[pd.DataFrame]) -> bytes:
    return tidy_csv(pd.concat([frame for frame in frames if len(frame)] or frames[:1])).encode()


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    yield from map(stream.compress, parts)
    yield stream.flush()


def _sentences(parts: Sequence[_Part]) -> Iterator[bytes]:
    """The lines of all sentences, some runs at a time."""
    columns = ["run", *schema.COUNTED]
    yield (",".join(columns) + "\n").encode()
    counts = [(run, part.bundle.sentences[run]) for part in parts for run in part.names()]
    for start in range(0, len(counts), AT_ONCE):
        names, some = zip(*counts[start : start + AT_ONCE], strict=True)
        rows = pd.DataFrame(np.concatenate([_numbers(one_run) for one_run in some]))
        rows.insert(0, "run", np.repeat(names, [len(one_run.words) for one_run in some]))
        yield rows.to_csv(index=False, header=False, lineterminator="\n").encode()


def _numbers(counts: Counts) -> np.ndarray:
    return np.column_stack([np.arange(len(counts.words)), counts.words, counts.statistics])


def _examples(parts: Sequence[_Part]) -> Iterator[bytes]:
    """One JSON object of every run's examples, a run at a time."""
    start = b"{"
    for part in parts:
        for run, examples in part.bundle.iterate_examples():
            if run in part.taken:
                yield start + _json({run: examples})[1:-2].encode()
                start = b","
    yield b"{}\n" if start == b"{" else b"}\n"


def _environment(parts: Sequence[_Part]) -> dict[str, Any]:
    """What the runs are and ran on; what one folder has not done, another may have."""
    known = [part.bundle.environment for part in parts]
    done = {
        run: part.bundle.environment["runs"][run]
        for part in parts
        for run in part.bundle.environment["runs"]
        if run in part.taken
    }
    unfinished = {
        run: described
        for environment in reversed(known)
        for run, described in environment.get("unfinished", {}).items()
        if run not in done
    }
    return {
        "schema": schema.VERSION,
        "runs": done,
        "unfinished": unfinished,
        "other_versions": sum(environment.get("other_versions", 0) for environment in known),
    }


def _json(values: Any) -> str:
    """As a bundle's files have JSON: one line, no blanks."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"
