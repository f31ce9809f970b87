"""One run: settings in, a folder of plain files out.

``settings.json`` (resolved), ``environment.json``, ``status.json``, ``log.jsonl`` (a line a
report: a ``Progress`` of ``training.loop``, in which ``valid_loss`` and ``valid_buckets`` are null
where there was no validation; a line of an older version has no ``valid_buckets``),
``weights.safetensors``, ``source.vocabulary``, ``target.vocabulary`` (with subwords also
``source.subwords.model``, ``target.subwords.model``: sentencepiece's files), ``hypotheses.jsonl``
(sentence by sentence), ``sentences.csv`` (counts), ``scores.csv`` (one row per bucket),
``examples.json`` (attention weights of a few sentences); while it runs, ``checkpoint.safetensors``.
When it has ended, ``SHA256SUMS`` lists what stays.
"""

import json
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from flax import nnx

from ..corpus.batches import evaluation_batches, training_batches
from ..corpus.corpus import Corpus, load_corpus, share
from ..model.translator import count_parameters, create
from ..results.folders import CHECKPOINT, ENDED, ENVIRONMENT, LOG, SETTINGS, WEIGHTS, read_json
from ..settings.errors import UserError
from ..settings.files import write_text
from ..settings.machine import mendable
from ..settings.run import SCHEMA_VERSION, RunSettings
from ..training.loop import Learner, Progress, Snapshot, Trained, train, updates_done
from .checkpoint import CheckpointError, Checkpoints, StopRequest, join, read_checkpoint
from .environment import PROGRAMS, describe_environment
from .evaluation import EVALUATION_BATCH, encode, evaluate, valid_buckets
from .network_files import save_vocabularies, save_weights
from .store import RunFolder

Event = dict[str, Any]
Report = Callable[[int, Event], None]
"""Told what one run does, by its place among those given."""


@dataclass(frozen=True)
class Run:
    """One run under way: its settings, its place in the store, who hears of it."""

    settings: RunSettings
    folder: RunFolder
    report: Callable[[Event], None]

    def seeds_together(self) -> int:
        """How many seeds were one program so far, by what its folder says."""
        try:
            return read_json(self.folder.path / ENVIRONMENT).get("seeds_together", 1)
        except UserError:
            return 1

    def end(self, status: str, reason: str = "") -> None:
        """Write down how the run ended, and tell it."""
        self.folder.write_status(status, reason)
        self.tell_end()

    def tell_end(self) -> None:
        """Report how the run ended, by what its folder says; it needs no checkpoint any more."""
        (self.folder.path / CHECKPOINT).unlink(missing_ok=True)
        held = self.folder.read_status()
        self.report({"phase": held["status"], "run": self.folder.run, "reason": held["reason"]})


@dataclass(frozen=True)
class Begun:
    """A run with what it goes on from: fresh weights, or its checkpoint; ``note`` tells a loss."""

    run: Run
    learner: Learner
    snapshot: Snapshot | None
    note: str = ""

    @property
    def update(self) -> int:
        """How many updates are done."""
        return updates_done(self.snapshot.state) if self.snapshot else 0


def execute(
    given: Sequence[RunSettings],
    store: Path,
    report: Report,
    stop: StopRequest,
    force: bool = False,
) -> None:
    """Bring runs that differ in their seed alone to their end in the store, trained together.

    A run that has ended is left as it is (``force`` begins it anew), stopped ones go on from
    their checkpoint, and one that another process is at is waited for.
    """
    for place in range(len(given)):
        report(place, {"phase": "preparing"})
    corpus = load_corpus(given[0].corpus, given[0].scoring.lower_edges)
    folders = [RunFolder(store, item.identity(corpus.fingerprint)) for item in given]
    runs = [
        Run(settings, folder, partial(report, place))
        for place, (settings, folder) in enumerate(zip(given, folders, strict=True))
    ]
    with ExitStack() as held:
        # In one order everywhere, so that two stacks never wait for each other.
        for folder in sorted(folders, key=lambda folder: folder.run):
            held.enter_context(folder.alone())
        waiting = _waiting(runs, force)
        if waiting:
            _go_on(waiting, corpus, stop)


def _waiting(runs: Sequence[Run], force: bool) -> list[Run]:
    """What is to be done; what has ended is told."""
    waiting = []
    for run in runs:
        if force:
            run.folder.remove()
        if run.folder.status in ENDED:
            run.tell_end()
        else:
            waiting.append(run)
    return waiting


def _go_on(runs: Sequence[Run], corpus: Corpus, stop: StopRequest) -> None:
    """Bring runs to their end: those that are equally far together."""
    stacks: list[list[Begun]] = []
    with _failing(runs):
        graph, stacks = _begin(runs, corpus)
    for stack in stacks:  # none where their beginning failed
        _bring_to_end(stack, graph, corpus, stop)


def _begin(runs: Sequence[Run], corpus: Corpus) -> tuple[nnx.GraphDef, list[list[Begun]]]:
    """The structure that all share, and the runs by how far they are."""
    graph, learners = _learners(runs, corpus)
    stacks: dict[int, list[Begun]] = {}
    for run, learner in zip(runs, learners, strict=True):
        started = _start(run, learner)
        stacks.setdefault(started.update, []).append(started)
    return graph, list(stacks.values())


def _start(run: Run, learner: Learner) -> Begun:
    """A run where it was left. A checkpoint that is of no use is told, and the run done anew."""
    try:
        return Begun(run, learner, read_checkpoint(run.folder.path, learner))
    except CheckpointError as error:
        note = f"going on from update 0, without its checkpoint, which {error}"
    run.report({"phase": note})
    return Begun(run, learner, None, note)


def _bring_to_end(
    stack: Sequence[Begun], graph: nnx.GraphDef, corpus: Corpus, stop: StopRequest
) -> None:
    """Train a stack, then evaluate each of its runs; what fails fails by itself."""
    runs, results = [started.run for started in stack], []
    with _failing(runs):
        results = _train(stack, graph, corpus, stop)
    for run, trained in zip(runs, results, strict=False):  # none where training failed
        with _failing([run]):
            _evaluate(run, trained, graph, corpus)


@contextmanager
def _failing(runs: Sequence[Run]) -> Iterator[None]:
    """What goes wrong in the block is written into the status of these runs, and told."""
    try:
        yield
    except Exception as error:
        known = mendable(error)
        words = str(known or traceback.format_exception_only(error)[-1].strip())
        event = {"phase": "failed", "reason": words} | (
            {"exit_code": known.exit_code} if known else {}
        )
        for run in runs:
            with suppress(UserError):
                run.folder.write_status("failed", traceback.format_exc())
            run.report(event)


def _train(
    stack: Sequence[Begun], graph: nnx.GraphDef, corpus: Corpus, stop: StopRequest
) -> list[Trained]:
    """Train runs that are equally far, each to its last update."""
    runs, learners = [started.run for started in stack], [started.learner for started in stack]
    for started in stack:
        _open(started, len(stack), corpus)
    settings = runs[0].settings
    pairs, buckets = encode(corpus, "valid", settings), valid_buckets(corpus, settings)
    valid = evaluation_batches(pairs, EVALUATION_BATCH)

    def report(place: int, progress: Progress) -> None:
        epoch = progress.update / learners[place].batches.updates_per_epoch
        event = {"phase": "training", "epoch": round(epoch, 2), **asdict(progress)}
        runs[place].report(event)

    left = [started.snapshot for started in stack if started.snapshot]
    resumed = join(left) if len(left) == len(stack) else None
    keeper = Checkpoints([run.folder.path for run in runs], stop)
    with stop.at_updates():
        end = train(graph, learners, valid, report, keeper, resumed, buckets)
        keeper.keep(end)  # what is trained is never trained again
    return end.trained


def _learners(runs: Sequence[Run], corpus: Corpus) -> tuple[nnx.GraphDef, list[Learner]]:
    """The structure that all share, and what each seed begins with."""
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    settings = runs[0].settings
    batches = training_batches(
        encode(corpus, "train", settings),
        settings.training.batch_size,
        settings.training.seed,
        settings.training.shapes,
        settings.training.batch_tokens,
    )
    learners = []
    for training in (run.settings.training for run in runs):
        graph, weights = create(settings.model, *sizes, training.seed)
        learners.append(Learner(weights, training, replace(batches, seed=training.seed)))
    return graph, learners


def _open(started: Begun, seeds: int, corpus: Corpus) -> None:
    """Write what is known of a run before its training."""
    run, folder = started.run, started.run.folder
    folder.write_status("running", started.note)
    folder.write_json(SETTINGS, run.settings.model_dump())
    folder.write_json(ENVIRONMENT, _environment(started, seeds) | _corpus_facts(corpus))
    save_vocabularies(folder.path, (corpus.source_vocabulary, corpus.target_vocabulary))
    parameters = count_parameters(started.learner.weights)
    run.report({"phase": "training", "run": folder.run, "parameters": parameters})


def _environment(started: Begun, seeds: int) -> dict[str, Any]:
    """What the run's numbers were made with.

    How many seeds were trained as one program is the most there were at any time: a run of a stack
    that is only scored by itself is one of a stack.
    """
    if started.snapshot:
        seeds = max(seeds, started.run.seeds_together())
    return {"schema": SCHEMA_VERSION} | describe_environment() | {"seeds_together": seeds}


def _evaluate(run: Run, trained: Trained, graph: nnx.GraphDef, corpus: Corpus) -> None:
    """Write what training gave, translate and score the test set, end the run."""
    lines = [json.dumps(asdict(progress)) for progress in trained.log]
    write_text(run.folder.path / LOG, "".join(f"{line}\n" for line in lines))
    save_weights(run.folder.path / WEIGHTS, trained.weights)
    if trained.status == "done":
        run.report({"phase": "scoring"})
        evaluate(graph, trained, run.settings, corpus, run.folder)
    known = read_json(run.folder.path / ENVIRONMENT)
    run.folder.write_json(ENVIRONMENT, known | PROGRAMS.described())
    run.end(trained.status, trained.reason)


def _corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """What the caption of a table says of the data."""
    source_unknown, target_unknown = corpus.unknown_rates
    return {
        "fingerprint": corpus.fingerprint,
        "notes": corpus.notes,
        "source_vocabulary": len(corpus.source_vocabulary.words),
        "target_vocabulary": len(corpus.target_vocabulary.words),
        "source_unknown": source_unknown,
        "target_unknown": target_unknown,
        "near_copies": share(corpus.near_copies),
    }
