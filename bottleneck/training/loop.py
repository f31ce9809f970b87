"""The training loop: updates, validation, the best weights kept, divergence noticed, resumed."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import nnx
from jaxtyping import Float, Int

from ..corpus.batches import EvaluationBatch, TrainingBatches, restore
from ..model.parts import Stack, on_host, parts_of
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .step import TrainState, initial_state, make_sentence_losses, make_update

REPORT_EVERY = 20
"""Updates between two looks at the loss; each look waits for the device."""
Buckets = Mapping[str, Int[np.ndarray, " rows"]]
"""Of each length bucket the places of its sentences in the corpus; none where it is empty."""


ByBucket = dict[str, dict[str, int | float | None]]
"""Of each bucket at one validation the ``sentences``; the target ``tokens``, end tokens included;
``nats``: -log P summed over them; and the ``standard_error`` of nats / tokens, None for under two.
"""


@dataclass(frozen=True)
class Progress:
    """How training stands: loss in nats per target token (mean since the last report).

    Tokens are target tokens, end tokens included; ``update`` counts from 1.
    ``loss`` is what training makes small: with label smoothing more than -log P. ``valid_loss`` is
    always -log P, and ``valid_buckets`` are its sums by length bucket. ``seconds_left`` goes by the
    updates since the first report, so that compiling does not count.
    """

    update: int
    updates: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    valid_loss: float | None = None
    valid_buckets: ByBucket | None = None


@dataclass
class Trained:
    """What training leaves: ``weights`` are those with the least validation loss.

    With ``average_last`` they are the mean over the last updates, whatever the losses before.
    ``valid_loss`` is theirs; the least validation loss was after ``best_update``. ``status`` is
    done or diverged, with the ``reason``. ``seconds`` of a stack are those of all its seeds.
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
    """All that is needed to go on as if training had not been stopped.

    ``state`` is that of the whole stack, ``trained`` one per seed; ``losses`` are those of the
    updates since the last report.
    """

    state: TrainState
    trained: list[Trained]
    losses: list[np.ndarray]

    def part(self, place: int) -> "Snapshot":
        """One seed's own."""
        stack = Stack(len(self.trained))
        losses = [item[place : place + 1] for item in self.losses]
        return Snapshot(stack.part(self.state, place), [self.trained[place]], losses)


Report = Callable[[int, Progress], None]
"""Told how one learner stands, by its place in the stack."""


def train(
    graph: nnx.GraphDef,
    learners: Sequence[Learner],
    validation: Sequence[EvaluationBatch],
    report: Report,
    keeper: Any = None,
    resumed: Snapshot | None = None,
    buckets: Buckets | None = None,
) -> Snapshot:
    """Train learners that differ in their seed alone, as one stack, to their last update.

    What ``trained`` holds of each is the result. One whose loss is not finite ends as diverged,
    and the others go on. A resumed training gives the same weights, bit for bit, as one that was
    never stopped: the batch and the random numbers of an update depend on the seed and the
    update's number alone. ``keeper`` (`runs.checkpoint.Checkpoints`) is asked after every update
    whether it wants a snapshot. ``buckets`` are those of the validation's sentences.
    """
    settings = learners[0].settings
    parts = parts_of(max(learners[0].batches.batch_sizes)) if len(learners) == 1 else 1
    stack = Stack(len(learners), parts)
    update, evaluate = make_update(graph, settings, stack), make_sentence_losses(graph, stack)
    if resumed is None:
        states = [initial_state(learner.weights, learner.settings) for learner in learners]
        new = [Trained(learner.weights) for learner in learners]
        resumed = Snapshot(stack.join(states), new, [])
    state, trained, losses = resumed
    due, done = set(validation_updates(settings)), updates_done(state)
    tokens = target_tokens(validation)
    course = _Course(stack, settings.updates, trained, tokens, buckets or {}, report, done)
    for number in range(done + 1, settings.updates + 1):
        batches = [learner.batches.batch(number - 1) for learner in learners]
        state, loss = update(state, stack.join(batches))
        losses.append(loss)  # stays on the device until the next report
        for item, batch in zip(trained, batches, strict=True):
            item.target_tokens += int(batch.target_lengths.sum())
        if number % REPORT_EVERY == 0 or number in due:
            means = np.mean([stack.numbers(loss) for loss in losses], axis=0)
            losses, rows = [], None
            if number in due:
                rows = sentence_losses(evaluate, state.kept, validation)
            course.judge(state, number, means, rows)
            if all(item.status == "diverged" for item in trained):
                break
        if keeper is not None and keeper.wanted():
            course.stop_clock()
            keeper.keep(Snapshot(state, trained, [stack.numbers(loss) for loss in losses]))
    course.stop_clock()
    if stack.parts > 1:
        # Weights on these devices could not go into a program of more or fewer of them.
        for item in trained:
            item.weights = jax.device_get(item.weights)
    return Snapshot(state, trained, [])


def updates_done(state: TrainState) -> int:
    """How many updates lie behind a state."""
    return int(np.max(state.update))


def validation_updates(settings: TrainingSettings) -> list[int]:
    """After which updates (from 1) validation takes place: evenly spread, the last one included."""
    count = min(settings.validations, settings.updates)
    return [round(settings.updates * share / count) for share in range(1, count + 1)]


def sentence_losses(
    evaluate: Callable, weights: Weights, batches: Sequence[EvaluationBatch]
) -> Float[np.ndarray, "sentences *seeds"]:
    """-log P in nats of each reference, in the order of the corpus."""
    # All are under way before the first is waited for.
    results = [evaluate(weights, batch.batch) for batch in batches]
    rows = [on_host(result).T for result in results]
    return np.array(restore(rows, list(batches)), dtype=np.float64)


@dataclass
class _Course:
    """Counts time, notices divergence, keeps the best weights of each seed, and reports.

    With averaging, a validation inside the window judges the mean so far, one before it the weights
    as they are; the last one judges the whole mean, which is kept whatever came before.
    """

    stack: Stack
    updates: int
    trained: list[Trained]
    tokens: Int[np.ndarray, " sentences"]
    buckets: Buckets
    report: Report
    done: int

    def __post_init__(self) -> None:
        self.opened = time.perf_counter()
        self.start, self.first = self.opened - self.trained[0].seconds, (self.updates, self.opened)

    def stop_clock(self) -> float:
        """How late it is; the seconds of every seed are those until now."""
        now = time.perf_counter()
        for trained in self.trained:
            trained.seconds = now - self.start
        return now

    def judge(
        self,
        state: TrainState,
        number: int,
        means: Float[np.ndarray, " seeds"],
        rows: Float[np.ndarray, "sentences *stack"] | None,
    ) -> None:
        """Take the mean losses of each seed, and where validation was due its sentences' losses."""
        now = self.stop_clock()
        if number < self.first[0]:
            self.first = number, now
        before, since = self.first if number > self.first[0] else (self.done, self.opened)
        left = (now - since) / (number - before) * (self.updates - number)
        whole = state.mean is not None and number == self.updates
        for place, trained in enumerate(self.trained):
            if trained.status == "diverged":
                continue
            loss = sums = None
            if rows is not None:
                loss = float(np.reshape(rows.sum(axis=0) / self.tokens.sum(), -1)[place])
            if not math.isfinite(means[place]) or not math.isfinite(loss or 0.0):
                trained.status = "diverged"
                trained.reason = (
                    f"the loss was no longer finite by update {number}; try a lower "
                    "training.learning_rate or training.clip_norm"
                )
                continue
            if loss is not None and (loss < trained.valid_loss or whole):
                if loss < trained.valid_loss:
                    trained.best_update = number
                trained.weights, trained.valid_loss = self.stack.part(state.kept, place), loss
            if rows is not None:
                column = rows.reshape(len(rows), -1)[:, place]
                sums = by_bucket(column, self.tokens, self.buckets)
            speed = trained.target_tokens / trained.seconds
            at = Progress(number, self.updates, float(means[place]), speed, left, loss, sums)
            trained.log.append(at)
            self.report(place, at)


def target_tokens(batches: Sequence[EvaluationBatch]) -> Int[np.ndarray, " sentences"]:
    """Target tokens of each sentence, end token included, in the order of the corpus."""
    lengths = [batch.batch.target_lengths.tolist() for batch in batches]
    return np.array(restore(lengths, list(batches)), dtype=np.int64)


def by_bucket(
    losses: Float[np.ndarray, " sentences"],
    tokens: Int[np.ndarray, " sentences"],
    buckets: Buckets,
) -> ByBucket:
    """-log P in nats of each sentence, summed by bucket.

    The standard error is that of the ratio of two sums over sentences (Cochran 1977, equation
    2.46, with no end to draw): sqrt(n / (n - 1) sum of (nats - ratio tokens)^2) / sum of tokens.
    """
    sums: ByBucket = {}
    for name, rows in buckets.items():
        count, total, nats, error = len(rows), tokens[rows].sum(), losses[rows].sum(), None
        if count > 1:
            deviation = losses[rows] - nats / total * tokens[rows]
            variance = count / (count - 1) * float((deviation**2).sum())
            error = math.sqrt(variance) / float(total)
        sums[name] = {
            "sentences": count, "tokens": int(total), "nats": float(nats), "standard_error": error
        }  # fmt: skip
    return sums
