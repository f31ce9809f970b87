"""The loss (LECTURE D): -sum log P(y*_t), under teacher forcing at a ratio of 0.5 to 1.

Label smoothing changes ``summed_losses`` alone, and that only where it is asked for:
``token_losses``, of which validation, the likelihood of references and the probes are made, are
-log P.
"""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ..corpus.vocabulary import BOS
from ..model.decoder import OutputLayer
from ..model.translator import Translator, real_positions
from .cross_entropy import position_losses, summed_loss


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


def read_outs(
    translator: Translator, batch: Sentences, ratio: float = 1.0, key: PRNGKeyArray | None = None
) -> Float[Array, "target batch width"]:
    """What the output layer reads at every position, under teacher forcing at a ratio.

    Without a key every word before is the true one, whatever the ratio.
    """
    if ratio < 1.0 and key is not None:
        return _sampled(translator, batch, ratio, key)
    inputs = decoder_inputs(batch.target)
    return translator.read_outs(batch.source, batch.source_lengths, inputs, key)[0]


def _sampled(
    translator: Translator, batch: Sentences, ratio: float, key: PRNGKeyArray
) -> Float[Array, "target batch width"]:
    """Each word before is the true one with probability ``ratio``, else the model's own best.

    Scheduled sampling (Bengio et al. 2015); no gradient flows through the choice.
    """
    memory = translator.encode(batch.source, batch.source_lengths, jax.random.fold_in(key, 0))
    true_words = decoder_inputs(batch.target).T
    forced = jax.random.bernoulli(jax.random.fold_in(key, 1), ratio, true_words.shape)
    decoder = translator.decoder

    def step(carry: tuple, at: tuple) -> tuple[tuple, Array]:
        states, own_word = carry
        true_word, use_true = at
        word = jnp.where(use_true, true_word, own_word)
        states, output, _ = decoder.advance(states, word, memory, key)
        best = jnp.argmax(decoder.logits(jax.lax.stop_gradient(output)), axis=-1)
        return (states, best.astype(word.dtype)), output

    # The start token is nobody's guess.
    return jax.lax.scan(step, (decoder.initial(memory), true_words[0]), (true_words, forced))[1]


def token_losses(
    translator: Translator, batch: Sentences, ratio: float = 1.0, key: PRNGKeyArray | None = None
) -> Float[Array, "batch target"]:
    """-log P in nats of every target token, 0 on padding; `read_outs` says after which words."""
    outputs = read_outs(translator, batch, ratio, key)
    losses = position_losses(*_flat(translator, batch, outputs))
    return losses.reshape(outputs.shape[:2]).T


def summed_losses(
    translator: Translator,
    batch: Sentences,
    ratio: float,
    key: PRNGKeyArray | None,
    smoothing: float = 0.0,
) -> Float[Array, ""]:
    """-log P in nats, summed over the real target tokens of the batch; what training makes small.

    With ``smoothing`` a token's loss is (1 - smoothing) of that, and smoothing times the mean of
    -log P over all that an output may hold (Szegedy et al. 2016, section 7).
    """
    outputs = read_outs(translator, batch, ratio, key)
    return summed_loss(*_flat(translator, batch, outputs), smoothing)


def _flat(
    translator: Translator, batch: Sentences, outputs: Float[Array, "target batch width"]
) -> tuple[Array, OutputLayer, Array, Array]:
    """Positions of all steps in one row, as the cross-entropy takes them."""
    real = real_positions(batch.target_lengths, batch.target.shape[1])
    states = outputs.reshape(-1, outputs.shape[-1])
    target = jnp.asarray(batch.target).T.reshape(-1)
    return states, translator.decoder.output_layer(), target, real.T.reshape(-1)
