"""The mean training loss of a batch, which the package itself takes apart into sum and tokens."""

import jax.numpy as jnp

from seq2seq_bottleneck.training.loss import summed_losses


def mean_loss(translator, batch, ratio, key, smoothing=0.0):
    """Nats per real target token."""
    total = summed_losses(translator, batch, ratio, key, smoothing)
    return total / jnp.sum(batch.target_lengths)
