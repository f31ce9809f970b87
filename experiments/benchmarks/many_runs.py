"""Make up stores of many runs: as large as real ones, but without trained networks.

Each run has different counts of its sentences. Runs of a cell share scores and examples, because
their content does not change the time to read them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray

from seq2seq_bottleneck.results.bundle import tidy_csv
from seq2seq_bottleneck.results.folders import json_text
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.runs.evaluation import bucket_rows
from seq2seq_bottleneck.settings.files import seal, write_listed
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, RunSettings, resolve
from seq2seq_bottleneck.settings.sweep import Cell, declare

ARMS = {"none": 0.5, "additive": 0.9}
"""The share of words that each arm gets right."""
OUTSIDE = 0.02
"""The share of the test sentences that are shorter than any bucket."""
FACTS = {
    "schema": SCHEMA_VERSION, "bottleneck": "0", "versions": {}, "device": "cpu: cpu",
    "fingerprint": "made up", "notes": [], "source_vocabulary": 900, "target_vocabulary": 1200,
    "source_unknown": 0.01, "target_unknown": 0.02, "near_copies": 0.1,
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """The number of runs (context sizes x two arms x seeds), and of test sentences per run."""

    contexts: int
    seeds: int
    sentences: int = 1200
    resamples: int = 1000

    @property
    def runs(self) -> int:
        """The number of runs."""
        return self.contexts * len(ARMS) * self.seeds


def write_store(folder: Path, size: Size) -> list[Path]:
    """Write runs as `bottleneck sweep` does, without weights and words; return their folders."""
    random = np.random.default_rng(0)
    words = _words(size.sentences, random)
    runs = {}
    for settings in _cells(size):
        share = ARMS[settings.model.attention]
        shared = _shared_files(settings, _columns(words, share, random))
        for seed in range(1, size.seeds + 1):
            own = settings.changed(training={"seed": seed})
            columns = _columns(words, share, random)
            runs[_write_run(folder / "runs", own, shared, columns)] = Cell("", own)
    cells = zip(runs, declare(runs.values()), strict=True)
    members = {run.name: [cell.arm, cell.baseline] for run, cell in cells}
    write_listed(folder, [("experiments.json", json_text({"many": members}).encode())])
    return list(runs)


def _cells(size: Size) -> Iterator[RunSettings]:
    """The settings of each cell; hidden sizes are equal, so that only the context varies."""
    for place in range(size.contexts):
        for arm in ARMS:
            yield resolve("lecture").changed(
                model={"attention": arm, "context_size": 16 + 8 * place, "hidden_size": 256},
                scoring={"resamples": size.resamples},
            )


def _words(sentences: int, random: np.random.Generator) -> ndarray:
    """Source words of the test sentences: about as many in each bucket, a few outside."""
    words = random.integers(5, 51, size=sentences)
    words[: round(OUTSIDE * sentences)] = 3
    return words


def _columns(words: ndarray, share: float, random: np.random.Generator) -> dict[str, ndarray]:
    """The counts of each sentence, as the columns of ``sentences.csv``."""
    reference = words + words // 8
    hypothesis = np.maximum(1, reference + random.integers(-2, 3, size=len(words)))
    totals = [np.maximum(hypothesis - order, 0) for order in range(4)]
    correct = [random.binomial(totals[0], share)]
    for total in totals[1:]:
        correct.append(random.binomial(np.minimum(correct[-1], total), share))
    known = {
        "sentence": np.arange(len(words)),
        "source_words": words,
        "nll": random.gamma(2.0, words),
        "target_tokens": reference + 1,
        "ended": random.random(len(words)) < 0.99,
    }
    counts = zip(BLEU_COLUMNS, [hypothesis, reference, *correct, *totals], strict=True)
    return known | dict(counts)


def _shared_files(settings: RunSettings, columns: Mapping[str, ndarray]) -> dict[str, str]:
    """The files that all runs of a cell share."""
    known: dict[str, Any] = {
        "train_pairs": 40_000, "best_update": settings.training.updates, "epochs": 3.2,
        "train_loss": 0.5, "valid_loss": 1.0, "train_tokens": 2_000_000,
        "parameters": 1_000_000 + 50_000 * (settings.model.attention != "none"),
        "train_seconds": 90.5, "train_tokens_per_second": 22_000.5, "near_copies": 0.1,
    }  # fmt: skip
    sentences = pd.DataFrame(columns).assign(hypothesis="one text", reference="one text")
    rows = [known | row for row in bucket_rows(sentences, settings)]
    return {
        "scores.csv": tidy_csv(pd.DataFrame(rows, dtype=object)),
        "examples.json": json_text([_example(place) for place in range(10)]),
        "log.jsonl": "".join(json.dumps(line) + "\n" for line in _log(settings)),
        "environment.json": json_text(FACTS),
        "status.json": json_text({"status": "done", "reason": ""}),
    }


def _example(place: int) -> dict[str, Any]:
    length = 10 + 4 * place
    weights = [[0.05] * length for _ in range(length)]
    words = [f"w{word}" for word in range(length)]
    return {"sentence": place, "source": words, "reference": " ".join(words),
            "hypothesis": words, "weights": weights}  # fmt: skip


def _log(settings: RunSettings) -> Iterator[dict[str, Any]]:
    updates, count = settings.training.updates, settings.training.validations
    for place in range(1, count + 1):
        yield {"update": updates * place // count, "loss": 1.0, "valid_loss": 1.1}


def _write_run(
    store: Path, settings: RunSettings, shared: Mapping[str, str], columns: Mapping[str, ndarray]
) -> Path:
    text = json_text(settings.model_dump())
    run = store / hashlib.sha256(text.encode()).hexdigest()[:12]
    run.mkdir(parents=True)
    lists = [column.tolist() for column in columns.values()]
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*lists, strict=True))]
    files = {**shared, "settings.json": text, "sentences.csv": "\n".join(lines) + "\n"}
    for name, content in files.items():
        (run / name).write_text(content, encoding="utf8")
    seal(run, ["status.json"])
    return run
