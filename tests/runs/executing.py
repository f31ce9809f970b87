"""Executes runs in the test's process, kills them at a step, and compares their results."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from seq2seq_bottleneck.runs.checkpoint import Checkpoints
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import RunSettings, resolve
from seq2seq_bottleneck.settings.sweep import Cell

COPY = ("corpus.name=copy", "corpus.copy_words=20")


def smoke(*assignments: str) -> RunSettings:
    """A small run that learns to copy words."""
    return resolve("smoke", [*COPY, *assignments])


def executed(store: Path, *settings: RunSettings) -> list[dict[str, Any]]:
    """The reports of runs that differ only in their seed, executed together."""
    events: list[dict[str, Any]] = []
    try:
        execute(list(settings), store, lambda _, event: events.append(event), Checkpoints())
    except UserError as error:
        events.append({"phase": "failed", "reason": str(error)})
    return events


def same_results(first: Path, second: Path) -> bool:
    """Whether two runs have the same weights and translations, bit for bit."""
    names = ("weights.safetensors", "hypotheses.jsonl", "sentences.csv")
    return all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


class Heard(list):
    """A listener that keeps each cell and event, and calls ``then`` with them."""

    def __init__(self, then=lambda *_: None) -> None:
        super().__init__()
        self.then = then

    def __call__(self, cell, event) -> None:
        self.append((cell, event))
        self.then(cell, event)

    def phases(self, cell: Cell) -> list[str]:
        return [event["phase"] for other, event in self if other == cell]

    def process_of(self, cell: Cell) -> int:
        """The process that runs a cell, the last one if there were several."""
        return [event["process"] for other, event in self if other == cell and "process" in event][
            -1
        ]


def interrupt(_, event) -> None:
    """Ctrl-C in mid-training."""
    if event.get("update"):
        raise KeyboardInterrupt


class Killed(BaseException):
    """Stands for the end of the process."""


@contextmanager
def killed_at(step: int, *places: tuple[object, str]) -> Iterator[list[bool]]:
    """Kill the process as it begins this step: the n-th call, from 0, of one of these functions.

    Return whether it was killed.
    """
    steps, killed = count(), []

    def stepping(real):
        def wrapped(*arguments, **named):
            if next(steps) == step:
                killed.append(True)
                raise Killed
            return real(*arguments, **named)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in places:
            patch.setattr(owner, name, stepping(getattr(owner, name)))
        with suppress(Killed):
            yield killed
