"""The training loop: updates, validation, the best weights, divergence, resuming."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx

from ..corpus.batches import EvaluationBatch, TrainingBatches
from ..model.parts import Stack, on_host, parts_of
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .step import TrainState, initial_state, make_sentence_losses, make_update


@dataclass(frozen=True)
class Progress:
    """Progress after an update (from 1): losses in nats per target token, end tokens included.

    ``loss`` is the mean since the last report; label smoothing raises it.
    """

    update: int
    updates: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    valid_loss: float | None = None


@dataclass
class Trained:
    """The weights with the least validation loss, or the mean of the last weights; their loss.

    The least loss was after ``best_update``. ``status`` is done or diverged. ``seconds`` is the
    time of the whole stack.
    """

    weights: Weights
    status: str = "done"
    best_update: int = 0
    valid_loss: float = math.inf
    log: list[Progress] = field(default_factory=list)
    target_tokens: int = 0
    seconds: float = 0.0
    reason: str = ""


class Learner(NamedTuple):
    """One seed before its training: fresh weights, settings, and the batches to learn from."""

    weights: Weights
    settings: TrainingSettings
    batches: TrainingBatches


class Snapshot(NamedTuple):
    """All that is needed to continue: the stack's state, `Trained` per seed, losses to report."""

    state: TrainState
    trained: list[Trained]
    losses: list[jax.Array | np.ndarray]


def train(
    graph: nnx.GraphDef,
    learners: Sequence[Learner],
    validation: Sequence[EvaluationBatch],
    report: Callable[[int, Progress], None],
    keeper: Any = None,
    resumed: Sequence[Snapshot] = (),
) -> Snapshot:
    """Train learners that differ only in their seed, as one stack, to their last update.

    A learner whose loss is not finite ends as diverged, and the others continue. A resumed training
    gives the same bits as one that was never stopped: the batch and the random numbers of an update
    depend only on the seed and the update's number. ``resumed`` has a snapshot of each learner, all
    from the same update. ``report`` gets a learner's index and its progress; ``keeper``
    (`runs.checkpoint.Checkpoints`) says when it wants a snapshot of the stack.
    """
    settings = learners[0].settings
    parts = parts_of(max(learners[0].batches.batch_sizes)) if len(learners) == 1 else 1
    stack = Stack(len(learners), parts)
    update, evaluate = make_update(graph, settings, stack), make_sentence_losses(graph, stack)
    if resumed:
        states = [snapshot.state for snapshot in resumed]
        trained = [snapshot.trained[0] for snapshot in resumed]
        by_update = zip(*(snapshot.losses for snapshot in resumed), strict=True)
        losses = [np.concatenate(of_seeds) for of_seeds in by_update]
    else:
        states = [initial_state(learner.weights, learner.settings) for learner in learners]
        trained, losses = [Trained(learner.weights) for learner in learners], []
    state = stack.join(states)
    done, before, opened = int(np.max(state.update)), trained[0].seconds, time.perf_counter()
    # Validations are spread evenly; the last one follows the last update.
    count = min(settings.validations, settings.updates)
    due = {round(settings.updates * share / count) for share in range(1, count + 1)}
    tokens = sum(int(item.batch.target_lengths[: len(item.rows)].sum()) for item in validation)
    for number in range(done + 1, settings.updates + 1):
        batches = [learner.batches.batch(number - 1) for learner in learners]
        state, loss = update(state, stack.join(batches))
        losses.append(loss)  # stays on the device until the next report
        for item, batch in zip(trained, batches, strict=True):
            item.target_tokens += int(batch.target_lengths.sum())
        # A report waits for the device.
        if number % 20 == 0 or number in due:
            by_seed = [np.reshape(on_host(loss), -1) for loss in losses]
            means = np.mean(by_seed, axis=0, dtype=np.float64)
            losses, valid = [], None
            if number in due:
                summed = evaluate(state.mean or state.weights, validation).sum(axis=0)
                valid = np.reshape(summed / tokens, -1).tolist()
            elapsed = time.perf_counter() - opened
            left = elapsed / (number - done) * (settings.updates - number)
            for place, item in enumerate(trained):
                item.seconds = before + elapsed
                if item.status == "done":
                    speed = item.target_tokens / item.seconds
                    given = float(means[place]), speed, left, valid and valid[place]
                    at = Progress(number, settings.updates, *given)
                    if _take(item, at, state, stack, place):
                        report(place, at)
            if all(item.status == "diverged" for item in trained):
                break
        if keeper is not None and keeper.wanted():
            for item in trained:
                item.seconds = before + time.perf_counter() - opened
            keeper.keep(Snapshot(state, trained, losses))
    if stack.parts > 1:
        # Weights on these devices cannot enter a program for more or fewer devices.
        for item in trained:
            item.weights = jax.device_get(item.weights)
    return Snapshot(state, trained, [])


def _take(trained: Trained, at: Progress, state: TrainState, stack: Stack, place: int) -> bool:
    """Log the progress of a seed and keep the best weights; False if it diverged.

    With averaging, the mean of the whole window is kept, whatever its validation loss.
    """
    loss = at.valid_loss
    if not math.isfinite(at.loss) or not math.isfinite(loss or 0.0):
        trained.status = "diverged"
        trained.reason = (
            f"the loss was no longer finite by update {at.update}; try a lower "
            "training.learning_rate or training.clip_norm"
        )
        return False
    if loss is not None:
        is_best = loss < trained.valid_loss
        if is_best:
            trained.best_update = at.update
        if is_best or (state.mean is not None and at.update == at.updates):
            trained.weights = stack.part(state.mean or state.weights, place)
            trained.valid_loss = loss
    trained.log.append(at)
    return True
