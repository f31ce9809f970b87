"""Many updates a dispatch: the corpus lies on the device, and batches are picked there.

For a host that needs longer to send an update than the device takes for it. Such a host
sends which rows each of the next updates trains on, and one program runs them all, each in the
padded shape of its class. Batches, their order and the random numbers are those of single updates.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int32

from ..corpus.batches import Batch, TrainingBatches
from ..model.host import on_host
from ..settings.concerns import TrainingSettings
from .stack import Stack
from .step import TrainState, UpdateStep, make_update

LARGEST = 256 * 2**20
"""Bytes of ids that are kept on a device; a larger corpus is sent batch by batch."""

Losses = Sequence[Float[np.ndarray | Array, "*seeds"]]
Updates = Callable[[TrainState, range], tuple[TrainState, Losses]]
"""Trains on the batches of these numbers (from 0), at most a dispatch; the loss of each."""


class Plan(NamedTuple):
    """What each update of a dispatch trains on: a class, and rows of it.

    Rows are filled up with 0 to those of the largest batch, updates to those of a full dispatch.
    """

    shapes: Int32[np.ndarray, "updates"]
    rows: Int32[np.ndarray, "updates *seeds batch"]


def updates_together(asked: int | None, batches: TrainingBatches) -> int:
    """How many updates are one dispatch at most: as asked, or else one.

    What more gain on a GPU has not been measured, and one program for all shapes takes long to
    compile. Of a corpus too large for the device every batch is sent, and batches that are cut
    among several cores are sent one by one as well.
    """
    if jax.default_backend() == "cpu" and jax.local_device_count() > 1:
        return 1
    if sum(ids.nbytes for held in batches.classes for ids in held) > LARGEST:
        return 1
    return asked or 1


def make_updates(
    graph: nnx.GraphDef,
    settings: TrainingSettings,
    stack: Stack,
    batches: Sequence[TrainingBatches],
    together: int,
) -> Updates:
    """Updates by their numbers, at most ``together`` a call; ``batches`` differ in their seed."""
    update = make_update(graph, settings, stack)
    if together == 1:
        return partial(_from_host, update, stack, batches)
    program = make_program(update, stack, batches[0].batch_sizes, together)
    return partial(_on_device, program, jax.device_put(batches[0].classes), batches, together)


def _from_host(
    update: UpdateStep,
    stack: Stack,
    batches: Sequence[TrainingBatches],
    state: TrainState,
    numbers: range,
) -> tuple[TrainState, Losses]:
    """A single update; its loss stays on the device until somebody looks at it."""
    (number,) = numbers
    state, loss = update(state, stack.join([each.batch(number) for each in batches]))
    return state, [loss]


Program = Callable[[TrainState, Sequence[Batch], Plan, int], tuple[TrainState, Array]]


def _on_device(
    program: Program,
    classes: Sequence[Batch],
    batches: Sequence[TrainingBatches],
    together: int,
    state: TrainState,
    numbers: range,
) -> tuple[TrainState, Losses]:
    """All updates as one dispatch."""
    state, losses = program(state, classes, make_plan(batches, numbers, together), len(numbers))
    found = on_host(losses).reshape(together, len(batches))
    return state, list(found[: len(numbers)])


def make_plan(batches: Sequence[TrainingBatches], numbers: range, together: int) -> Plan:
    """The classes and rows of these updates; seeds are an axis where there are several."""
    shapes = np.zeros(together, np.int32)
    rows = np.zeros((together, len(batches), max(batches[0].batch_sizes)), np.int32)
    for place, number in enumerate(numbers):
        for seed, each in enumerate(batches):
            # The order of the shapes is the same for every seed (``TrainingBatches``).
            shapes[place], members = each.place(number)
            rows[place, seed, : len(members)] = members
    return Plan(shapes, rows if len(batches) > 1 else rows[:, 0])


def make_program(
    update: UpdateStep, stack: Stack, batch_sizes: tuple[int, ...], together: int
) -> Program:
    """The jitted dispatch; the same program whatever its number of updates.

    Around the seeds' axis, not along it: under ``vmap`` a switch computes all its branches.
    """
    seeds = () if stack.seeds == 1 else (stack.seeds,)

    @jax.jit
    def program(
        state: TrainState, classes: Sequence[Batch], plan: Plan, count: Array
    ) -> tuple[TrainState, Float[Array, "updates *seeds"]]:
        def of_shape(held: Batch, size: int) -> UpdateStep:
            def train_on(state: TrainState, rows: Array) -> tuple[TrainState, Array]:
                return update(state, Batch(*(ids[rows[..., :size]] for ids in held)))

            return train_on

        branches = [of_shape(*each) for each in zip(classes, batch_sizes, strict=True)]

        def step(number: Array, carry: tuple[TrainState, Array]) -> tuple[TrainState, Array]:
            state, losses = carry
            at = plan.shapes[number], plan.rows[number]
            state, loss = jax.lax.switch(at[0], branches, state, at[1])
            return state, losses.at[number].set(loss)

        return jax.lax.fori_loop(0, count, step, (state, jnp.zeros((together, *seeds))))

    return program
