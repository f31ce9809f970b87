"""One run: settings in, a folder of plain files out.

``settings.json`` (resolved), ``environment.json``, ``status.json``, ``log.jsonl`` (a line a
report), ``weights.safetensors``, ``source.vocabulary``, ``target.vocabulary``,
``hypotheses.jsonl`` (sentence by sentence), ``sentences.csv`` (counts), ``scores.csv`` (a row a
bucket), ``examples.json`` (attention weights of a few sentences); while it runs,
``checkpoint.safetensors``.
"""

import json
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flax import nnx

from ..corpus.batches import evaluation_batches, training_batches
from ..corpus.corpus import Corpus, load_corpus
from ..model.translator import Weights, count_parameters, create
from ..settings.atomic import write_text
from ..settings.errors import UserError
from ..settings.run import RunSettings
from ..training.loop import Progress, Trained, train
from .checkpoint import Checkpoints, StopRequest
from .environment import describe_environment
from .evaluation import EVALUATION_BATCH, encode, evaluate
from .store import ENDED, RunFolder
from .weights import save_weights

Event = dict[str, Any]
Report = Callable[[Event], None]


def execute(
    settings: RunSettings, store: Path, report: Report, stop: StopRequest, force: bool = False
) -> None:
    """Bring the run of these settings to its end in the store, from where it stands.

    A run that has ended is left as it is (``force`` begins it anew), a stopped one goes on from
    its checkpoint, and one that another process is at is waited for.
    """
    report({"phase": "preparing"})
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    folder = RunFolder(store, settings.identity(corpus.fingerprint))
    with folder.alone():
        if force:
            folder.remove()
        if folder.status not in ENDED:
            _attempt(settings, corpus, folder, report, stop)
        ended = folder.read_status()
    report({"phase": ended["status"], "run": folder.run, "reason": ended["reason"]})


def _attempt(
    settings: RunSettings, corpus: Corpus, folder: RunFolder, report: Report, stop: StopRequest
) -> None:
    """Train and evaluate; what goes wrong is written into the run's status as well."""
    folder.write_status("running")
    try:
        trained = _train_and_evaluate(settings, corpus, folder, report, stop)
    except Exception:
        with suppress(UserError):
            folder.write_status("failed", traceback.format_exc())
        raise
    folder.write_status(trained.status, trained.reason)
    (folder.path / Checkpoints.NAME).unlink(missing_ok=True)


def _train_and_evaluate(
    settings: RunSettings, corpus: Corpus, folder: RunFolder, report: Report, stop: StopRequest
) -> Trained:
    sizes = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    graph, weights = create(settings.model, *sizes, settings.training.seed)
    folder.write_json("settings.json", settings.model_dump())
    folder.write_json("environment.json", describe_environment() | _corpus_facts(corpus))
    corpus.source_vocabulary.save(folder.path / "source.vocabulary")
    corpus.target_vocabulary.save(folder.path / "target.vocabulary")
    report({"phase": "training", "parameters": count_parameters(weights)})
    keeper = Checkpoints(folder.path, stop)
    trained = _train(graph, weights, settings, corpus, keeper, report)
    lines = [json.dumps(asdict(progress)) for progress in trained.log]
    write_text(folder.path / "log.jsonl", "".join(f"{line}\n" for line in lines))
    save_weights(folder.path / "weights.safetensors", trained.weights)
    if trained.status == "done":
        report({"phase": "scoring"})
        evaluate(graph, trained, settings, corpus, folder)
    return trained


def _train(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    keeper: Checkpoints,
    report: Report,
) -> Trained:
    training = settings.training
    batches = training_batches(
        encode(corpus, "train", settings),
        training.batch_size,
        training.seed,
        training.shapes,
        training.batch_tokens,
    )
    valid = evaluation_batches(encode(corpus, "valid", settings), EVALUATION_BATCH, training.shapes)

    def report_progress(progress: Progress) -> None:
        epoch = progress.update / batches.updates_per_epoch
        report({"phase": "training", "epoch": round(epoch, 2), **asdict(progress)})

    resumed = keeper.read(weights, training)
    with keeper.stop.at_updates():
        return train(graph, weights, training, batches, valid, report_progress, keeper, resumed)


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
