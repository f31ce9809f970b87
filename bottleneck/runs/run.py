"""One run: settings in, a folder of plain files out.

``settings.json`` (resolved), ``environment.json``, ``status.json``, ``log.jsonl`` (a line a
report), ``weights.safetensors``, ``source.vocabulary``, ``target.vocabulary``,
``hypotheses.jsonl`` (sentence by sentence), ``sentences.csv`` (counts), ``scores.csv`` (a row a
bucket), ``examples.json`` (attention weights of a few sentences).
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flax import nnx

from ..corpus.batches import (
    EncodedPairs,
    EvaluationBatch,
    encode_pairs,
    evaluation_batches,
    restore,
    training_batches,
)
from ..corpus.corpus import Corpus, load_corpus
from ..corpus.tokens import detokenize
from ..decoding.search import make_search
from ..model.translator import Weights, count_parameters, create
from ..settings.atomic import write_text
from ..settings.run import RunSettings
from ..training.loop import Progress, Trained, sentence_losses, train
from ..training.step import make_sentence_losses
from .csvtext import csv_text
from .environment import describe_environment
from .examples import make_examples
from .scores import bucket_rows, sentence_columns
from .weights import save_weights

EVALUATION_BATCH = 64

Event = dict[str, Any]
Report = Callable[[Event], None]


class Decoded(NamedTuple):
    """The translations of a test set, in its order."""

    tokens: list[list[str]]
    ended: np.ndarray

    @property
    def texts(self) -> list[str]:
        """The translations as a person reads them, and as they are scored."""
        return [detokenize(tokens) for tokens in self.tokens]


def execute(settings: RunSettings, store: Path, report: Report) -> None:
    """Train, translate the test set, score, and write the run's folder into the store.

    The folder is named by the run's identity and appears whole, when all is written.
    """
    report({"phase": "preparing"})
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    name = settings.identity(corpus.fingerprint)
    part = store / f".{name}.{os.getpid()}.part"
    try:
        trained = _train_and_score(settings, corpus, part, report)
        _move(part, store / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    report({"phase": trained.status, "run": name, "reason": trained.reason})


def _move(part: Path, folder: Path) -> None:
    """Put a written folder in its place; one that stood there is replaced."""
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(part, folder)


def _train_and_score(
    settings: RunSettings, corpus: Corpus, folder: Path, report: Report
) -> Trained:
    graph, weights = create(
        settings.model,
        len(corpus.source_vocabulary),
        len(corpus.target_vocabulary),
        settings.training.seed,
    )
    report({"phase": "training", "parameters": count_parameters(weights)})
    trained = _train(graph, weights, settings, corpus, report)
    _write_description(folder, settings, corpus, trained)
    if trained.status == "done":
        report({"phase": "scoring"})
        _score(graph, trained, settings, corpus, folder)
    _write_json(folder / "status.json", {"status": trained.status, "reason": trained.reason})
    return trained


def encode(corpus: Corpus, split: str, settings: RunSettings) -> EncodedPairs:
    """Token ids of a split, the source reversed where the model wants it so."""
    return encode_pairs(
        corpus.splits[split],
        corpus.source_vocabulary,
        corpus.target_vocabulary,
        settings.model.reverse_source,
    )


def _train(
    graph: nnx.GraphDef, weights: Weights, settings: RunSettings, corpus: Corpus, report: Report
) -> Trained:
    training = settings.training
    batches = training_batches(
        encode(corpus, "train", settings), training.batch_size, training.seed, training.shapes
    )
    validation = evaluation_batches(
        encode(corpus, "valid", settings), EVALUATION_BATCH, training.shapes
    )

    def report_progress(progress: Progress) -> None:
        report({"phase": "training", **asdict(progress)})

    return train(graph, weights, training, batches, validation, report_progress)


def _score(
    graph: nnx.GraphDef, trained: Trained, settings: RunSettings, corpus: Corpus, folder: Path
) -> None:
    """Translate and score the test set with the best weights; write what was found."""
    encoded = encode(corpus, "test", settings)
    batches = evaluation_batches(encoded, EVALUATION_BATCH, settings.training.shapes)
    decoded = decode(graph, trained.weights, settings, corpus, batches)
    columns = sentence_columns(
        decoded.texts,
        [pair.target for pair in corpus.test],
        np.array([pair.words for pair in corpus.test]),
        sentence_losses(make_sentence_losses(graph), trained.weights, batches),
        np.array(encoded.target_lengths),
        decoded.ended,
    )
    facts = _facts(settings, corpus, trained)
    rows = [facts | row for row in bucket_rows(columns, settings)]
    write_text(folder / "sentences.csv", csv_text(columns))
    write_text(
        folder / "scores.csv", csv_text({key: [r.get(key) for r in rows] for key in rows[0]})
    )
    _write_hypotheses(folder, corpus, decoded)
    examples = make_examples(graph, trained.weights, settings, corpus, decoded.tokens)
    _write_json(folder / "examples.json", examples)


def decode(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    batches: list[EvaluationBatch],
) -> Decoded:
    """Translate every sentence of the batches with the search that the settings name."""
    search = make_search(graph, settings.decoding)
    outputs = [search(weights, held.batch.source, held.batch.source_lengths) for held in batches]
    rows = restore([np.asarray(output.tokens) for output in outputs], batches)
    ended = restore([np.asarray(output.finished) for output in outputs], batches)
    words = [corpus.target_vocabulary.decode(row.tolist()) for row in rows]
    return Decoded(words, np.array(ended))


def _facts(settings: RunSettings, corpus: Corpus, trained: Trained) -> dict[str, Any]:
    """What is the same for every bucket of the run."""
    model, training = settings.model, settings.training
    facts = {
        name: getattr(model, name)
        for name in [
            "attention",
            "context_size",
            "placement",
            "cell",
            "embedding_size",
            "layers",
            "bidirectional",
            "reverse_source",
        ]
    }
    return facts | {
        "seed": training.seed,
        "hidden_size": model.hidden,
        "beam_size": settings.decoding.beam_size,
        "corpus": settings.corpus.name,
        "train_pairs": len(corpus.train),
        "updates": training.updates,
        "best_update": trained.best_update,
        "valid_loss": trained.valid_loss,
        "train_tokens": trained.target_tokens,
        "parameters": count_parameters(trained.weights),
        "train_seconds": round(trained.seconds, 3),
        "train_tokens_per_second": round(trained.target_tokens / max(trained.seconds, 1e-9), 1),
    }


def _write_description(
    folder: Path, settings: RunSettings, corpus: Corpus, trained: Trained
) -> None:
    """Everything that does not depend on the test set."""
    _write_json(folder / "settings.json", settings.model_dump())
    _write_json(folder / "environment.json", describe_environment() | _corpus_facts(corpus))
    lines = [json.dumps(asdict(progress)) for progress in trained.log]
    write_text(folder / "log.jsonl", "".join(f"{line}\n" for line in lines))
    corpus.source_vocabulary.save(folder / "source.vocabulary")
    corpus.target_vocabulary.save(folder / "target.vocabulary")
    save_weights(folder / "weights.safetensors", trained.weights)


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


def _write_hypotheses(folder: Path, corpus: Corpus, decoded: Decoded) -> None:
    lines = [
        json.dumps(
            {
                "sentence": place,
                "source": pair.source,
                "reference": pair.target,
                "hypothesis": text,
            },
            ensure_ascii=False,
        )
        for place, (pair, text) in enumerate(zip(corpus.test, decoded.texts, strict=True))
    ]
    write_text(folder / "hypotheses.jsonl", "".join(f"{line}\n" for line in lines))


def _write_json(path: Path, values: Any) -> None:
    write_text(path, json.dumps(values, indent=1, ensure_ascii=False) + "\n")
