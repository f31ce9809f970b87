"""One run: settings in, a folder of plain files out (`results.folders` names them)."""

import json
import os
import platform
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
from flax import nnx

from .. import __version__
from ..corpus.batches import encode_pairs, evaluation_batches, training_batches
from ..corpus.corpus import Corpus, load_corpus, share
from ..model.translator import create
from ..results import folders
from ..settings.errors import UserError
from ..settings.files import write_file
from ..settings.machine import cores, mendable, processor
from ..settings.run import SCHEMA_VERSION, RunSettings, parse_settings
from ..training.loop import Learner, Snapshot, train
from .checkpoint import Checkpoints, read_checkpoint, save_vocabularies, save_weights
from .evaluation import evaluate, scoring_notes
from .pool import Event
from .store import locked, write_status
from .translate import BATCH, cache_programs


def execute_stack(
    emit: Callable[[int, Event], None], stack: Sequence[Mapping[str, Any]], store: str
) -> None:
    """The task of a worker process: execute runs; SIGTERM asks it to stop."""
    checkpoints = Checkpoints()
    signal.signal(signal.SIGTERM, lambda *_: checkpoints.ask())
    for place in range(len(stack)):
        emit(place, {"phase": "starting", "process": os.getpid()})
    cache_programs()
    execute(list(map(parse_settings, stack)), Path(store), emit, checkpoints)


@dataclass
class Run:
    """One run under way, from fresh weights (``learner``) or its checkpoint (``snapshot``)."""

    settings: RunSettings
    folder: Path
    report: Callable[[Event], None]
    learner: Learner | None = None
    snapshot: Snapshot | None = None


def execute(
    given: Sequence[RunSettings],
    store: Path,
    report: Callable[[int, Event], None],
    checkpoints: Checkpoints,
) -> None:
    """Train runs that differ only in their seed as one stack, and evaluate each.

    ``report`` gets the index of a run, and an event. Finished runs are kept, and stopped ones
    continue from their checkpoint. If another process executes a run, this one waits for it.
    """
    corpus = load_corpus(given[0].corpus, given[0].scoring.lower_edges)
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    runs = [
        Run(settings, store / settings.identity(corpus.fingerprint), partial(report, n))
        for n, settings in enumerate(given)
    ]
    with ExitStack() as locks:
        # Always in the same order, so that two stacks never wait for each other.
        for run in sorted(runs, key=lambda run: run.folder.name):
            locks.enter_context(locked(run.folder))
        waiting = []
        for run in runs:
            known = folders.read_status(run.folder)
            if known.get("status") in folders.ENDED:
                (run.folder / "checkpoint.safetensors").unlink(missing_ok=True)
                end = {"phase": known["status"], "run": run.folder.name, "reason": known["reason"]}
                run.report(end)
            else:
                waiting.append(run)
                run.report({"phase": "preparing"})
        if not waiting:
            return
        stacks: dict[int, list[Run]] = {}  # by the number of updates done; none after an error
        with _failing(waiting):
            model, training = given[0].model, given[0].training
            pairs = encode_pairs(corpus.train, *vocabularies, model.reverse_source)
            batching = training.batch_size, training.seed, training.shapes, training.batch_tokens
            batches = training_batches(pairs, *batching)
            for run in waiting:
                training = run.settings.training
                graph, weights = create(model, *map(len, vocabularies), training.seed)
                run.learner = Learner(weights, training, replace(batches, seed=training.seed))
                run.snapshot = read_checkpoint(run.folder, run.learner)
            for run in waiting:
                done = int(run.snapshot.state.update) if run.snapshot else 0
                stacks.setdefault(done, []).append(run)
        for stack in stacks.values():
            with _failing(stack):
                _train(stack, graph, corpus, checkpoints)


@contextmanager
def _failing(runs: Sequence[Run]) -> Iterator[None]:
    """An error in the block becomes the status of these runs, and an event of each."""
    try:
        yield
    except Exception as error:
        reason = str(mendable(error) or traceback.format_exception_only(error)[-1].strip())
        for run in runs:
            with suppress(UserError):
                write_status(run.folder, "failed", traceback.format_exc())
            run.report({"phase": "failed", "reason": reason})


def _train(
    runs: Sequence[Run], graph: nnx.GraphDef, corpus: Corpus, checkpoints: Checkpoints
) -> None:
    """Train runs at the same update to the end, evaluate each, and write the files of each."""
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    source_unknown, target_unknown = corpus.unknown_rates
    environment = {"schema": SCHEMA_VERSION} | describe_environment() | {
        "fingerprint": corpus.fingerprint,
        "notes": [*corpus.notes, *scoring_notes(corpus, runs[0].settings)],
        "source_vocabulary": len(corpus.source_vocabulary.words),
        "target_vocabulary": len(corpus.target_vocabulary.words),
        "source_unknown": source_unknown,
        "target_unknown": target_unknown,
        "near_copies": share(corpus.near_copies),
    }  # fmt: skip
    for run in runs:
        folder = run.folder
        parameters = sum(leaf.size for leaf in jax.tree.leaves(run.learner.weights))
        write_status(folder, "running")
        write_file(folder / "settings.json", folders.json_text(run.settings.model_dump()))
        write_file(folder / "environment.json", folders.json_text(environment))
        save_vocabularies(folder, vocabularies)
        run.report({"phase": "training", "run": folder.name, "parameters": parameters})
    learners = [run.learner for run in runs]
    epochs = [learner.batches.updates_per_epoch for learner in learners]
    pairs = encode_pairs(corpus.valid, *vocabularies, runs[0].settings.model.reverse_source)
    valid = evaluation_batches(pairs, BATCH)
    snapshots = [run.snapshot for run in runs if run.snapshot]
    checkpoints.folders = [run.folder for run in runs]
    end = train(
        graph,
        learners,
        valid,
        lambda place, at: runs[place].report(
            {"phase": "training", "epoch": round(at.update / epochs[place], 2), **asdict(at)}
        ),
        checkpoints,
        snapshots,
    )
    checkpoints.keep(end)  # what is trained is never trained again
    checkpoints.folders = ()
    trained = end.trained
    del end  # the evaluation needs the memory of its state
    for run, result in zip(runs, trained, strict=True):
        with _failing([run]):
            folder = run.folder
            lines = [json.dumps(asdict(progress)) for progress in result.log]
            write_file(folder / "log.jsonl", "".join(f"{line}\n" for line in lines))
            save_weights(folder / "weights.safetensors", result.weights)
            if result.status == "done":
                run.report({"phase": "scoring"})
                evaluate(graph, result, run.settings, corpus, folder)
            write_status(folder, result.status, result.reason)
            (folder / "checkpoint.safetensors").unlink(missing_ok=True)
            run.report({"phase": result.status, "run": folder.name, "reason": result.reason})


def describe_environment() -> dict[str, Any]:
    """Facts that may influence numbers: versions, machine, devices."""
    device, packages = jax.devices()[0], ("flax", "jax", "jaxlib", "numpy", "optax", "sacrebleu")
    return {
        "command": os.environ.get("BOTTLENECK_COMMAND"),
        "bottleneck": __version__,
        "versions": {name: version(name) for name in packages},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "device": f"{device.platform}: {device.device_kind}",
        "threads": int(os.environ.get("NPROC", cores())),
    }
