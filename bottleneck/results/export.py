"""Writing a results bundle, of finished runs or of several folders; and where results may go."""

import json
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UsageError, UserError
from ..settings.files import SUMS, Content, check_file, has_other_lines, read_sums, write_listed
from . import schema
from .bundle import Bundle, bundle_of_runs, load_bundle, tidy_csv
from .discovery import find_runs
from .folders import STORE, is_run, listed_as, read_checked, read_object, runs_in, store_of
from .probes import rests_on, tables, way_back

NEW = "name a new folder"


def check_output(path: Path) -> None:
    """A ``UserError`` at once where a file cannot be written later, or is one of results.

    Such a one is what the sums of its folder list, these sums, and all that is in a run's folder:
    its place is taken by what made it alone.
    """
    check_file(path)
    folder, name = listed_as(Path(os.path.realpath(path.parent)) / path.name)
    if name == SUMS:
        raise UserError(f"{str(path)!r}: {SUMS} lists results and nothing else: name another file")
    if is_run(folder):
        raise UserError(f"{str(path)!r} is in the folder of a run: name a file elsewhere")
    if name in (read_sums(folder) or ()):
        raise UserError(
            f"{str(path)!r} is one of the results there, which {SUMS} lists: name another file"
        )


def check_bundle(folder: Path, runs: Collection[str], store: Path | None = None) -> None:
    """A ``UsageError`` where a bundle of these runs would take the place of other results.

    That is a run, a store, a folder with another store than the one that they are of, files of a
    bundle's names that bottleneck did not write, and a bundle away from its store with runs that
    are not in ``store`` either. A bundle of which that cannot be known is a ``DamagedError``.
    """
    if is_run(folder) or runs_in(folder):
        raise UsageError(f"{str(folder)!r} is a run or a store of runs: {NEW}")
    if find_runs(folder).any:
        if store is None or not store.samefile(store_of(folder)):
            raise UsageError(f"{str(folder)!r} has results of its own: {NEW}")
        return
    probes = (f"{schema.PROBES}/{table.name}" for table in tables(folder))
    files = [name for name in (*schema.FILES, *probes) if os.path.lexists(folder / name)]
    listed = read_sums(folder) or ()
    others = [SUMS] * has_other_lines(folder) + [name for name in files if name not in listed]
    if others:
        raise UsageError(
            f"refusing to overwrite {str(folder / others[0])!r}, which bottleneck did not write: "
            f"{NEW}"
        )
    if set(schema.FILES).isdisjoint(files):
        return
    path = folder / schema.ENVIRONMENT
    described = read_object(path, f"{NEW}, or delete that one").get("runs", {})
    known = {*runs, *(run.name for run in (runs_in(store) if store else ()))}
    if lost := sorted(set(described) - known):
        few = ", ".join(lost[:3]) + ", ..." * (len(lost) > 3)
        raise UsageError(
            f"{str(folder)!r} is a bundle with other runs ({few}): {NEW}, or delete it"
        )


def write_bundle(
    runs: Sequence[Path], folder: Path, groups: Mapping[str, str], text: bool = True
) -> list[str]:
    """Write the bundle of finished runs of a store into a folder; groups by run.

    With them go the studies' tables of the folder that the store is in, but for those that rest on
    a run of its store that is left out: these are named. Without ``text`` no example sentence goes,
    and so none of the corpus: the rest is numbers and settings.
    """
    store = runs[0].parent
    known = find_runs(store)
    left_out = {run.name for run in known.done} - {run.name for run in runs}
    chosen = replace(known, described={run: known.described[run] for run in runs})
    results = store.parent if store.name == STORE else store
    travelling, lacking, gone = [], [], []
    if results.resolve() != folder.resolve():
        for table in tables(results):
            (travelling if rests_on(table).isdisjoint(left_out) else lacking).append(table)
        names = {table.name for table in travelling}
        # An earlier bundle's other tables go, unless they are there and rest on no runs.
        others = [table for table in tables(folder) if table.name not in names]
        gone = [table.name for table in others if not table.exists() or rests_on(table)]
    probes = (
        (f"{schema.PROBES}/{table.name}", read_checked(table, way_back(table)))
        for table in travelling
    )
    files = _files([bundle_of_runs(store, chosen, groups)], text)
    write_listed(folder, chain(files, probes), [f"{schema.PROBES}/{name}" for name in gone])
    return [table.stem for table in lacking]


@dataclass(frozen=True)
class Merged:
    """How many runs there are now, and how many of them a later folder had again.

    ``differing`` are those of the latter that have other scores there: trained on two machines.
    """

    runs: int
    again: int
    differing: tuple[str, ...] = ()


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
    bundles = [load_bundle(folder) for folder in folders]
    counts = Counter(run for bundle in bundles for run in bundle.names)
    scores: dict[str, set[str]] = {run: set() for run, count in counts.items() if count > 1}
    parts, seen = [], set()
    for bundle in bundles:
        parts.append(replace(bundle, runs=bundle.runs[~bundle.runs["run"].isin(seen)]))
        seen |= set(bundle.names)
        for run in scores.keys() & set(bundle.names):
            rows = bundle.runs.loc[bundle.runs["run"] == run, ["bucket", "bleu"]]
            scores[run].add(tidy_csv(rows))
    check_bundle(out, set(counts))  # before anything is made there
    write_listed(out, _files(parts))
    differing = tuple(run for run, texts in scores.items() if len(texts) > 1)
    return Merged(len(counts), len(scores), differing)


def _files(bundles: Sequence[Bundle], text: bool = True) -> Iterator[tuple[str, Content]]:
    """The files of one bundle of the runs of several, one at a time."""
    yield schema.RUNS, _table([bundle.runs for bundle in bundles])
    yield schema.SENTENCES, _compressed(_sentences(bundles))
    yield schema.LEARNING, _table([bundle.learning() for bundle in bundles])
    yield schema.EXAMPLES, _compressed(_examples(bundles if text else ()))
    yield schema.ENVIRONMENT, _json(_environment(bundles))


def _table(frames: Sequence[pd.DataFrame]) -> bytes:
    return tidy_csv(pd.concat([frame for frame in frames if len(frame)] or frames[:1])).encode()


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    yield from map(stream.compress, parts)
    yield stream.flush()


def _sentences(bundles: Sequence[Bundle]) -> Iterator[bytes]:
    """The lines of all sentences, a run at a time."""
    yield (",".join(("run", *schema.COUNTED)) + "\n").encode()
    for bundle in bundles:
        for run in bundle.names:
            counts = bundle.sentences[run]
            places = np.arange(len(counts.words))
            rows = pd.DataFrame(np.column_stack([places, counts.words, counts.statistics]))
            rows.insert(0, "run", run)
            yield rows.to_csv(index=False, header=False, lineterminator="\n").encode()


def _examples(bundles: Sequence[Bundle]) -> Iterator[bytes]:
    """One JSON object of every run's examples, a run at a time."""
    start = b"{"
    for run, examples in chain.from_iterable(item.iterate_examples() for item in bundles):
        yield start + _json({run: examples})[1:-2]
        start = b","
    yield b"{}\n" if start == b"{" else b"}\n"


def _environment(bundles: Sequence[Bundle]) -> dict[str, Any]:
    """What the runs are and ran on; what one folder has not done, another may have."""
    done: dict[str, Any] = {}
    unfinished: dict[str, Any] = {}
    for bundle in bundles:
        done |= {run: bundle.environment["runs"][run] for run in bundle.names}
        unfinished = bundle.environment.get("unfinished", {}) | unfinished
    return {
        "schema": schema.VERSION,
        "runs": done,
        "unfinished": {run: known for run, known in unfinished.items() if run not in done},
        "other_versions": sum(bundle.environment.get("other_versions", 0) for bundle in bundles),
    }


def _json(values: Any) -> bytes:
    """As a bundle's files have JSON: one line, no blanks."""
    return (json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
