"""A linear probe that reads several words from a vector: softmax regression, one for each place.

Multinomial logistic regression of each of several answers on the same whitened inputs. It starts at
the linear discriminant (Fisher 1936; Rao 1948: classes that are normal with one covariance), which
is such a regression's solution where that holds and knows rare words from few examples, and goes on
by Adam (Kingma and Ba 2015) at a rate that falls to zero. Whitening leaves what a linear map can
read unchanged, and lets directions of little variance count as soon as the others.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int
from numpy import ndarray

from ..model.parts import on_host
from .reading import NO_ANSWER

LEAST_VARIANCE = 1e-6
"""Of the mean variance: less counts as noise of rounding, and is not blown up."""
BATCH, RATE = 512, 1e-2
"""Rows of each step of Adam, and its first rate, which falls to 0 in a line."""
Inputs = Float[ndarray, "rows size"]
Maps = tuple[
    Float[Array | ndarray, "places size classes"], Float[Array | ndarray, "places classes"]
]
"""Matrix and bias of the softmax of each place."""


def fit_reader(
    inputs: Inputs, answers: Int[ndarray, "rows places"], *, classes: int, seed: int, steps: int
) -> Callable[[Inputs], Int[ndarray, "rows places"]]:
    """Fit to rows whose answers are from 0 to ``classes`` - 1, or `NO_ANSWER`: such are left out.

    What is returned reads the likeliest answer at every place. Batches are drawn from the seed; the
    same seed gives the same batches for other inputs.
    """
    whiten = whitening(inputs)
    white = whiten(inputs)
    starts = [_discriminant(white, column, classes) for column in answers.T]
    maps = tuple(np.stack(part) for part in zip(*starts, strict=True))
    if steps:
        random = np.random.Generator(np.random.PCG64(seed))
        rows = random.integers(len(inputs), size=(steps, BATCH)).astype(np.int32)
        maps = _trained(maps, white, answers.astype(np.int32), rows)

    def read(others: Inputs) -> Int[ndarray, "rows places"]:
        # Rows of zeros fill the last batch up, so that every batch has one shape.
        padded = np.pad(whiten(others), ((0, -len(others) % BATCH), (0, 0)))
        batches = np.split(padded, len(padded) // BATCH)
        likeliest = [on_host(_likeliest(maps, batch)) for batch in batches]
        return np.concatenate(likeliest)[: len(others)].astype(np.int64)

    return read


def whitening(inputs: Inputs) -> Callable[[Inputs], Inputs]:
    """The map that takes these inputs to means of 0 and variances of 1, in float32."""
    inputs = inputs.astype(np.float64)
    mean = inputs.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(inputs - mean, rowvar=False).reshape(len(mean), -1))
    least = max(LEAST_VARIANCE * float(variances.mean()), np.finfo(np.float32).tiny)
    turn = axes / np.sqrt(np.maximum(variances, 0.0) + least)
    return lambda others: ((others - mean) @ turn).astype(np.float32)


def _discriminant(
    white: Inputs, answers: Int[ndarray, "rows"], classes: int
) -> tuple[Float[ndarray, "size classes"], Float[ndarray, "classes"]]:
    """The linear discriminant of one place; nothing but a bias where nothing was asked."""
    known = answers != NO_ANSWER
    rows, labels = white[known], answers[known]
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    met = counts + 0.01  # so that the unmet have a probability
    bias = np.log(met / met.sum())
    sums = np.zeros((classes, rows.shape[1]))
    if len(rows):
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        sums[present] = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    centre = sums.sum(axis=0) / max(1.0, counts.sum())
    # A class's mean is drawn to that of all as if it had been met 20 times more there.
    shrunken = (sums + 20.0 * centre) / (counts + 20.0)[:, None]
    means = sums / np.maximum(counts, 1.0)[:, None]
    within = (rows.T @ rows).astype(np.float64) - means.T @ (means * counts[:, None])
    within = within / max(1.0, counts.sum()) + LEAST_VARIANCE * np.eye(white.shape[1])
    matrix = np.linalg.solve(within, shrunken.T)
    bias -= 0.5 * (matrix * shrunken.T).sum(axis=0)
    return matrix.astype(np.float32), bias.astype(np.float32)


def _logits(maps: Maps, inputs: Float[Array, "batch size"]) -> Float[Array, "places batch classes"]:
    matrix, bias = maps
    return jnp.einsum("bs,psc->pbc", inputs, matrix) + bias[:, None, :]


@jax.jit
def _likeliest(maps: Maps, inputs: Float[Array, "batch size"]) -> Int[Array, "batch places"]:
    return jnp.argmax(_logits(maps, inputs), axis=2).T


@jax.jit
def _trained(
    start: Maps,
    inputs: Float[Array, "rows size"],
    answers: Int[Array, "rows places"],
    batches: Int[Array, "steps batch"],
) -> Maps:
    """Adam over the batches, on the mean cross-entropy of the answers that there are."""
    optimizer = optax.adam(optax.linear_schedule(RATE, 0.0, batches.shape[0]))

    def loss(maps: Maps, rows: Int[Array, " batch"]) -> Float[Array, ""]:
        asked = (answers[rows] != NO_ANSWER).astype(jnp.float32)
        right = jnp.maximum(answers[rows], 0).T
        losses = optax.softmax_cross_entropy_with_integer_labels(_logits(maps, inputs[rows]), right)
        return jnp.sum(losses * asked.T) / jnp.maximum(jnp.sum(asked), 1.0)

    def step(state: tuple, rows: Int[Array, " batch"]) -> tuple[tuple, None]:
        maps, moments = state
        change, moments = optimizer.update(jax.grad(loss)(maps, rows), moments)
        return (optax.apply_updates(maps, change), moments), None

    return jax.lax.scan(step, (start, optimizer.init(start)), batches)[0][0]
