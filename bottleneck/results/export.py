"""Writing a results bundle."""

import json
import zlib
from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from ..settings.errors import UsageError
from ..settings.files import read_sums, write_listed
from . import folders, schema
from .bundle import Results, read_table, tidy_csv


def check_bundle(folder: Path, runs: Collection[str], stores: Collection[Path]) -> None:
    """Raise a ``UsageError`` if a bundle of runs (from ``stores``) would replace other results."""
    if (folder / folders.STORE).resolve() in {store.resolve() for store in stores}:
        return
    path, listed = folder / schema.ENVIRONMENT, read_sums(folder) or {}
    lost = ["runs"] if folders.runs_in(folder) else []
    lost += [name for name in schema.FILES if (folder / name).exists() and name not in listed]
    if not lost and path.exists():
        stored = {run.name for store in stores for run in folders.runs_in(store)}
        lost = sorted(folders.read_object(path)["runs"].keys() - {*runs, *stored})
    if lost:
        raise UsageError(f"{str(folder)!r} has other results ({lost[0]}): name a new folder")


def write_bundle(bundle: Results, folder: Path, text: bool = True) -> list[str]:
    """Write results as a bundle into a folder; without ``text`` it has no sentences.

    It includes the studies' tables, except means over other runs, whose names are returned.
    """
    sources = {bundle.sources[run] for run in bundle.names}
    stores = {source.parent for source in sources if folders.is_run(source)}
    homes = {store.parent if store.name == folders.STORE else store for store in stores}
    homes |= {source for source in sources if source.parent not in stores}
    places = {home.resolve() for home in homes}
    if folder.resolve() in places and (len(places) > 1 or not stores):
        raise UsageError(f"{str(folder)!r} is where these results come from: name a new folder")
    check_bundle(folder, bundle.names, stores)
    probes, lacking, gone = {}, [], set()
    if folder.resolve() not in places:
        names = {"", *bundle.names}
        for table in chain.from_iterable(map(folders.tables, sorted(homes))):
            of_runs = table.stem != schema.BENCHMARK
            runs = read_table(table, {"run": "str"})["run"] if of_runs else ()
            if len(places) == 1 and names.issuperset(runs):
                probes[f"{schema.PROBES}/{table.name}"] = table
            else:
                lacking.append(table.stem)
        # Other tables of an earlier bundle are removed, except the benchmark's, which uses no runs.
        earlier = {table.name for table in folders.tables(folder)} - {f"{schema.BENCHMARK}.csv"}
        gone = {f"{schema.PROBES}/{name}" for name in earlier} - probes.keys()
    copies = ((name, folders.read_checked(table)) for name, table in probes.items())
    write_listed(folder, chain(_files(bundle, text), copies), gone)
    return lacking


def _files(bundle: Results, text: bool) -> Iterator[tuple[str, bytes]]:
    """Yield a bundle's own files one by one; equal results give equal bytes."""
    to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    packed = partial(zlib.compress, wbits=zlib.MAX_WBITS + 16)  # gzip without a time in its header
    described = {run: bundle.environment["runs"][run] for run in bundle.names}
    # First, because it says which runs these are.
    yield schema.ENVIRONMENT, f"{to_json({**bundle.environment, 'runs': described})}\n".encode()
    sentences = [",".join(("run", *schema.COUNTED)) + "\n"]
    for run in bundle.names:
        counts = bundle.sentences[run]
        places = np.arange(len(counts.words))
        rows = pd.DataFrame(np.column_stack([places, counts.words, counts.statistics]))
        rows.insert(0, "run", run)
        sentences.append(rows.to_csv(index=False, header=False, lineterminator="\n"))
    yield schema.SENTENCES, packed("".join(sentences).encode())
    examples = dict(bundle.examples()) if text else {}
    yield schema.EXAMPLES, packed(f"{to_json(examples)}\n".encode())
    yield schema.RUNS, tidy_csv(bundle.runs).encode()
