"""The loss (LECTURE D): -sum log P(y*_t), under teacher forcing at a ratio of 0.5 to 1."""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..model.translator import Translator, real_positions
from ..settings.symbols import BOS


@runtime_checkable
class Sentences(Protocol):
    """A padded batch: token ids and true lengths, end tokens included."""

    source: Int[Array, "batch source"]
    source_lengths: Int[Array, " batch"]
    target: Int[Array, "batch target"]
    target_lengths: Int[Array, " batch"]


def decoder_inputs(target: Int[Array, "batch target"]) -> Int[Array, "batch target"]:
    """The words before each position: the start token, then the target shifted by one."""
    start = jnp.full((target.shape[0], 1), BOS, target.dtype)
    return jnp.concatenate([start, target[:, :-1]], axis=1)


def negative_log_likelihood(
    logits: Float[Array, "batch target vocabulary"],
    target: Int[Array, "batch target"],
    real: Bool[Array, "batch target"],
) -> Float[Array, "batch target"]:
    """-log P(y*_t) in nats at every position, 0 on padding."""
    log_norm = jax.nn.logsumexp(logits, axis=-1)
    chosen = jnp.take_along_axis(logits, target[:, :, None], axis=-1)[:, :, 0]
    return jnp.where(real, log_norm - chosen, 0.0)


def token_losses(
    translator: Translator, batch: Sentences, key: PRNGKeyArray | None = None
) -> Float[Array, "batch target"]:
    """Teacher-forced -log P in nats of every target token, 0 on padding."""
    inputs = decoder_inputs(batch.target)
    logits, _ = translator.logits(batch.source, batch.source_lengths, inputs, key)
    real = real_positions(batch.target_lengths, batch.target.shape[1])
    return negative_log_likelihood(logits, batch.target, real)


def sampled_token_losses(
    translator: Translator, batch: Sentences, ratio: float, key: PRNGKeyArray
) -> Float[Array, "batch target"]:
    """Like ``token_losses``, but each word before is the true one with probability ``ratio``,

    else the model's own best word (scheduled sampling, Bengio et al. 2015). No gradient flows
    through the choice.
    """
    memory = translator.encode(batch.source, batch.source_lengths, jax.random.fold_in(key, 0))
    true_words = decoder_inputs(batch.target).T
    forced = jax.random.bernoulli(jax.random.fold_in(key, 1), ratio, true_words.shape)

    def step(carry: tuple, at: tuple) -> tuple[tuple, Array]:
        states, own_word = carry
        true_word, use_true = at
        word = jnp.where(use_true, true_word, own_word)
        states, logits, _ = translator.decoder.step(states, word, memory, key)
        return (states, jnp.argmax(logits, axis=-1).astype(word.dtype)), logits

    # The start token is nobody's guess.
    start = (translator.decoder.initial(memory), true_words[0])
    logits = jax.lax.scan(step, start, (true_words, forced))[1]
    real = real_positions(batch.target_lengths, batch.target.shape[1])
    return negative_log_likelihood(jnp.swapaxes(logits, 0, 1), batch.target, real)


def mean_loss(
    translator: Translator, batch: Sentences, ratio: float, key: PRNGKeyArray | None
) -> Float[Array, ""]:
    """Mean -log P in nats per real target token of the batch."""
    if ratio < 1.0 and key is not None:
        losses = sampled_token_losses(translator, batch, ratio, key)
    else:
        losses = token_losses(translator, batch, key)
    return jnp.sum(losses) / jnp.sum(batch.target_lengths)
