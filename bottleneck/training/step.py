"""One update: gradient, clipping, Adam or Muon, averaged weights; pure functions.

Muon changes a matrix by its momentum, made orthogonal: directions with a small gradient are learned
as fast as those with a large one (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/).
The change of an m x n matrix is multiplied by 0.2 sqrt(max(m, n)). Its entries are then as large as
Adam's usually are, so that one learning rate works for both (Liu et al. 2025, section 2.2).
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jaxtyping import Array, Float, Int, UInt32
from optax.contrib import muon

from ..corpus.batches import Batch, restore
from ..model.parts import Stack, on_host
from ..model.translator import Weights
from ..settings.concerns import TrainingSettings
from .loss import read_outs, summed_loss, token_losses


class TrainState(NamedTuple):
    """All that changes from update to update, and ``random``: the seed, as a key's two words.

    ``mean`` is the mean of the weights in the averaging window so far; before it, the weights. If
    it is not None, training keeps it, not the weights.
    """

    weights: Weights
    optimizer: optax.OptState
    update: Int[Array, "*seeds"]
    random: UInt32[Array, "*seeds 2"]
    mean: Weights | None = None


def make_optimizer(settings: TrainingSettings) -> optax.GradientTransformation:
    """Gradient norm clipped (Pascanu et al. 2013), then Adam (Kingma and Ba 2015) or Muon.

    The learning rate rises linearly, then falls linearly to ``final_learning_rate`` times itself.
    """
    peak, final = settings.learning_rate, settings.final_learning_rate
    warmup = min(settings.warmup_updates, settings.updates // 2)
    rates = optax.linear_schedule(peak, peak * final, settings.updates - warmup)
    if warmup:
        # The first rate is above 0, so that no update is wasted.
        rise = optax.linear_schedule(peak / warmup, peak, max(1, warmup - 1))
        rates = optax.join_schedules([rise, rates], [warmup])
    rule = optax.adam(rates)
    if settings.optimizer == "muon":
        # With the preconditioning (Boissin et al. 2025) three steps replace Jordan's five, in two
        # thirds of their time (results/LOG.md, 2026-11-27).
        by_muon = muon(rates, beta=0.95, consistent_rms=0.2, ns_steps=3, preconditioning="aol")
        # Adam trains the matrices with a vector per word (Jordan et al.), and vectors. optax would
        # train these by Adam with Nesterov's momentum.
        of_words = {"embedding", "output"}
        kinds = partial(
            jax.tree_util.tree_map_with_path,
            lambda path, parameter: (
                "adam"
                if parameter.ndim != 2 or of_words & {getattr(key, "key", None) for key in path}
                else "muon"
            ),
        )
        rule = optax.partition({"muon": by_muon, "adam": rule}, kinds)
    return optax.chain(optax.clip_by_global_norm(settings.clip_norm), rule)


def initial_state(weights: Weights, settings: TrainingSettings) -> TrainState:
    """The state of one seed before the first update."""
    random = jax.random.key_data(jax.random.fold_in(jax.random.key(settings.seed), 1))
    mean = weights if settings.average_last else None
    return TrainState(weights, make_optimizer(settings).init(weights), jnp.int32(0), random, mean)


def make_update(
    graph: nnx.GraphDef, settings: TrainingSettings, stack: Stack
) -> Callable[[TrainState, Batch], tuple[TrainState, Float[Array, "*seeds"]]]:
    """The update, which returns the new state and the loss; the settings' seed is not used.

    It has two programs: only that of the gradient is compiled once for each padded shape.
    """
    optimizer = make_optimizer(settings)
    # The updates before those whose weights are averaged.
    before = settings.updates - max(1, round(settings.average_last * settings.updates))

    def loss_and_gradient(state: TrainState, batch: Batch) -> tuple[Array, Weights]:
        # The key depends on the seed and the update's number, and on the part of a cut batch.
        key = jax.random.fold_in(jax.random.wrap_key_data(state.random), state.update)
        tokens = jnp.sum(batch.target_lengths)
        if stack.parts > 1:
            key = jax.random.fold_in(key, jax.lax.axis_index("rows"))
            tokens = jax.lax.psum(tokens, "rows")
        given = batch, settings.teacher_forcing, key
        result = jax.value_and_grad(
            lambda weights: (
                summed_loss(*read_outs(nnx.merge(graph, weights), *given), settings.label_smoothing)
                / tokens
            )
        )(state.weights)
        return result if stack.parts == 1 else jax.lax.psum(result, "rows")

    def apply(state: TrainState, gradient: Weights) -> TrainState:
        change, optimizer_state = optimizer.update(gradient, state.optimizer, state.weights)
        weights, done = optax.apply_updates(state.weights, change), state.update + 1
        mean = state.mean
        if mean is not None:  # by differences: float32 is enough
            count = done - before
            parts = jnp.maximum(count, 1)
            mean = jax.tree.map(
                lambda old, new: jnp.where(count > 1, old + (new - old) / parts, new), mean, weights
            )
        return TrainState(weights, optimizer_state, done, state.random, mean)

    loss_and_gradient, apply = stack.program(loss_and_gradient, cut=(1,)), stack.program(apply)

    def update(state: TrainState, batch: Batch) -> tuple[TrainState, Array]:
        rows = len(batch.target_lengths)
        if rows % stack.parts:
            # Fillers repeat the last row, and their losses do not count.
            filled = np.minimum(np.arange(rows + -rows % stack.parts), rows - 1)
            batch = Batch(*(np.asarray(field)[filled] for field in batch))
            batch.target_lengths[rows:] = 0
        loss, gradient = loss_and_gradient(state, batch)
        return apply(state, gradient), loss

    return update


def make_sentence_losses(
    graph: nnx.GraphDef, stack: Stack
) -> Callable[..., Float[np.ndarray, "sentences *seeds"]]:
    """(weights, evaluation batches) -> -log P in nats of each reference, in the corpus's order."""
    program = stack.program(
        lambda weights, batch: jnp.sum(token_losses(nnx.merge(graph, weights), batch), axis=1),
        cut=(1,),
        by_row=True,
    )
    # The list starts all of them before the wait for the first.
    return lambda weights, batches: np.array(
        restore(
            [on_host(result).T for result in [program(weights, item.batch) for item in batches]],
            batches,
        ),
        np.float64,
    )
