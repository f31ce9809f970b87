"""Writing a results bundle."""

import json
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ..settings.errors import UsageError
from ..settings.files import read_sums, write_listed
from . import folders, schema
from .bundle import Results, read_table, tidy_csv


def write_bundle(bundle: Results, folder: Path, text: bool = True) -> list[str]:
    """Write results as a bundle into a folder; without ``text`` it has counts, but no sentences.

    It includes the studies' tables, except means over other runs, whose names are returned. It is
    a ``UsageError`` if it would replace other results.
    """
    sources = {bundle.sources[run] for run in bundle.names}
    stores = {source.parent for source in sources if folders.is_run(source)}
    homes = {store.parent if store.name == folders.STORE else store for store in stores}
    homes |= {source for source in sources if not folders.is_run(source)}
    places = {home.resolve() for home in homes}
    if folder.resolve() in places and (len(places) > 1 or not stores):
        raise UsageError(f"{str(folder)!r} is where these results come from: name a new folder")
    if (folder / folders.STORE).resolve() not in {store.resolve() for store in stores}:
        path, listed = folder / "environment.json", read_sums(folder) or {}
        lost = ["runs"] if folders.runs_in(folder) else []
        lost += [name for name in schema.FILES if (folder / name).exists() and name not in listed]
        if not lost and path.exists():
            stored = {run.name for store in stores for run in folders.runs_in(store)}
            lost = sorted(folders.read_object(path)["runs"].keys() - {*bundle.names, *stored})
        if lost:
            raise UsageError(f"{str(folder)!r} has other results ({lost[0]}): name a new folder")
    probes, lacking, gone = {}, [], set()
    if folder.resolve() not in places:
        names = {"", *bundle.names}
        for table in (table for home in sorted(homes) for table in folders.tables(home)):
            of_runs = table.stem != schema.BENCHMARK
            runs = read_table(table, {"run": "str"})["run"] if of_runs else ()
            if len(places) == 1 and names.issuperset(runs):
                probes[f"probes/{table.name}"] = table
            else:
                lacking.append(table.stem)
        # Other tables of an earlier bundle are removed, except the benchmark's, which uses no runs.
        earlier = {table.name for table in folders.tables(folder)} - {f"{schema.BENCHMARK}.csv"}
        gone = {f"probes/{name}" for name in earlier} - probes.keys()
    # Equal results give equal bytes.
    to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    packed = partial(zlib.compress, wbits=zlib.MAX_WBITS + 16)  # gzip without a time in its header
    # The environment first, because it says which runs these are.
    described = {run: bundle.environment["runs"][run] for run in bundle.names}
    environment = f"{to_json({**bundle.environment, 'runs': described})}\n"
    files = {"environment.json": environment.encode()}
    sentences = [",".join(("run", *schema.COUNTED)) + "\n"]
    for run in bundle.names:
        counts = bundle.sentences[run]
        places = np.arange(len(counts.words))
        rows = pd.DataFrame(np.column_stack([places, counts.words, counts.statistics]))
        rows.insert(0, "run", run)
        sentences.append(rows.to_csv(index=False, header=False, lineterminator="\n"))
    files["sentences.csv.gz"] = packed("".join(sentences).encode())
    examples = dict(bundle.examples()) if text else {}
    files["examples.json.gz"] = packed(f"{to_json(examples)}\n".encode())
    files["runs.csv"] = tidy_csv(bundle.runs).encode()
    files |= {name: folders.read_checked(table) for name, table in probes.items()}
    write_listed(folder, files.items(), gone)
    return lacking
