"""Writing a results bundle, of finished runs or of several folders."""

import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UsageError
from ..settings.files import write_listed
from . import schema
from .bundle import Results, tidy_csv
from .folders import (
    STORE,
    find_runs,
    is_run,
    read_checked,
    read_object,
    rests_on,
    runs_in,
    store_of,
    tables,
)


def check_bundle(folder: Path, runs: Collection[str], store: Path | None = None) -> None:
    """A ``UsageError`` where a bundle of these runs would take the place of other results.

    That is a run, a store, a folder with another store than the one that they are of, and a bundle
    away from its store with runs that are not in ``store`` either.
    """
    fault = ""
    if is_run(folder) or runs_in(folder):
        fault = "is a run or a store of runs"
    elif not (store and store_of(folder).resolve() == store.resolve()):
        path = folder / schema.ENVIRONMENT
        described = read_object(path)["runs"] if path.exists() else {}
        known = {*runs, *(run.name for run in (runs_in(store) if store else ()))}
        if find_runs(folder).any:
            fault = "has results of its own"
        elif lost := sorted(set(described) - known):
            few = ", ".join(lost[:3]) + ", ..." * (len(lost) > 3)
            fault = f"is a bundle with other runs ({few})"
    if fault:
        raise UsageError(f"{str(folder)!r} {fault}: name a new folder")


def write_bundle(runs: Sequence[Path], folder: Path, text: bool = True) -> list[str]:
    """Write the bundle of finished runs of a store into a folder.

    With them go the studies' tables of the folder that the store is in, but for those that rest on
    a run of its store that is left out: these are named. Without ``text`` no example sentence goes,
    and so none of the corpus: the rest is numbers and settings.
    """
    store = runs[0].parent
    stored = find_runs(store)
    left_out = {run.name for run in (*stored.done, *stored.replaced)} - {run.name for run in runs}
    chosen = replace(stored, done={run: stored.done[run] for run in runs})
    results = store.parent if store.name == STORE else store
    travelling, lacking, gone = {}, [], []
    if results.resolve() != folder.resolve():
        for table in tables(results):
            if rests_on(table).isdisjoint(left_out):
                travelling[f"{schema.PROBES}/{table.name}"] = table
            else:
                lacking.append(table.stem)
        # An earlier bundle's other tables go, but for a benchmark's, which rests on no runs.
        earlier = [table for table in tables(folder) if table.stem != schema.BENCHMARK]
        gone = [f"{schema.PROBES}/{table.name}" for table in earlier]
        gone = [name for name in gone if name not in travelling]
    bundle = Results.of_runs(store, chosen)
    check_bundle(folder, bundle.names, store)
    write_listed(folder, _files(bundle, text, travelling), gone)
    return lacking


def write_merged(folders: Sequence[Path], out: Path) -> tuple[int, int]:
    """Write the bundle of all finished runs of several folders into a new one.

    Returns how many runs there are, and how many of them several folders have: the first one's
    numbers count. What cannot be read, or would be lost there, is a ``UserError``.
    """
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise UsageError(
            f"{str(out)!r} is one of the folders to merge: name a new folder with --bundle"
        )
    bundles = [Results.open(folder) for folder in folders]
    merged = Results.merged(out, bundles)
    check_bundle(out, merged.names)  # before anything is made there
    write_listed(out, _files(merged))
    folders_with = Counter(run for bundle in bundles for run in bundle.names)
    return len(folders_with), sum(number > 1 for number in folders_with.values())


def _files(
    bundle: Results, text: bool = True, probes: Mapping[str, Path] | None = None
) -> Iterator[tuple[str, bytes]]:
    """The files of a bundle, one after the other, and studies' tables with it."""
    described = {run: bundle.environment["runs"][run] for run in bundle.names}
    # First, because it says whose runs these are.
    yield schema.ENVIRONMENT, _json({**bundle.environment, "runs": described})
    sentences = [",".join(("run", *schema.COUNTED)) + "\n"]
    for run in bundle.names:
        counts = bundle.sentences[run]
        places = np.arange(len(counts.words))
        rows = pd.DataFrame(np.column_stack([places, counts.words, counts.statistics]))
        rows.insert(0, "run", run)
        sentences.append(rows.to_csv(index=False, header=False, lineterminator="\n"))
    yield schema.SENTENCES, _packed("".join(sentences).encode())
    yield schema.EXAMPLES, _packed(_json(dict(bundle.examples()) if text else {}))
    yield schema.RUNS, tidy_csv(bundle.runs).encode()
    yield from ((name, read_checked(table)) for name, table in (probes or {}).items())


def _packed(content: bytes) -> bytes:
    """As gzip has it, with no time and no name in the header: equal results are equal bytes."""
    return zlib.compress(content, wbits=zlib.MAX_WBITS + 16)


def _json(values: Any) -> bytes:
    """As a bundle's files have JSON: one line, no blanks."""
    return (json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
