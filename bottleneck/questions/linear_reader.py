"""A linear probe that reads several words from a vector: softmax regression, one for each place.

Multinomial logistic regression of each of several answers on the same whitened inputs. It starts at
the linear discriminant (Fisher 1936; Rao 1948: classes that are normal with one covariance), which
is such a regression's solution where that holds and knows rare words from few examples, and goes on
by Adam (Kingma and Ba 2015) at a rate that falls to zero. Whitening leaves what a linear map can
read unchanged, and lets directions of little variance count as soon as the others.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int
from numpy import ndarray

from ..model.parts import on_host

NO_ANSWER = -1
"""What a row has for a place at which nothing is asked of it."""
LEAST_VARIANCE = 1e-6
"""Of the mean variance: less counts as noise of rounding, and is not blown up."""
SHRINKAGE = 20.0
"""A class's mean is drawn to that of all as if it had been met so many times more there."""
UNSEEN = 0.01
"""How often a class counts as met beyond its times, so that the unmet have a probability."""
BATCH, RATE = 512, 1e-2
"""Rows of each step of Adam, and its first rate, which falls to 0 in a line."""


class Whitening(NamedTuple):
    """Off with the mean, then turned and scaled to variances of 1."""

    mean: Float[ndarray, "size"]
    turn: Float[ndarray, "size size"]

    def apply(self, inputs: Float[ndarray, "rows size"]) -> Float[ndarray, "rows size"]:
        """Whitened, float32."""
        return ((inputs - self.mean) @ self.turn).astype(np.float32)


class Maps(NamedTuple):
    """Weights of the softmax of each place."""

    matrix: Float[Array, "places size classes"] | Float[ndarray, "places size classes"]
    bias: Float[Array, "places classes"] | Float[ndarray, "places classes"]

    def logits(self, inputs: Float[Array, "batch size"]) -> Float[Array, "places batch classes"]:
        """Of every class at each place."""
        return jnp.einsum("bs,psc->pbc", inputs, self.matrix) + self.bias[:, None, :]


@dataclass(frozen=True, eq=False)
class LinearReader:
    """A fitted probe: the whitening of its inputs, and a softmax for each place."""

    whitening: Whitening
    maps: Maps

    def read(self, inputs: Float[ndarray, "rows size"]) -> Int[ndarray, "rows places"]:
        """The likeliest answer at every place."""
        rows = len(inputs)
        # Rows of zeros fill the last batch up, so that every batch has one shape.
        white = np.pad(self.whitening.apply(inputs), ((0, -rows % BATCH), (0, 0)))
        batches = np.split(white, len(white) // BATCH)
        answers = [on_host(_likeliest(self.maps, batch)) for batch in batches]
        return np.concatenate(answers)[:rows].astype(np.int64)


def fit_reader(
    inputs: Float[ndarray, "rows size"],
    answers: Int[ndarray, "rows places"],
    *,
    classes: int,
    seed: int,
    steps: int,
) -> LinearReader:
    """Fit to rows whose answers are from 0 to ``classes`` - 1, or `NO_ANSWER`: such are left out.

    Batches are drawn from the seed; the same seed gives the same batches for other inputs.
    """
    whitening = whiten(inputs)
    white = whitening.apply(inputs)
    starts = [_discriminant(white, column, classes) for column in answers.T]
    maps = Maps(*(np.stack(part) for part in zip(*starts, strict=True)))
    if steps:
        random = np.random.Generator(np.random.PCG64(seed))
        rows = random.integers(len(inputs), size=(steps, BATCH)).astype(np.int32)
        maps = _trained(maps, white, answers.astype(np.int32), rows)
    return LinearReader(whitening, maps)


def whiten(inputs: Float[ndarray, "rows size"]) -> Whitening:
    """The whitening of these inputs (float64)."""
    inputs = inputs.astype(np.float64)
    mean = inputs.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(inputs - mean, rowvar=False).reshape(len(mean), -1))
    least = max(LEAST_VARIANCE * float(variances.mean()), np.finfo(np.float32).tiny)
    return Whitening(mean, axes / np.sqrt(np.maximum(variances, 0.0) + least))


def _discriminant(
    white: Float[ndarray, "rows size"], answers: Int[ndarray, "rows"], classes: int
) -> tuple[Float[ndarray, "size classes"], Float[ndarray, "classes"]]:
    """The linear discriminant of one place; nothing but a bias where nothing was asked."""
    known = answers != NO_ANSWER
    rows, labels = white[known], answers[known]
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    bias = np.log((counts + UNSEEN) / (counts + UNSEEN).sum())
    sums = np.zeros((classes, rows.shape[1]))
    if len(rows):
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        sums[present] = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    centre = sums.sum(axis=0) / max(1.0, counts.sum())
    shrunken = (sums + SHRINKAGE * centre) / (counts + SHRINKAGE)[:, None]
    means = sums / np.maximum(counts, 1.0)[:, None]
    within = (rows.T @ rows).astype(np.float64) - means.T @ (means * counts[:, None])
    within = within / max(1.0, counts.sum()) + LEAST_VARIANCE * np.eye(white.shape[1])
    matrix = np.linalg.solve(within, shrunken.T)
    bias -= 0.5 * (matrix * shrunken.T).sum(axis=0)
    return matrix.astype(np.float32), bias.astype(np.float32)


@jax.jit
def _trained(
    start: Maps,
    inputs: Float[Array, "rows size"],
    answers: Int[Array, "rows places"],
    batches: Int[Array, "steps batch"],
) -> Maps:
    """Adam over the batches."""
    optimizer = optax.adam(optax.linear_schedule(RATE, 0.0, batches.shape[0]))

    def loss(maps: Maps, rows: Int[Array, " batch"]) -> Float[Array, ""]:
        """Mean cross-entropy of the answers that there are."""
        logits = maps.logits(inputs[rows])
        asked = (answers[rows] != NO_ANSWER).astype(jnp.float32)
        right = jnp.maximum(answers[rows], 0).T[:, :, None]
        chosen = jnp.take_along_axis(logits, right, axis=2)[:, :, 0]
        losses = jax.nn.logsumexp(logits, axis=2) - chosen
        return jnp.sum(losses * asked.T) / jnp.maximum(jnp.sum(asked), 1.0)

    def step(state: tuple, rows: Int[Array, " batch"]) -> tuple[tuple, None]:
        maps, moments = state
        change, moments = optimizer.update(jax.grad(loss)(maps, rows), moments)
        return (optax.apply_updates(maps, change), moments), None

    return jax.lax.scan(step, (start, optimizer.init(start)), batches)[0][0]


@jax.jit
def _likeliest(maps: Maps, inputs: Float[Array, "batch size"]) -> Int[Array, "batch places"]:
    return jnp.argmax(maps.logits(inputs), axis=2).T
