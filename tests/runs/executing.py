"""Runs executed in the test's own process, and what two of them wrote compared."""

from pathlib import Path
from typing import Any

from seq2seq_bottleneck.runs.checkpoint import StopRequest
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.settings.run import RunSettings, resolve

COPY = ("corpus.name=copy", "corpus.copy_words=20")


def smoke(*assignments: str) -> RunSettings:
    """A small run that learns to copy words."""
    return resolve("smoke", [*COPY, *assignments])


def executed(store: Path, *settings: RunSettings) -> list[dict[str, Any]]:
    """What runs report that differ in their seed alone, executed together."""
    events: list[dict[str, Any]] = []
    execute(list(settings), store, lambda _, event: events.append(event), StopRequest())
    return events


def same_results(first: Path, second: Path) -> bool:
    """Whether two runs have the same weights and translations, bit for bit."""
    names = ("weights.safetensors", "hypotheses.jsonl", "sentences.csv")
    return all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
