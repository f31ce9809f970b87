"""More than one machine: each run of a sweep is a task of a Dask scheduler.

A run takes one thread of a worker and a new process. The workers need this package, in the same
version, and no common disk: settings and the user's text go out with the tasks, and the files of a
run come back with its result. Dask repeats the run of a lost worker.
"""

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from ..corpus.corpus import load_corpus
from ..results.folders import ENDED, SETTINGS, json_text, read_status
from ..settings.concerns import FILES, CorpusSettings
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .pool import ENDS, Job, Listener, Outcome, run_jobs
from .store import locked, replace_run

Event = dict[str, Any]
Texts = dict[str, tuple[str, bytes]]  # the user's files by their settings: name and content


def run_jobs_on_cluster(
    jobs: Sequence[Job], store: Path, listener: Listener, scheduler: str
) -> list[Outcome]:
    """Execute all jobs into ``store`` on the workers of a scheduler, as ``run_jobs`` does here."""
    try:
        from distributed import Client
    except ImportError:
        raise UserError(
            '--scheduler needs Dask: pip install "seq2seq-bottleneck[cluster]"'
        ) from None
    # Dask tells of a lost scheduler in a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError):
        raise UserError(
            f"cannot reach scheduler {scheduler!r}; start one with `dask scheduler`"
        ) from None
    outcomes: dict[str, Outcome] = {}
    running: dict[str, tuple[Job, Path]] = {}
    topic, news = f"seq2seq-bottleneck-{uuid4().hex[:12]}", Queue()

    def end(job: Job, event: Event) -> None:
        outcomes[job.name] = Outcome(job, **event)
        listener(job, event)

    with client:
        client.subscribe_topic(topic, lambda event: news.put(event[1]))
        load = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
        # A task for each text, so that Dask keeps one copy for all runs.
        send = cache(lambda corpus: client.submit(dict, _texts(corpus), pure=False))
        futures = []  # none is forgotten before the end
        for job in jobs:
            corpus = job.settings.corpus
            run = job.settings.identity(load(corpus, job.settings.scoring.lower_edges))
            folder = store / run
            known = read_status(folder)
            if known.get("status") in ENDED:
                end(job, {"phase": known["status"], "run": run, "reason": known["reason"]})
                continue
            running[job.name] = job, folder
            order = topic, job.name, job.settings, send(corpus)
            futures.append(client.submit(execute_task, *order, pure=False))
            futures[-1].add_done_callback(lambda future, job=job: news.put((job.name, future)))
        while running:
            name, event = news.get()
            if not isinstance(event, dict):
                job, folder = running.pop(name)
                end(job, _arrived(event, folder, job.settings))
            elif name in running:
                listener(running[name][0], event)
    return [outcomes[job.name] for job in jobs]


def _texts(corpus: CorpusSettings) -> Texts:
    paths = {key: Path(getattr(corpus, key)).expanduser() for key in FILES if getattr(corpus, key)}
    return {key: (path.name, path.read_bytes()) for key, path in paths.items()}


def execute_task(
    topic: str, name: str, settings: RunSettings, texts: Texts
) -> tuple[Event, dict[str, bytes]]:
    """On a worker: one run, in a temporary folder; its last event, and the files of its folder.

    Other events go to the topic.
    """
    from distributed import get_worker

    worker, ends = get_worker(), []
    task = worker.get_current_task()

    def listen(_: Job, event: Event) -> None:
        if worker.state.tasks[task].state == "cancelled":
            raise RuntimeError("the sweep was stopped")
        if event["phase"] in ENDS:
            ends.append(event)
        else:
            worker.log_event(topic, [name, event])

    with TemporaryDirectory(dir=worker.local_directory, ignore_cleanup_errors=True) as folder:
        places = {key: Path(folder, f"{key}-{file}") for key, (file, _) in texts.items()}
        for key, place in places.items():
            place.write_bytes(texts[key][1])
        settings = settings.changed(corpus={key: str(place) for key, place in places.items()})
        run_jobs([Job(name, settings)], Path(folder, "store"), listen, width=1)
        paths = Path(folder, "store", ends[0].get("run", "none")).glob("[!.]*")
        return ends[0], {path.name: path.read_bytes() for path in paths}


def _arrived(future: Any, folder: Path, settings: RunSettings) -> Event:
    """Put the files of a run into the store; how it ended."""
    from distributed import CancelledError

    try:
        event, files = future.result()
    except CancelledError:
        raise UserError("lost the scheduler; the same command runs what is missing") from None
    except Exception as error:
        return {"phase": "failed", "reason": f"{type(error).__name__}: {error}"}
    if event.get("run", folder.name) != folder.name:
        reason = "the worker made another run of these settings; install the same version there"
        return {"phase": "failed", "reason": reason}
    if "run" in event:  # it has ended, and the user's files get their names here back
        files[SETTINGS] = json_text(settings.model_dump()).encode()
        with locked(folder):
            replace_run(folder, files)
    return event
