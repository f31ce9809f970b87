"""How much the loss of each target word depends on each source word: norms of gradients.

A norm is that of the gradient of one target word's -log P at the embedding of one source word.
Where a run reads subwords, the norm at a word is that of the gradient at all of its pieces; of the
losses of a target word's pieces it is the root mean square.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.batches import evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.subwords import backwards, by_word
from ..model.attention import Memory
from ..model.translator import Weights, real_positions
from ..training.loss import decoder_inputs
from .subject import Subject

BATCH = 20
"""Sentences whose gradients are taken at once."""


def gradient_norms(
    subject: Subject, weights: Weights, pairs: Sequence[SentencePair]
) -> list[Float[np.ndarray, "_ _"]]:
    """The norms of each pair, target x source words.

    Source words are in the order of reading; the end tokens are included on both sides.
    """
    encoded = subject.encode(list(pairs))
    batches = evaluation_batches(encoded, BATCH)
    norms = [np.asarray(token_norms(subject.graph, weights, *part.batch[:3])) for part in batches]
    lengths = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    of_words = []
    for pair, rows, (target_length, source_length) in zip(
        pairs, restore(norms, batches), lengths, strict=True
    ):
        source, target = subject.shares(pair)
        if subject.settings.model.reverse_source:
            source = backwards(source)
        squares = rows[:target_length, :source_length].astype(np.float64) ** 2
        of_words.append(np.sqrt(by_word(squares, source, target)))
    return of_words


@partial(jax.jit, static_argnums=0)
def token_norms(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
    target: Int[Array, "batch target"],
) -> Float[Array, "batch target source"]:
    """The norms at the model's tokens; at padding they mean nothing.

    One backward pass a target position, for all sentences at once: their losses are independent.
    """
    translator = nnx.merge(graph, weights)
    decoder = translator.decoder

    def read_outs(embedded: Array) -> Array:
        mask = real_positions(lengths, embedded.shape[1])
        values, last = translator.encoder(embedded, mask)
        memory = Memory(values, decoder.attention.keys(values), mask, last)
        return decoder(decoder_inputs(target), memory)[0]

    def summed_losses(outputs: Array) -> Array:
        scores = jax.nn.log_softmax(decoder.logits(outputs))
        return -jnp.sum(jnp.take_along_axis(scores, target.T[..., None], axis=-1))

    def norms_of(position: Array) -> Array:
        alone = jnp.zeros_like(slopes).at[position].set(slopes[position])
        return jnp.sqrt(jnp.sum(back(alone)[0] ** 2, axis=-1))

    outputs, back = jax.vjp(read_outs, translator.encoder.embed(source))
    # The loss of a position depends on its own read-out alone: the sum's gradient has all of them.
    slopes = jax.grad(summed_losses)(outputs)
    return jnp.swapaxes(jax.lax.map(norms_of, jnp.arange(target.shape[1])), 0, 1)
