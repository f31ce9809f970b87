"""One run: settings in, a folder of plain files out.

``settings.json`` (resolved), ``environment.json``, ``status.json``, ``log.jsonl`` (a line a
report), ``weights.safetensors``, ``source.vocabulary``, ``target.vocabulary``,
``hypotheses.jsonl`` (sentence by sentence), ``sentences.csv`` (counts), ``scores.csv`` (a row a
bucket), ``examples.json`` (attention weights of a few sentences); while it runs,
``checkpoint.safetensors``.
"""

import hashlib
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
from ..corpus.corpus import Corpus, load_corpus
from ..model.translator import count_parameters, create
from ..settings.atomic import write_bytes, write_text
from ..settings.errors import UserError
from ..settings.run import RunSettings
from ..training.loop import Learner, Progress, Trained, train
from .checkpoint import Checkpoints, StopRequest, to_bytes
from .environment import describe_environment
from .evaluation import EVALUATION_BATCH, encode, evaluate
from .store import ENDED, RunFolder
from .weights import save_weights

Event = dict[str, Any]
Report = Callable[[int, Event], None]
"""Told what one run does, by its place among those given."""

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class Run:
    """One run under way: its settings, its place in the store, who hears of it."""

    settings: RunSettings
    folder: RunFolder
    report: Callable[[Event], None]

    @property
    def checkpoint(self) -> Path:
        """Where the run's own checkpoint lies."""
        return self.folder.path / CHECKPOINT

    def end(self, status: str, reason: str = "") -> None:
        """Write down how the run ended; no checkpoint is needed any more."""
        self.folder.write_status(status, reason)
        for checkpoint in self.folder.path.glob("checkpoint*.safetensors"):
            checkpoint.unlink()
        self.tell()

    def tell(self) -> None:
        """Report how the run ended, by what its folder says."""
        held = self.folder.read_status()
        self.report({"phase": held["status"], "run": self.folder.run, "reason": held["reason"]})


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
    folders = [RunFolder(store, each.identity(corpus.fingerprint)) for each in given]
    runs = [
        Run(settings, folder, partial(report, place))
        for place, (settings, folder) in enumerate(zip(given, folders, strict=True))
    ]
    with ExitStack() as held:
        # In one order everywhere, so that two stacks never wait for each other.
        for folder in sorted(folders, key=lambda folder: folder.run):
            held.enter_context(folder.alone())
        for stack in _stacks(runs, force):
            _bring_to_end(stack, corpus, stop)


def _stacks(runs: Sequence[Run], force: bool) -> list[list[Run]]:
    """What is to be done: all that has not begun at once; alone what has a checkpoint of its own.

    What has ended is told.
    """
    waiting = []
    for run in runs:
        if force:
            run.folder.remove()
        if run.folder.status in ENDED:
            run.tell()
        else:
            waiting.append(run)
    together = [run for run in waiting if not run.checkpoint.exists()]
    alone = [[run] for run in waiting if run.checkpoint.exists()]
    return [together, *alone] if together else alone


def _bring_to_end(runs: Sequence[Run], corpus: Corpus, stop: StopRequest) -> None:
    """Train a stack, then evaluate each of its runs; what fails fails by itself."""
    results: list[Trained] = []
    with _failing(runs):
        graph, results = _train(runs, corpus, stop)
    for run, trained in zip(runs, results, strict=False):  # none where training failed
        with _failing([run]):
            _evaluate(run, trained, graph, corpus)


@contextmanager
def _failing(runs: Sequence[Run]) -> Iterator[None]:
    """What goes wrong in the block is written into the status of these runs, and told."""
    try:
        yield
    except Exception as error:
        by_user = isinstance(error, UserError)
        words = str(error) if by_user else traceback.format_exception_only(error)[-1].strip()
        event = {"phase": "failed", "reason": words} | (
            {"exit_code": error.exit_code} if by_user else {}
        )
        for run in runs:
            with suppress(UserError):
                run.folder.write_status("failed", traceback.format_exc())
            run.report(event)


def _train(
    runs: Sequence[Run], corpus: Corpus, stop: StopRequest
) -> tuple[nnx.GraphDef, list[Trained]]:
    """Train a stack; of more than one, each then has a checkpoint of its own.

    So whatever comes in between, a run that was trained is never trained again.
    """
    graph, learners = _learners(runs, corpus)
    for run, learner in zip(runs, learners, strict=True):
        _open(run, learner, corpus)
    settings = runs[0].settings
    pairs = encode(corpus, "valid", settings)
    valid = evaluation_batches(pairs, EVALUATION_BATCH)

    def report(place: int, progress: Progress) -> None:
        epoch = progress.update / learners[place].batches.updates_per_epoch
        event = {"phase": "training", "epoch": round(epoch, 2), **asdict(progress)}
        runs[place].report(event)

    keeper = Checkpoints(_checkpoint(runs), stop)
    with stop.at_updates():
        end = train(graph, learners, valid, report, keeper, keeper.read(learners))
    for place, run in enumerate(runs if len(runs) > 1 else []):
        write_bytes(run.checkpoint, to_bytes(end.part(place)))
    return graph, end.trained


def _checkpoint(runs: Sequence[Run]) -> Path:
    """Where these runs together keep their checkpoint: with the first, by the names of all."""
    if len(runs) == 1:
        return runs[0].checkpoint
    names = " ".join(run.folder.run for run in runs)
    digest = hashlib.sha256(names.encode()).hexdigest()[:12]
    return runs[0].folder.path / f"checkpoint-{digest}.safetensors"


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


def _open(run: Run, learner: Learner, corpus: Corpus) -> None:
    """Write what is known of a run before its training."""
    folder = run.folder
    folder.write_status("running")
    folder.write_json("settings.json", run.settings.model_dump())
    folder.write_json("environment.json", describe_environment() | _corpus_facts(corpus))
    corpus.source_vocabulary.save(folder.path / "source.vocabulary")
    corpus.target_vocabulary.save(folder.path / "target.vocabulary")
    run.report({"phase": "training", "parameters": count_parameters(learner.weights)})


def _evaluate(run: Run, trained: Trained, graph: nnx.GraphDef, corpus: Corpus) -> None:
    """Write what training gave, translate and score the test set, end the run."""
    lines = [json.dumps(asdict(progress)) for progress in trained.log]
    write_text(run.folder.path / "log.jsonl", "".join(f"{line}\n" for line in lines))
    save_weights(run.folder.path / "weights.safetensors", trained.weights)
    if trained.status == "done":
        run.report({"phase": "scoring"})
        evaluate(graph, trained, run.settings, corpus, run.folder)
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
    }
