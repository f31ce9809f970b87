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
    read_sums,
    rests_on,
    runs_in,
    store_of,
    tables,
)

NEW = "name a new folder"


def check_bundle(folder: Path, runs: Collection[str], store: Path | None = None) -> None:
    """A ``UsageError`` where a bundle of these runs would take the place of other results.

    That is a run, a store, a folder with another store than the one that they are of, and a bundle
    away from its store with runs that are not in ``store`` either.
    """
    if is_run(folder) or runs_in(folder):
        raise UsageError(f"{str(folder)!r} is a run or a store of runs: {NEW}")
    if store and store_of(folder).resolve() == store.resolve():
        return
    if find_runs(folder).any:
        raise UsageError(f"{str(folder)!r} has results of its own: {NEW}")
    listed = read_sums(folder) or {}
    if others := [name for name in schema.FILES if (folder / name).exists() and name not in listed]:
        raise UsageError(
            f"refusing to overwrite {str(folder / others[0])!r}, which bottleneck did not write: "
            f"{NEW}"
        )
    path = folder / schema.ENVIRONMENT
    described = read_object(path)["runs"] if path.exists() else {}
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


def write_merged(folders: Sequence[Path], out: Path) -> tuple[int, list[str], list[str]]:
    """Write the bundle of all finished runs of several folders into a new one.

    Returns how many runs there are, those that several folders have, and those of them with other
    scores in a later one. What cannot be read, or would be lost there, is a ``UserError``.
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
    again = [run for run, number in folders_with.items() if number > 1]
    scores = pd.concat([bundle.runs[["run", "bucket", "bleu"]] for bundle in bundles])
    values = scores.groupby(["run", "bucket"])["bleu"].nunique()
    differing = sorted(set(values[values > 1].index.get_level_values("run")))
    return len(folders_with), again, differing


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
