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
STEPS = 200
BATCH = 512
RATE = 1e-2
"""Steps of Adam, rows of each, and its first rate, which falls to 0 in a line."""


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


@dataclass(frozen=True, eq=False)
class LinearReader:
    """A fitted probe: the whitening of its inputs, and a softmax for each place."""

    whitening: Whitening
    maps: Maps

    def read(self, inputs: Float[ndarray, "rows size"]) -> Int[ndarray, "rows places"]:
        """The likeliest answer at every place."""
        white = self.whitening.apply(inputs)
        cuts = range(0, len(white), BATCH)
        found = [_likeliest(self.maps, _filled(white[cut : cut + BATCH])) for cut in cuts]
        return np.concatenate([on_host(each) for each in found])[: len(white)].astype(np.int64)


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
    held = inputs.astype(np.float64)
    mean = held.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(held - mean, rowvar=False).reshape(len(mean), -1))
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
    sums = _sums(rows, labels, classes)
    centre = sums.sum(axis=0) / max(1.0, counts.sum())
    means = (sums + SHRINKAGE * centre) / (counts + SHRINKAGE)[:, None]
    own = sums / np.maximum(counts, 1.0)[:, None]
    within = (rows.T @ rows).astype(np.float64) - own.T @ (own * counts[:, None])
    within = within / max(1.0, counts.sum()) + LEAST_VARIANCE * np.eye(white.shape[1])
    matrix = np.linalg.solve(within, means.T)
    bias -= 0.5 * (matrix * means.T).sum(axis=0)
    return matrix.astype(np.float32), bias.astype(np.float32)


def _sums(
    rows: Float[ndarray, "rows size"], labels: Int[ndarray, "rows"], classes: int
) -> Float[ndarray, "classes size"]:
    """The sum of each class's rows."""
    sums = np.zeros((classes, rows.shape[1]))
    if len(rows):
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        sums[present] = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    return sums


@jax.jit
def _trained(
    start: Maps,
    inputs: Float[Array, "rows size"],
    answers: Int[Array, "rows places"],
    batches: Int[Array, "steps batch"],
) -> Maps:
    """Adam over the batches."""
    optimizer = optax.adam(optax.linear_schedule(RATE, 0.0, batches.shape[0]))

    def step(state: tuple, rows: Int[Array, " batch"]) -> tuple[tuple, None]:
        maps, moments = state
        slopes = jax.grad(_loss)(maps, inputs[rows], answers[rows])
        change, moments = optimizer.update(slopes, moments)
        return (optax.apply_updates(maps, change), moments), None

    return jax.lax.scan(step, (start, optimizer.init(start)), batches)[0][0]


def _loss(
    maps: Maps, inputs: Float[Array, "batch size"], answers: Int[Array, "batch places"]
) -> Float[Array, ""]:
    """Mean cross-entropy of the answers that there are."""
    asked = (answers != NO_ANSWER).astype(jnp.float32)
    logits = _logits(maps, inputs)
    right = jnp.maximum(answers, 0).T[:, :, None]
    chosen = jnp.take_along_axis(logits, right, axis=2)[:, :, 0]
    losses = jax.nn.logsumexp(logits, axis=2) - chosen
    return jnp.sum(losses * asked.T) / jnp.maximum(jnp.sum(asked), 1.0)


def _logits(maps: Maps, inputs: Float[Array, "batch size"]) -> Float[Array, "places batch classes"]:
    return jnp.einsum("bs,psc->pbc", inputs, maps.matrix) + maps.bias[:, None, :]


@jax.jit
def _likeliest(maps: Maps, inputs: Float[Array, "batch size"]) -> Int[Array, "batch places"]:
    return jnp.argmax(_logits(maps, inputs), axis=2).T


def _filled(rows: Float[ndarray, "rows size"]) -> Float[ndarray, "batch size"]:
    """Rows of zeros behind, so that every batch has one shape."""
    return np.pad(rows, ((0, BATCH - len(rows)), (0, 0)))
