"""Writing a results bundle, of finished runs or of several folders."""

import json
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UsageError
from ..settings.files import read_sums, write_listed
from . import folders, schema
from .bundle import Results, tidy_csv


def check_bundle(folder: Path, runs: Collection[str], store: Path | None = None) -> None:
    """A ``UsageError`` where a bundle of these runs, of this store, would replace other results."""
    lost = ["runs"] if folders.is_run(folder) or folders.runs_in(folder) else []
    if not lost and not (store and folders.store_of(folder).resolve() == store.resolve()):
        path, listed = folder / schema.ENVIRONMENT, read_sums(folder) or {}
        lost = [name for name in schema.FILES if (folder / name).exists() and name not in listed]
        lost += ["runs"] if folders.find_runs(folder).any else []
        if not lost and path.exists():
            stored = [run.name for run in folders.runs_in(store)] if store else []
            lost = sorted(folders.read_object(path)["runs"].keys() - {*runs, *stored})
    if lost:
        raise UsageError(f"{str(folder)!r} has other results ({lost[0]}): name a new folder")


def write_bundle(runs: Sequence[Path], folder: Path, text: bool = True) -> list[str]:
    """Write the bundle of finished runs of a store into a folder; without ``text`` no sentence.

    The studies' tables go with them, but for those that rest on a run that is left out: returned.
    """
    store = runs[0].parent
    stored = folders.find_runs(store)
    left_out = {run.name for run in (*stored.done, *stored.replaced)} - {run.name for run in runs}
    chosen = replace(stored, done={run: stored.done[run] for run in runs})
    results = store.parent if store.name == folders.STORE else store
    travelling, lacking, gone = {}, [], set()
    if results.resolve() != folder.resolve():
        for table in folders.tables(results):
            if left_out.isdisjoint(row.get("run") for row in folders.run_rows(table)):
                travelling[f"{schema.PROBES}/{table.name}"] = table
            else:
                lacking.append(table.stem)
        # An earlier bundle's other tables go, but for a benchmark's, which rests on no runs.
        earlier = {table.name for table in folders.tables(folder)} - {f"{schema.BENCHMARK}.csv"}
        gone = {f"{schema.PROBES}/{name}" for name in earlier} - travelling.keys()
    bundle = Results.of_runs(store, chosen)
    check_bundle(folder, bundle.names, store)
    write_listed(folder, _files(bundle, text, travelling), gone)
    return lacking


def write_merged(places: Sequence[Path], out: Path) -> int:
    """Write the bundle of all finished runs of several folders into a new one; how many."""
    if out.resolve() in {place.resolve() for place in places}:
        raise UsageError(
            f"{str(out)!r} is one of the folders to merge: name a new folder with --bundle"
        )
    merged = Results.merged(out, [Results.open(place) for place in places])
    check_bundle(out, merged.names)  # before anything is made there
    write_listed(out, _files(merged))
    return len(merged.names)


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
    yield from ((name, folders.read_checked(table)) for name, table in (probes or {}).items())


def _packed(content: bytes) -> bytes:
    """As gzip has it, without a time in the header: equal results are equal bytes."""
    return zlib.compress(content, wbits=zlib.MAX_WBITS + 16)


def _json(values: Any) -> bytes:
    """As a bundle's files have JSON: one line, no blanks."""
    return (json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
