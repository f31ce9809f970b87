"""The training loop: updates, validation, the best weights kept, divergence noticed, resumed."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypedDict, runtime_checkable

import jax
import numpy as np
from flax import nnx
from jaxtyping import Float, Int

from ..corpus.batches import EvaluationBatch, TrainingBatches, restore
from ..model.parts import on_host, parts_of
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .stack import Stack
from .step import SentenceLosses, TrainState, initial_state, make_sentence_losses, make_update

REPORT_EVERY = 20
"""Updates between two looks at the loss; each look waits for the device."""


Buckets = Mapping[str, Int[np.ndarray, " rows"]]
"""Of each length bucket the places of its sentences in the corpus; none where it is empty."""


class BucketLoss(TypedDict):
    """One bucket at one validation, as it stands in a run's log and in its checkpoint.

    ``tokens`` are target tokens, end tokens included; ``nats`` is -log P summed over them.
    ``standard_error`` is that of nats / tokens, as sentences are drawn; None for under two.
    """

    sentences: int
    tokens: int
    nats: float
    standard_error: float | None


ByBucket = dict[str, BucketLoss]


@dataclass(frozen=True)
class Progress:
    """How training stands: loss in nats per target token (mean since the last report).

    Tokens are target tokens, end tokens included, over all time so far; ``update`` counts from 1.
    ``loss`` is what training makes small: with label smoothing more than -log P, and not to be
    compared with ``valid_loss``, which is always -log P. ``valid_buckets`` are that one's sums by
    length bucket, where buckets were given. ``seconds_left`` goes by the updates since the
    first report, so that compiling does not count.
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
    done or diverged, with the ``reason``. ``seconds`` are of the wall clock, compiling and
    validation among them, and of a stack those of all its seeds together.
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
    updates since the last report, one number per seed each.
    """

    state: TrainState
    trained: list[Trained]
    losses: list[np.ndarray]

    def part(self, place: int) -> "Snapshot":
        """One seed's own."""
        stack = Stack(len(self.trained))
        losses = [item[place : place + 1] for item in self.losses]
        return Snapshot(stack.part(self.state, place), [self.trained[place]], losses)


@runtime_checkable
class Keeper(Protocol):
    """Where snapshots go."""

    def wanted(self) -> bool:
        """Asked after every update: is a snapshot due?"""
        ...

    def keep(self, snapshot: Snapshot) -> None:
        """Store a snapshot; may raise to stop the training."""
        ...


Report = Callable[[int, Progress], None]
"""Told how one learner stands, by its place in the stack."""


def train(
    graph: nnx.GraphDef,
    learners: Sequence[Learner],
    validation: Sequence[EvaluationBatch],
    report: Report,
    keeper: Keeper | None = None,
    resumed: Snapshot | None = None,
    buckets: Buckets | None = None,
) -> Snapshot:
    """Train learners that differ in their seed alone, as one stack, to their last update.

    What ``trained`` holds of each is the result. One whose loss is not finite ends as diverged,
    and the others go on. A resumed training gives the same weights, bit for bit, as one that was
    never stopped: the batch and the random numbers of an update depend on the seed and the
    update's number alone. ``buckets`` are those of the validation's sentences, whose losses are
    then logged bucket by bucket.
    """
    settings = learners[0].settings
    parts = parts_of(max(learners[0].batches.batch_sizes)) if len(learners) == 1 else 1
    stack = Stack(len(learners), parts)
    batches = [learner.batches for learner in learners]
    update = make_update(graph, settings, stack)
    if resumed is None:
        states = [initial_state(learner.weights, learner.settings) for learner in learners]
        new = [Trained(learner.weights) for learner in learners]
        resumed = Snapshot(stack.join(states), new, [])
    state, trained, losses = resumed
    evaluate = make_sentence_losses(graph, stack)
    judge = _Judge(stack, settings, evaluate, validation, buckets, trained)
    due = set(validation_updates(settings))
    done = updates_done(state)
    clock = _Clock(done, settings.updates, trained)
    for number in range(done + 1, settings.updates + 1):
        state, loss = update(state, stack.join([item.batch(number - 1) for item in batches]))
        losses.append(loss)  # stays on the device until the next report
        clock.count(batches, number)
        if number % REPORT_EVERY == 0 or number in due:
            means = np.mean([stack.numbers(loss) for loss in losses], axis=0)
            losses = []
            for place, *valid in judge.judge(state, number, means, number in due):
                progress = clock.progress(place, number, float(means[place]), *valid)
                trained[place].log.append(progress)
                report(place, progress)
            if not judge.live:
                break
        if keeper is not None and keeper.wanted():
            clock.stop()
            keeper.keep(Snapshot(state, trained, [stack.numbers(loss) for loss in losses]))
    clock.stop()
    if stack.parts > 1:
        # Weights that lie on these devices could not go into a program of more or fewer of them.
        for item in trained:
            item.weights = jax.device_get(item.weights)
    return Snapshot(state, trained, [])


def updates_done(state: TrainState) -> int:
    """How many updates lie behind a state; the same for every seed of a stack."""
    return int(np.max(state.update))


def validation_updates(settings: TrainingSettings) -> list[int]:
    """After which updates (from 1) validation takes place: evenly spread, the last one included."""
    count = min(settings.validations, settings.updates)
    return [round(settings.updates * share / count) for share in range(1, count + 1)]


def token_loss(
    evaluate: SentenceLosses, weights: Weights, batches: Sequence[EvaluationBatch]
) -> Float[np.ndarray, "*seeds"]:
    """Mean -log P in nats per target token over all sentences, of each seed of a stack."""
    return _per_token(sentence_losses(evaluate, weights, batches), batches)


def _per_token(
    losses: Float[np.ndarray, "sentences *seeds"], batches: Sequence[EvaluationBatch]
) -> Float[np.ndarray, "*seeds"]:
    """Nats of all sentences over their target tokens."""
    return np.asarray(losses.sum(axis=0) / target_tokens(batches).sum())


def sentence_losses(
    evaluate: SentenceLosses, weights: Weights, batches: Sequence[EvaluationBatch]
) -> Float[np.ndarray, "sentences *seeds"]:
    """-log P in nats of each reference, in the order of the corpus."""
    # All are under way before the first is waited for.
    results = [evaluate(weights, batch.batch) for batch in batches]
    rows = [on_host(result).T for result in results]
    return np.array(restore(rows, list(batches)), dtype=np.float64)


@dataclass(frozen=True)
class _Judge:
    """Notices divergence; on validation keeps the best weights of every seed.

    With averaging, a validation inside the window judges the mean so far, one before it the weights
    as they are; the last one judges the whole mean, and that is kept whatever came before.
    """

    stack: Stack
    settings: TrainingSettings
    evaluate: SentenceLosses
    validation: Sequence[EvaluationBatch]
    buckets: Buckets | None
    trained: list[Trained]

    @property
    def live(self) -> list[int]:
        """Which seeds have not diverged."""
        return [place for place, item in enumerate(self.trained) if item.status == "done"]

    def judge(
        self, state: TrainState, number: int, means: Float[np.ndarray, " seeds"], validate: bool
    ) -> Iterator[tuple[int, float | None, ByBucket | None]]:
        """The seeds that go on; where validation is due, each with its loss, and that by bucket."""
        rows = sentence_losses(self.evaluate, state.kept, self.validation) if validate else None
        losses = None if rows is None else np.reshape(_per_token(rows, self.validation), -1)
        whole = state.mean is not None and number == self.settings.updates
        for place in self.live:
            loss = None if losses is None else float(losses[place])
            trained = self.trained[place]
            if not math.isfinite(means[place]) or not math.isfinite(loss or 0.0):
                trained.status = "diverged"
                trained.reason = (
                    f"the loss was no longer finite by update {number}; try a lower "
                    "training.learning_rate or training.clip_norm"
                )
                continue
            best = loss is not None and loss < trained.valid_loss
            if best:
                trained.best_update = number
            if best or whole:
                trained.weights, trained.valid_loss = self.stack.part(state.kept, place), loss
            yield place, loss, None if rows is None else self._by_bucket(rows, place)

    def _by_bucket(
        self, losses: Float[np.ndarray, "sentences *seeds"], place: int
    ) -> ByBucket | None:
        """One seed's losses, where there are buckets to sum them by."""
        if self.buckets is None:
            return None
        column = losses.reshape(len(losses), -1)[:, place]
        return by_bucket(column, target_tokens(self.validation), self.buckets)


class _Clock:
    """Counts target tokens and time into ``trained``; time spent compiling counts.

    Every seed of a stack is said to have taken the time that all of them took together.
    """

    def __init__(self, done: int, updates: int, trained: list[Trained]):
        self.updates, self.trained = updates, trained
        now = time.perf_counter()
        self._start = now - trained[0].seconds
        self._opened, self._first = (done, now), (updates, now)

    def count(self, batches: Sequence[TrainingBatches], number: int) -> None:
        for trained, item in zip(self.trained, batches, strict=True):
            at = item.place(number - 1)
            lengths = item.classes[at.shape].target_lengths[at.members]
            trained.target_tokens += int(lengths.sum())

    def stop(self) -> None:
        for trained in self.trained:
            trained.seconds = time.perf_counter() - self._start

    def progress(
        self, place: int, number: int, loss: float, valid: float | None, buckets: ByBucket | None
    ) -> Progress:
        self.stop()
        trained = self.trained[place]
        speed = trained.target_tokens / trained.seconds
        now = time.perf_counter()
        if number < self._first[0]:
            self._first = number, now
        before, since = self._first if number > self._first[0] else self._opened
        left = (now - since) / (number - before) * (self.updates - number)
        return Progress(number, self.updates, loss, speed, left, valid, buckets)


def target_tokens(batches: Sequence[EvaluationBatch]) -> Int[np.ndarray, " sentences"]:
    """Target tokens of each sentence, end token included, in the order of the corpus."""
    lengths = [batch.batch.target_lengths.tolist() for batch in batches]
    return np.array(restore(lengths, list(batches)), dtype=np.int64)


def by_bucket(
    losses: Float[np.ndarray, " sentences"],
    tokens: Int[np.ndarray, " sentences"],
    buckets: Buckets,
) -> ByBucket:
    """-log P in nats of each sentence, summed by bucket."""
    return {
        name: {
            "sentences": len(rows),
            "tokens": int(tokens[rows].sum()),
            "nats": float(losses[rows].sum()),
            "standard_error": _standard_error(losses[rows], tokens[rows]),
        }
        for name, rows in buckets.items()
    }


def _standard_error(
    losses: Float[np.ndarray, " rows"], tokens: Int[np.ndarray, " rows"]
) -> float | None:
    """Of the ratio of two sums over sentences (Cochran 1977, equation 2.46, with no end to draw).

    sqrt(n / (n - 1) sum of (nats - ratio tokens)^2) / sum of tokens.
    """
    count, total = len(tokens), tokens.sum()
    if count < 2:
        return None
    deviation = losses - losses.sum() / total * tokens
    return math.sqrt(count / (count - 1) * float((deviation**2).sum())) / float(total)
