"""Sweeps on several machines: each run is a task of a Dask scheduler.

A run takes one thread of a worker and a new process. Workers need the same version of this package,
but no shared disk: settings and the user's text are sent with the tasks, and a run's files come
back with its result. If a worker is lost, Dask repeats its run.
"""

import json
import logging
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from ..corpus.corpus import load_corpus
from ..results.folders import ENDED, json_text, read_status
from ..settings.concerns import FILES, CorpusSettings
from ..settings.errors import UserError
from ..settings.files import write_file
from ..settings.run import RunSettings
from ..settings.sweep import Cell
from .pool import ENDS, Event, Listener, Outcome, run_cells
from .store import locked, write_status


def run_cells_on_cluster(
    cells: Sequence[Cell], store: Path, listener: Listener, scheduler: str
) -> list[Outcome]:
    """Execute all runs into ``store`` on the workers of a scheduler, as `run_cells` does."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            '--scheduler needs Dask: pip install "seq2seq-bottleneck[cluster]"'
        ) from None
    # Dask reports a lost scheduler as a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError):
        raise UserError(
            f"cannot reach scheduler {scheduler!r}; start one with `dask scheduler`"
        ) from None
    outcomes: dict[Cell, Outcome] = {}
    running: dict[str, tuple[Cell, Path]] = {}  # by the cell's label
    sent: dict[CorpusSettings, Any] = {}  # each text as a task: Dask keeps one copy for all runs
    topic, news = f"seq2seq-bottleneck-{uuid4().hex[:12]}", Queue()
    with client:
        client.subscribe_topic(topic, lambda event: news.put(event[1]))
        load = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
        futures = []  # all kept to the end: Dask stops a task whose future is forgotten
        for cell in cells:
            corpus, edges = cell.settings.corpus, cell.settings.scoring.lower_edges
            folder = store / cell.settings.identity(load(corpus, edges))
            known = read_status(folder)
            running[cell.label] = cell, folder
            if known.get("status") in ENDED:
                end = {"phase": known["status"], "run": folder.name, "reason": known["reason"]}
                news.put((cell.label, end))
                continue
            if corpus not in sent:
                given = {key: getattr(corpus, key) for key in FILES if getattr(corpus, key)}
                paths = {key: Path(name).expanduser() for key, name in given.items()}
                texts = {key: (path.name, path.read_bytes()) for key, path in paths.items()}
                sent[corpus] = client.submit(dict, texts, pure=False)
            futures.append(client.submit(execute_task, topic, cell, sent[corpus], pure=False))
            futures[-1].add_done_callback(lambda future, cell=cell: news.put((cell.label, future)))
        while running:
            label, event = news.get()
            if label not in running:  # late news of a run that has ended
                continue
            cell, folder = running[label]
            if not isinstance(event, dict):
                event = receive(event, folder, cell.settings)
            if event["phase"] in ENDS:
                outcomes[cell] = Outcome(cell, **event)
                del running[label]
            listener(cell, event)
    return [outcomes[cell] for cell in cells]


def execute_task(topic: str, cell: Cell, texts: dict[str, tuple]) -> tuple[Event, dict[str, bytes]]:
    """Execute a run on a worker; return its last event, and the files of its folder.

    Other events are sent to the topic. ``texts``: name and content of the user's files by setting.
    """
    from distributed import get_worker

    worker, ends = get_worker(), []
    task = worker.get_current_task()

    def listen(_: Cell, event: Event) -> None:
        if worker.state.tasks[task].state == "cancelled":
            raise RuntimeError("the sweep was stopped")
        if event["phase"] in ENDS:
            ends.append(event)
        else:
            worker.log_event(topic, [cell.label, event])

    with TemporaryDirectory(dir=worker.local_directory, ignore_cleanup_errors=True) as folder:
        places = {key: Path(folder, f"{key}-{file}") for key, (file, _) in texts.items()}
        for key, place in places.items():
            place.write_bytes(texts[key][1])
        corpus = {key: str(place) for key, place in places.items()}
        cell_here = replace(cell, settings=cell.settings.changed(corpus=corpus))
        run_cells([cell_here], Path(folder, "store"), listen, width=1)
        paths = Path(folder, "store", ends[0].get("run", "none")).glob("[!.]*")
        return ends[0], {path.name: path.read_bytes() for path in paths}


def receive(future: Any, folder: Path, settings: RunSettings) -> Event:
    """Put the files of a run into the store, in place of older ones, and return its last event."""
    from distributed import CancelledError

    try:
        event, files = future.result()
    except CancelledError:
        raise UserError("lost the scheduler; repeat the command to continue") from None
    except Exception as error:
        return {"phase": "failed", "reason": f"{type(error).__name__}: {error}"}
    if event.get("run", folder.name) != folder.name:
        reason = "the worker made another run of these settings; install the same version there"
        return {"phase": "failed", "reason": reason}
    if "run" in event:  # it has ended; its settings get this machine's file names back
        files["settings.json"] = json_text(settings.model_dump()).encode()
        with locked(folder):
            aside = folder.with_name(f".{folder.name}.aside")  # where no reader looks for a run
            if folder.exists():
                os.replace(folder, aside)
            shutil.rmtree(aside, ignore_errors=True)
            write_status(folder, "running")
            for name in files.keys() - {"status.json", "SHA256SUMS"}:
                write_file(folder / name, files[name])
            write_status(folder, **json.loads(files["status.json"]))
    return event
