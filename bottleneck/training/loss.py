"""The loss: -sum log P(y*_t), under teacher forcing at a ratio of 0.5 to 1.

Logits are the largest arrays of a training step (positions x vocabulary). Here they are computed
for one chunk of real positions at a time, together with the gradient: they are never kept, nor
computed twice.

With label smoothing (Szegedy et al. 2016, section 7) a position's loss is its cross-entropy against
a distribution: (1 - smoothing) on the target, and the rest spread evenly over all tokens that an
output may have.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..corpus.batches import Batch
from ..corpus.vocabulary import BOS, PAD
from ..model.decoder import OutputLayer
from ..model.recurrence import Key
from ..model.translator import Translator

CHUNK = 256  # positions whose logits are in memory at once


def read_outs(
    translator: Translator, batch: Batch, ratio: float = 1.0, key: Key = None
) -> tuple[Array, OutputLayer, Array, Array]:
    """What the output layer reads at every position; the layer; targets; whether they are real.

    All positions are on one axis. The previous word is the true one with probability ``ratio``
    (without a key always), else the model's best: scheduled sampling (Bengio et al. 2015), without
    a gradient through the choice.
    """
    decoder = translator.decoder
    # The word before each position: the start token, then the target shifted by one.
    true_words = jnp.pad(batch.target[:, :-1], ((0, 0), (1, 0)), constant_values=BOS)
    if ratio == 1.0 or key is None:
        memory = translator.encode(batch.source, batch.source_lengths, key)
        outputs = decoder(true_words, memory, key)[0]
    else:
        keys = [jax.random.fold_in(key, place) for place in range(2)]
        memory = translator.encode(batch.source, batch.source_lengths, keys[0])
        forced = jax.random.bernoulli(keys[1], ratio, true_words.T.shape)

        def step(carry: tuple, at: tuple) -> tuple[tuple, Array]:
            states, best_word = carry
            true_word, use_true = at
            word = jnp.where(use_true, true_word, best_word)
            states, output, _ = decoder.advance(states, word, memory, key)
            logits = decoder.output_layer().logits(jax.lax.stop_gradient(output))
            return (states, jnp.argmax(logits, axis=-1).astype(word.dtype)), output

        # The first word is always the start token.
        start = decoder.initial(memory), true_words[:, 0]
        outputs = jax.lax.scan(step, start, (true_words.T, forced))[1]
    states = outputs.reshape(-1, outputs.shape[-1])
    target = jnp.asarray(batch.target).T.reshape(-1)
    real = jnp.arange(batch.target.shape[1])[None] < batch.target_lengths[:, None]
    return states, decoder.output_layer(), target, real.T.reshape(-1)


def token_losses(translator: Translator, batch: Batch) -> Float[Array, "batch target"]:
    """-log P in nats of every target token after the true words, 0 on padding."""
    states, layer, target, real = read_outs(translator, batch)
    packed, place, chunks = _pack(states, target, real)
    losses = jax.lax.fori_loop(
        0,
        chunks,
        lambda number, before: jax.lax.dynamic_update_slice_in_dim(
            before, _chunk(packed, number, layer, 0.0)[3], number * CHUNK, 0
        ),
        jnp.zeros(len(packed[0]), states.dtype),
    )
    return losses[place].reshape(batch.target.shape[::-1]).T


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def summed_loss(
    states: Float[Array, "positions width"],
    layer: OutputLayer,
    target: Int[Array, " positions"],
    real: Bool[Array, " positions"],
    smoothing: float = 0.0,
) -> Float[Array, ""]:
    """-log P in nats, or the smoothed loss, summed over real targets; its gradient is by hand."""
    return _forward(states, layer, target, real, smoothing)[0]


def _forward(
    states: Array, layer: OutputLayer, target: Array, real: Array, smoothing: float
) -> tuple[Array, tuple[Array, OutputLayer]]:
    packed, place, chunks = _pack(states, target, real)

    def body(number: Array, carried: tuple) -> tuple:
        total, d_states, d_matrix, d_bias = carried
        chunk, words, real, losses, exponentials, sums, even = _chunk(
            packed, number, layer, smoothing
        )
        share = jnp.where(real, 1.0, 0.0)[:, None] / sums
        # The target distribution of the losses, 0 on fillers.
        hit = jax.nn.one_hot(words, exponentials.shape[1], dtype=bool) & real[:, None]
        aim = jnp.where(hit, 1.0 - smoothing, 0.0)
        if smoothing:
            aim = aim + jnp.where(real[:, None], smoothing * even, 0.0)
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


summed_loss.defvjp(
    _forward,
    lambda _, gradients, scale: (*jax.tree.map(lambda part: scale * part, gradients), None, None),
)


def _pack(states: Array, target: Array, real: Array) -> tuple[tuple[Array, ...], Array, Array]:
    """Chunks, real positions first; each position's new place; how many chunks have real ones."""
    order = jnp.argsort(jnp.logical_not(real), stable=True)
    place = jnp.argsort(order)
    fillers = 0, -len(order) % CHUNK
    whole, real = jnp.pad(order, fillers), jnp.pad(real[order], fillers)
    chunks = -(-jnp.sum(real, dtype=jnp.int32) // CHUNK)
    return (states[whole], target[whole], real), place, chunks


def _chunk(
    packed: tuple[Array, ...], number: Array, layer: OutputLayer, smoothing: float
) -> tuple[Array, ...]:
    """A chunk's states, targets, which are real; losses; exp(logit - max), its sum; even target."""
    states, target, real = (
        jax.lax.dynamic_slice_in_dim(part, number * CHUNK, CHUNK) for part in packed
    )
    logits = layer.logits(states)
    peak = jnp.max(logits, axis=1, keepdims=True)
    exponentials = jnp.exp(logits - peak)
    total = jnp.sum(exponentials, axis=1, keepdims=True)
    chosen = jnp.take_along_axis(logits, target[:, None], axis=1)
    # Equal probability for every token that an output may have.
    allowed = jnp.ones((1, logits.shape[1]), logits.dtype).at[:, jnp.array([PAD, BOS])].set(0)
    even = allowed / (logits.shape[1] - 2)
    if smoothing:
        evenly = jnp.sum(logits * jnp.broadcast_to(even, logits.shape), axis=1)[:, None]
        chosen = (1.0 - smoothing) * chosen + smoothing * evenly
    losses = (jnp.log(total) + peak - chosen)[:, 0]
    return states, target, real, jnp.where(real, losses, 0.0), exponentials, total, even
