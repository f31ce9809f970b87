"""Writing a results bundle, of finished runs or of several folders; and where results may go."""

import json
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UsageError, UserError
from ..settings.files import SUMS, Content, check_file, parsed, read_sums, write_listed, written
from ..settings.sweep import Member
from . import schema
from .bundle import Bundle, Example, bundle_of_runs, load_bundle, tidy_csv, with_members
from .folders import (
    STORE,
    find_runs,
    is_run,
    listed_as,
    read_checked,
    read_object,
    rests_on,
    runs_in,
    store_of,
    tables,
)

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
    if store and store_of(folder).resolve() == store.resolve():
        return
    if find_runs(folder).any:
        raise UsageError(f"{str(folder)!r} has results of its own: {NEW}")
    sums = (folder / SUMS).read_bytes() if (folder / SUMS).is_file() else b""
    probes = (f"{schema.PROBES}/{table.name}" for table in tables(folder))
    files = [name for name in (*schema.FILES, *probes) if os.path.lexists(folder / name)]
    lines = sorted(line for line in sums.splitlines() if line)
    others = [SUMS] if lines != sorted(written(parsed(sums)).splitlines()) else []
    others += [name for name in files if name not in parsed(sums)]
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


def write_bundle(runs: Sequence[Path], folder: Path, text: bool = True) -> list[str]:
    """Write the bundle of finished runs of a store into a folder.

    With them go the studies' tables of the folder that the store is in, but for those that rest on
    a run of its store that is left out: these are named. Without ``text`` no example sentence goes,
    and so none of the corpus: the rest is numbers and settings.
    """
    store = runs[0].parent
    stored = find_runs(store)
    left_out = {run.name for run in stored.done} - {run.name for run in runs}
    chosen = replace(stored, done={run: stored.done[run] for run in runs})
    results = store.parent if store.name == STORE else store
    travelling, lacking, gone = {}, [], []
    if results.resolve() != folder.resolve():
        for table in tables(results):
            if rests_on(table).isdisjoint(left_out):
                travelling[f"{schema.PROBES}/{table.name}"] = table
            else:
                lacking.append(table.stem)
        # An earlier bundle's other tables go, unless they are there and rest on no runs.
        earlier = {f"{schema.PROBES}/{table.name}": table for table in tables(folder)}
        others = [name for name in earlier if name not in travelling]
        gone = [name for name in others if not earlier[name].exists() or rests_on(earlier[name])]
    _write(bundle_of_runs(store, chosen), folder, store, text, travelling, gone)
    return lacking


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
    frames, members, counts, sources, described, unfinished = [], [], {}, {}, {}, {}
    scores: dict[str, list[str]] = {}
    for bundle in bundles:
        members.append(bundle.runs[["run", *Member._fields]])
        table = bundle.runs.drop(columns=[*Member._fields]).drop_duplicates(["run", "bucket"])
        frames.append(table[~table["run"].isin(sources)])
        for run, rows in table.groupby("run", sort=False):
            scores.setdefault(str(run), []).append(tidy_csv(rows[["bucket", "bleu"]]))
            if run not in sources:
                counts[run], sources[run] = bundle.sentences[run], bundle.sources[run]
                described[run] = bundle.environment["runs"][run]
        # What one folder has not done, another may have.
        unfinished = bundle.environment.get("unfinished", {}) | unfinished
    environment = {
        "schema": schema.VERSION,
        "runs": described,
        "unfinished": {run: known for run, known in unfinished.items() if run not in described},
        "other_versions": sum(bundle.environment.get("other_versions", 0) for bundle in bundles),
    }
    check_bundle(out, set(scores))  # before anything is made there
    table = with_members(pd.concat(frames), pd.concat(members).drop_duplicates())
    _write(Bundle(out, table, counts, environment, sources), out)
    again = [set(texts) for texts in scores.values() if len(texts) > 1]
    differing = tuple(run for run, texts in scores.items() if len(set(texts)) > 1)
    return Merged(len(scores), len(again), differing)


def _write(
    bundle: Bundle,
    folder: Path,
    store: Path | None = None,
    text: bool = True,
    probes: Mapping[str, Path] | None = None,
    gone: Collection[str] = (),
) -> None:
    """Write the files of a bundle, one at a time, and studies' tables with it."""

    def files() -> Iterator[tuple[str, Content]]:
        check_bundle(folder, bundle.names, store)  # now that no other process writes there
        described = {run: bundle.environment["runs"][run] for run in bundle.names}
        # First, because it says whose runs these are.
        yield schema.ENVIRONMENT, _json({**bundle.environment, "runs": described})
        yield schema.SENTENCES, _compressed(_sentences(bundle))
        yield schema.LEARNING, tidy_csv(bundle.learning()).encode()
        yield schema.EXAMPLES, _compressed(_examples(bundle.iterate_examples() if text else ()))
        yield schema.RUNS, tidy_csv(bundle.runs).encode()
        yield from ((name, read_checked(table)) for name, table in (probes or {}).items())

    write_listed(folder, files(), gone)


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    stream = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    yield from map(stream.compress, parts)
    yield stream.flush()


def _sentences(bundle: Bundle) -> Iterator[bytes]:
    """The lines of all sentences, a run at a time."""
    yield (",".join(("run", *schema.COUNTED)) + "\n").encode()
    for run in bundle.names:
        counts = bundle.sentences[run]
        places = np.arange(len(counts.words))
        rows = pd.DataFrame(np.column_stack([places, counts.words, counts.statistics]))
        rows.insert(0, "run", run)
        yield rows.to_csv(index=False, header=False, lineterminator="\n").encode()


def _examples(by_run: Iterable[tuple[str, Sequence[Example]]]) -> Iterator[bytes]:
    """One JSON object of every run's examples, a run at a time."""
    start = b"{"
    for run, examples in by_run:
        yield start + _json({run: examples})[1:-2]
        start = b","
    yield b"{}\n" if start == b"{" else b"}\n"


def _json(values: Any) -> bytes:
    """As a bundle's files have JSON: one line, no blanks."""
    return (json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
