"""More than one machine: each run of a sweep is a task of a Dask scheduler.

Start a scheduler with ``dask scheduler`` and on every machine
``dask worker tcp://HOST:8786 --nthreads 1 --nworkers N``, N its number of cores: a run takes one
thread of a worker and is a process of its own. The workers need this package, in the same version,
and no common disk: the settings and the user's text go out with the tasks, and the files of a run
come back with its result. Dask has the run of a lost worker done again, from its beginning.

Whoever reaches a scheduler can run code on it, on its workers and, by what comes back, here.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from ..corpus.corpus import load_corpus
from ..results.folders import ENDED, SETTINGS, json_text
from ..settings.concerns import FILES
from ..settings.errors import UserError
from ..settings.files import SUMS, digest_of, parsed, written
from ..settings.run import RunSettings
from .pool import ENDS, Job, Listener, Outcome, run_jobs
from .store import RunFolder

CONNECTING = 10.0
"""Seconds that a scheduler has to answer."""

Event = dict[str, Any]
Texts = Mapping[str, tuple[str, bytes]]
"""The user's files by their settings: name and content."""


def run_jobs_on_cluster(
    jobs: Sequence[Job],
    store: Path,
    listener: Listener,
    scheduler: str,
    force: bool = False,
    tell: Callable[[str], object] = str,
) -> list[Outcome]:
    """Execute all jobs into ``store`` on the workers of ``scheduler``, as ``run_jobs`` does here.

    A KeyboardInterrupt stops them all, and those under way are lost. ``tell`` takes what the user
    should know.
    """
    client = _connect(scheduler)
    outcomes: dict[str, Outcome] = {}
    running: dict[str, list[Job]] = {}

    def end(ended: Sequence[Job], event: Event) -> None:
        for job in ended:
            outcomes[job.name] = Outcome(job, **event)
            listener(job, event)

    with client:
        load = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
        for job in jobs:
            try:
                fingerprint = load(job.settings.corpus, job.settings.scoring.lower_edges)
            except UserError as error:
                end([job], {"phase": "failed", "reason": str(error), "exit_code": error.exit_code})
                continue
            run = job.settings.identity(fingerprint)
            status = RunFolder(store, run).read_status()
            if status.get("status") in ENDED and not force:
                end([job], {"phase": status["status"], "run": run, "reason": status["reason"]})
            else:
                running.setdefault(run, []).append(job)
        if running and not client.ncores():
            tell(f"waiting for workers at {scheduler}: dask worker {scheduler} --nthreads 1")
        topic, news, texts, futures = f"seq2seq-bottleneck-{uuid4().hex[:12]}", Queue(), {}, {}
        client.subscribe_topic(topic, lambda event: news.put(event[1]))
        for run, (job, *_) in running.items():
            files = {key: getattr(job.settings.corpus, key) for key in FILES}
            paths = {key: Path(path).expanduser() for key, path in files.items() if path}
            name = str(sorted(paths.items()))
            if name not in texts:  # a task, so that Dask keeps one copy for all runs
                content = {key: (path.name, path.read_bytes()) for key, path in paths.items()}
                texts[name] = client.submit(dict, content, key=f"{topic}-{len(texts)}")
            order = topic, run, job.settings, texts[name]
            futures[run] = client.submit(execute_task, *order, key=f"{topic}-{run}")
            futures[run].add_done_callback(lambda _, run=run: news.put((run, None)))
        while running:
            run, event = news.get()
            if event is None:
                folder, settings = RunFolder(store, run), running[run][0].settings
                end(running.pop(run), _arrived(futures.pop(run), folder, settings))
            else:
                for job in running.get(run, ()):
                    listener(job, event)
    return [outcomes[job.name] for job in jobs]


def _connect(scheduler: str) -> Any:
    """A client of the scheduler; a UserError where there is none to be had."""
    if find_spec("distributed") is None:
        raise UserError('--scheduler needs Dask: pip install "seq2seq-bottleneck[cluster]"')
    from distributed import Client
    from distributed.security import Security

    security, encrypted = Security(), scheduler.startswith("tls://")
    has_certificate = security.get_connection_args("client")["ssl_context"] is not None
    if (encrypted and not has_certificate) or (security.require_encryption and not encrypted):
        raise UserError(  # Dask would end in a traceback, after half a minute
            f"scheduler {scheduler!r} does not go with Dask's configuration: a tls:// address "
            "needs ca-file, cert and key under distributed.comm.tls.client, and "
            "require-encryption needs a tls:// address"
        )
    # Dask tells of a lost scheduler in a traceback; this program does in a line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return Client(scheduler, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise UserError(
            f"cannot reach scheduler {scheduler!r} ({type(error).__name__}); `dask scheduler` "
            "starts one and prints its address"
        ) from None


def execute_task(
    topic: str, run: str, settings: RunSettings, texts: Texts
) -> tuple[Event, dict[str, bytes]]:
    """On a worker: one run, in a temporary folder; its last event, and the files of its folder.

    Other events go to the topic. Raises RuntimeError where nobody wants the run any more.
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
            worker.log_event(topic, [run, event])

    with TemporaryDirectory(dir=worker.local_directory, ignore_cleanup_errors=True) as folder:
        places = {}
        for key, (name, content) in texts.items():
            places[key] = Path(folder, f"{key}-{name}")
            places[key].write_bytes(content)
        settings = settings.changed(corpus={key: str(path) for key, path in places.items()})
        run_jobs([Job(run, settings)], Path(folder, "store"), listen, width=1)
        paths = Path(folder, "store", run).glob("[!.]*")
        return ends[0], {path.name: path.read_bytes() for path in paths}


def _arrived(future: Any, folder: RunFolder, settings: RunSettings) -> Event:
    """Put the files of a run into the store; how it ended.

    Raises UserError where the scheduler is lost.
    """
    from distributed import CancelledError

    try:
        event, files = future.result()
    except CancelledError:
        raise UserError("lost the scheduler; the same command runs what is missing") from None
    except Exception as error:
        return {"phase": "failed", "reason": f"{type(error).__name__}: {error}"}
    if event.get("run", folder.run) != folder.run:
        reason = "the worker made another run of these settings; install the same version there"
        return {"phase": "failed", "reason": reason, "exit_code": UserError.exit_code}
    if "run" in event:  # it has ended, and the user's files get their names here back
        files[SETTINGS] = json_text(settings.model_dump()).encode()
        listed = parsed(files[SUMS]) | {SETTINGS: [digest_of(files[SETTINGS])]}
        with folder.alone():
            folder.replace(files | {SUMS: written(listed)})
    return event
