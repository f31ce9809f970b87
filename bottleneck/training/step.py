"""One update: gradient, optimizer, a mean of weights; pure functions of state and batch."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from ..model.parts import fill
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .loss import Sentences, summed_losses, token_losses
from .optimizer import make_optimizer
from .stack import Stack

ONE = Stack(1)


class TrainState(NamedTuple):
    """All that changes from update to update, and ``random``: the seed, as a key's two words.

    ``mean`` is that of the weights after each update of the averaging window so far; before the
    window it is the weights, and without averaging there is none.
    """

    weights: Weights
    optimizer: optax.OptState
    update: Int[Array, "*seeds"]
    random: UInt32[Array, "*seeds 2"]
    mean: Weights | None = None

    @property
    def kept(self) -> Weights:
        """What would be kept if training ended here."""
        return self.weights if self.mean is None else self.mean

    def key(self) -> PRNGKeyArray:
        """The update's own key: it depends on the seed and the update's number alone."""
        return jax.random.fold_in(jax.random.wrap_key_data(self.random), self.update)


def initial_state(weights: Weights, settings: TrainingSettings) -> TrainState:
    """The state of one seed before the first update."""
    random = jax.random.key_data(jax.random.fold_in(jax.random.key(settings.seed), 1))
    mean = weights if averaged_updates(settings) else None
    return TrainState(weights, make_optimizer(settings).init(weights), jnp.int32(0), random, mean)


def averaged_updates(settings: TrainingSettings) -> int:
    """How many of the last updates the kept weights are the mean of; 0 without averaging."""
    if settings.average_last == 0:
        return 0
    return max(1, round(settings.average_last * settings.updates))


def running_mean(mean: Weights, weights: Weights, count: Int[Array, ""]) -> Weights:
    """The mean of ``count`` weights, from that of all but the last; up to the first, the last.

    By differences, so that float32 is enough: what is added is small beside the mean.
    """
    parts = jnp.maximum(count, 1)

    def leaf(mean: Array, new: Array) -> Array:
        return jnp.where(count > 1, mean + (new - mean) / parts, new)

    return jax.tree.map(leaf, mean, weights)


UpdateStep = Callable[[TrainState, Sentences], tuple[TrainState, Float[Array, "*seeds"]]]


def make_update(graph: nnx.GraphDef, settings: TrainingSettings, stack: Stack = ONE) -> UpdateStep:
    """The update; of the settings, all but the seed, which the state holds.

    Two programs: only the gradient's depends on the padded shape and is compiled for each. Where
    the stack cuts batches, each part has the gradient of its own sentences' share of the loss.
    """
    optimizer = make_optimizer(settings)
    before = settings.updates - averaged_updates(settings)

    def slope(state: TrainState, batch: Sentences) -> tuple[Float[Array, ""], Weights]:
        key = stack.part_key(state.key())
        tokens = stack.total(jnp.sum(batch.target_lengths))

        def objective(weights: Weights) -> Float[Array, ""]:
            translator = nnx.merge(graph, weights)
            given = settings.teacher_forcing, key, settings.label_smoothing
            return summed_losses(translator, batch, *given) / tokens

        return stack.total(jax.value_and_grad(objective)(state.weights))

    def apply(state: TrainState, gradient: Weights) -> TrainState:
        change, optimizer_state = optimizer.update(gradient, state.optimizer, state.weights)
        weights, done = optax.apply_updates(state.weights, change), state.update + 1
        mean = None if state.mean is None else running_mean(state.mean, weights, done - before)
        return TrainState(weights, optimizer_state, done, state.random, mean)

    slope, apply = stack.program(slope, cut=(1,)), stack.program(apply)

    def update(state: TrainState, batch: Sentences) -> tuple[TrainState, Float[Array, "*seeds"]]:
        loss, gradient = slope(state, _even(batch, stack.parts))
        return apply(state, gradient), loss

    return update


def _even(batch: Sentences, parts: int) -> Sentences:
    """A batch whose rows divide evenly: fillers repeat the last, and their losses count nothing."""
    rows = len(batch.target_lengths)
    if rows % parts == 0:
        return batch
    filled = type(batch)(*(fill(parts, np.asarray(field)) for field in batch))
    counted = np.where(np.arange(len(filled.target_lengths)) < rows, filled.target_lengths, 0)
    return filled._replace(target_lengths=counted.astype(np.int32))


SentenceLosses = Callable[[Weights, Sentences], Float[Array, "*seeds batch"]]


def make_sentence_losses(graph: nnx.GraphDef, stack: Stack = ONE) -> SentenceLosses:
    """The jitted evaluation: -log P in nats of each reference, summed over its tokens.

    All seeds of a stack are evaluated on the same batch.
    """

    def losses(weights: Weights, batch: Sentences) -> Float[Array, " batch"]:
        return jnp.sum(token_losses(nnx.merge(graph, weights), batch), axis=1)

    return stack.by_row(losses, (1,))
