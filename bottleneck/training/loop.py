"""The training loop: updates, validation, the best weights kept, divergence noticed, resumed."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from flax import nnx

from ..corpus.batches import EvaluationBatch, TrainingBatches, restore
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .step import SentenceLosses, TrainState, initial_state, make_sentence_losses, make_update

REPORT_EVERY = 20
"""Updates between two looks at the loss; each look waits for the device."""


@dataclass(frozen=True)
class Progress:
    """How training stands: loss in nats a target token (mean since the last report)."""

    update: int
    updates: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    valid_loss: float | None = None


@dataclass
class Trained:
    """What training leaves: ``weights`` are those with the least validation loss."""

    weights: Weights
    status: str = "done"
    best_update: int = 0
    valid_loss: float = math.inf
    log: list[Progress] = field(default_factory=list)
    target_tokens: int = 0
    seconds: float = 0.0
    reason: str = ""


class Snapshot(NamedTuple):
    """All that is needed to go on as if training had not been stopped.

    ``losses`` are those of the updates since the last report.
    """

    state: TrainState
    trained: Trained
    losses: list[float]


@runtime_checkable
class Keeper(Protocol):
    """Where snapshots go."""

    def wanted(self) -> bool:
        """Asked after every update: is a snapshot due?"""
        ...

    def keep(self, snapshot: Snapshot) -> None:
        """Store a snapshot; may raise to stop the training."""
        ...


Report = Callable[[Progress], None]


def train(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: TrainingSettings,
    batches: TrainingBatches,
    validation: Sequence[EvaluationBatch],
    report: Report,
    keeper: Keeper | None = None,
    resumed: Snapshot | None = None,
) -> Trained:
    """Train for ``settings.updates`` updates; a loss that is not finite ends it as diverged.

    A resumed training gives the same weights, bit for bit, as one that was never stopped: the
    batch and the random numbers of an update depend on the seed and the update's number alone.
    """
    update = make_update(graph, settings)
    judge = _Judge(make_sentence_losses(graph), validation, set(validation_updates(settings)))
    state, trained, losses = resumed or Snapshot(
        initial_state(weights, settings), Trained(weights), []
    )
    clock = _Clock(settings.updates, trained)
    for number in range(int(state.update) + 1, settings.updates + 1):
        batch = batches.batch(number - 1)
        state, loss = update(state, batch)
        losses.append(loss)
        clock.count(batch.target_lengths)
        if number % REPORT_EVERY == 0 or number in judge.due:
            mean, losses = float(np.mean(losses)), []
            valid_loss = judge.judge(trained, state, number)
            if not math.isfinite(mean) or not math.isfinite(valid_loss or 0.0):
                _end_diverged(trained, number)
                break
            trained.log.append(clock.progress(number, mean, valid_loss))
            report(trained.log[-1])
        if keeper is not None and keeper.wanted():
            clock.stop()
            keeper.keep(Snapshot(state, trained, [float(loss) for loss in losses]))
    clock.stop()
    return trained


def validation_updates(settings: TrainingSettings) -> list[int]:
    """After which updates validation takes place: evenly spread, the last one included."""
    count = min(settings.validations, settings.updates)
    return [round(settings.updates * share / count) for share in range(1, count + 1)]


def token_loss(
    evaluate: SentenceLosses, weights: Weights, batches: Sequence[EvaluationBatch]
) -> float:
    """Mean -log P in nats a target token over all sentences."""
    losses = sentence_losses(evaluate, weights, batches)
    tokens = sum(int(batch.batch.target_lengths[: batch.real].sum()) for batch in batches)
    return float(losses.sum()) / tokens


def sentence_losses(
    evaluate: SentenceLosses, weights: Weights, batches: Sequence[EvaluationBatch]
) -> np.ndarray:
    """-log P in nats of each reference, in the order of the corpus; shape (sentences,)."""
    results = [np.asarray(evaluate(weights, batch.batch)) for batch in batches]
    return np.array(restore(results, list(batches)), dtype=np.float64)


@dataclass(frozen=True)
class _Judge:
    """Validation: when it is due, on what, and by which loss."""

    evaluate: SentenceLosses
    validation: Sequence[EvaluationBatch]
    due: set[int]

    def judge(self, trained: Trained, state: TrainState, number: int) -> float | None:
        """When due: the validation loss, and the weights kept if it is the least so far."""
        if number not in self.due:
            return None
        loss = token_loss(self.evaluate, state.weights, self.validation)
        if loss < trained.valid_loss:
            trained.weights, trained.valid_loss, trained.best_update = state.weights, loss, number
        return loss


def _end_diverged(trained: Trained, number: int) -> None:
    trained.status = "diverged"
    trained.reason = (
        f"the loss was no longer finite by update {number}; try a lower training.learning_rate "
        "or training.clip_norm"
    )


class _Clock:
    """Counts target tokens and time into ``trained``; time spent compiling counts."""

    def __init__(self, updates: int, trained: Trained):
        self.updates, self.trained = updates, trained
        self._start = time.perf_counter() - trained.seconds

    def count(self, target_lengths: np.ndarray) -> None:
        self.trained.target_tokens += int(target_lengths.sum())

    def stop(self) -> None:
        self.trained.seconds = time.perf_counter() - self._start

    def progress(self, number: int, loss: float, valid_loss: float | None) -> Progress:
        self.stop()
        speed = self.trained.target_tokens / self.trained.seconds
        left = self.trained.seconds / number * (self.updates - number)
        return Progress(number, self.updates, loss, speed, left, valid_loss)
