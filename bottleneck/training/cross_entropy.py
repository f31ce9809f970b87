"""Output layer and cross-entropy in one, a chunk of real positions at a time.

Logits are the largest arrays of a training step (positions x vocabulary). Here they exist a chunk
at a time, are never computed on padding, and the gradient of the sum of losses is taken while
they are there, so that they are neither kept nor computed twice. The tests hold it equal to the
plain formula: log-softmax of all logits, and autodiff.

With label smoothing (Szegedy et al. 2016, section 7) a position's loss is its cross-entropy against
(1 - smoothing) on the target and the rest spread evenly over all that an output may hold: words,
the unknown word, the end. Padding and the start token get nothing, since no search may say them.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..corpus.vocabulary import BOS, PAD
from ..model.decoder import OutputLayer

CHUNK = 256
"""Positions whose logits exist at once."""

Gradients = tuple[Float[Array, "positions width"], OutputLayer]
Packed = tuple[Float[Array, "places width"], Int[Array, " places"], Bool[Array, " places"]]
"""States, targets, and which of them are real, of whole chunks."""


def _pack(
    states: Float[Array, "positions width"],
    target: Int[Array, " positions"],
    real: Bool[Array, " positions"],
) -> tuple[Packed, Int[Array, " positions"], Int[Array, ""]]:
    """Real positions first, filled up to whole chunks; where each one went; how many chunks."""
    order = jnp.argsort(jnp.logical_not(real), stable=True)
    place = jnp.argsort(order)
    filler = -len(order) % CHUNK
    whole = jnp.concatenate([order, jnp.zeros(filler, order.dtype)])
    known = jnp.concatenate([real[order], jnp.zeros(filler, bool)])
    chunks = -(-jnp.sum(known, dtype=jnp.int32) // CHUNK)
    return (states[whole], target[whole], known), place, chunks


def _chunk(packed: Packed, number: Int[Array, ""]) -> tuple[Array, Array, Array]:
    return tuple(jax.lax.dynamic_slice_in_dim(part, number * CHUNK, CHUNK) for part in packed)


def _even(logits: Float[Array, "positions vocabulary"]) -> Float[Array, "1 vocabulary"]:
    """Equal probability for whatever an output may hold."""
    said = jnp.ones((1, logits.shape[1]), logits.dtype).at[:, jnp.array([PAD, BOS])].set(0)
    return said / (logits.shape[1] - 2)


def _losses(
    logits: Array, target: Array, real: Array, smoothing: float
) -> tuple[Array, Array, Array]:
    """Losses of one chunk, 0 on fillers; beside them exp(logit - max) and its sum."""
    peak = jnp.max(logits, axis=1, keepdims=True)
    exponentials = jnp.exp(logits - peak)
    total = jnp.sum(exponentials, axis=1, keepdims=True)
    chosen = jnp.take_along_axis(logits, target[:, None], axis=1)
    if smoothing:
        evenly = jnp.sum(logits * jnp.broadcast_to(_even(logits), logits.shape), axis=1)[:, None]
        chosen = (1.0 - smoothing) * chosen + smoothing * evenly
    losses = (jnp.log(total) + peak - chosen)[:, 0]
    return jnp.where(real, losses, 0.0), exponentials, total


def position_losses(
    states: Float[Array, "positions width"],
    layer: OutputLayer,
    target: Int[Array, " positions"],
    real: Bool[Array, " positions"],
    smoothing: float = 0.0,
) -> Float[Array, " positions"]:
    """-log P(y*) in nats at every position, 0 on padding; smoothed only if so asked."""
    packed, place, chunks = _pack(states, target, real)

    def body(number: Array, carried: Array) -> Array:
        chunk, words, known = _chunk(packed, number)
        losses = _losses(layer.logits(chunk), words, known, smoothing)[0]
        return jax.lax.dynamic_update_slice_in_dim(carried, losses, number * CHUNK, 0)

    start = jnp.zeros(len(packed[0]), states.dtype)
    return jax.lax.fori_loop(0, chunks, body, start)[place]


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def summed_loss(
    states: Float[Array, "positions width"],
    layer: OutputLayer,
    target: Int[Array, " positions"],
    real: Bool[Array, " positions"],
    smoothing: float = 0.0,
) -> Float[Array, ""]:
    """Sum of ``position_losses``; its gradient comes with it."""
    return jnp.sum(position_losses(states, layer, target, real, smoothing))


def _forward(
    states: Array, layer: OutputLayer, target: Array, real: Array, smoothing: float
) -> tuple[Array, Gradients]:
    packed, place, chunks = _pack(states, target, real)

    def body(number: Array, carried: tuple) -> tuple:
        total, d_states, d_matrix, d_bias = carried
        chunk, words, known = _chunk(packed, number)
        losses, exponentials, sums = _losses(layer.logits(chunk), words, known, smoothing)
        share = jnp.where(known, 1.0, 0.0)[:, None] / sums
        # The probabilities that the losses are against, 0 on fillers.
        hit = jax.nn.one_hot(words, exponentials.shape[1], dtype=bool) & known[:, None]
        aim = jnp.where(hit, 1.0 - smoothing, 0.0)
        if smoothing:
            aim = aim + jnp.where(known[:, None], smoothing * _even(exponentials), 0.0)
        d_logits = exponentials * share - aim
        d_chunk = d_logits @ layer.matrix.T
        return (
            total + jnp.sum(losses),
            jax.lax.dynamic_update_slice_in_dim(d_states, d_chunk, number * CHUNK, 0),
            d_matrix + chunk.T @ d_logits,
            d_bias + jnp.sum(d_logits, axis=0),
        )

    start = (0.0, jnp.zeros_like(packed[0]), *map(jnp.zeros_like, layer))
    total, d_states, *d_layer = jax.lax.fori_loop(0, chunks, body, start)
    return total, (d_states[place], OutputLayer(*d_layer))


def _backward(
    _: float, gradients: Gradients, scale: Array
) -> tuple[Array, OutputLayer, None, None]:
    scaled = jax.tree.map(partial(jnp.multiply, scale), gradients)
    return *scaled, None, None


summed_loss.defvjp(_forward, _backward)
