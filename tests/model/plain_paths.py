"""The plain paths: autodiff through scans of single steps, the slow reference of the fast ones."""

import jax
import jax.numpy as jnp

from seq2seq_bottleneck.training.loss import decoder_inputs


def plain_states(cell, gates, mask, reverse=False):
    """Hidden states of a cell over (steps, batch, hidden) gates, the state kept on padding."""

    def step(state, at):
        inputs, real = at
        new = cell.step(state, inputs)
        state = tuple(
            jnp.where(real[:, None], one, old) for one, old in zip(new, state, strict=True)
        )
        return state, state[0]

    start = cell.initial(jnp.zeros_like(gates[0][0]))
    return jax.lax.scan(step, start, (gates, mask), reverse=reverse)[1]


def plain_encode(translator, source, lengths):
    """The memory, every layer by its plain scan."""
    encoder = translator.encoder
    mask = jnp.arange(source.shape[1])[None] < lengths[:, None]

    def run(layer, inputs, mask):
        gates = layer.inputs.project(jnp.swapaxes(inputs, 0, 1))
        return jnp.swapaxes(plain_states(layer.cell, gates, mask.T, layer.backward), 0, 1)

    values = encoder.embed(source)
    for place, directions in enumerate(encoder.layers):
        joined = jnp.concatenate([run(layer, values, mask) for layer in directions], axis=-1)
        values = joined + values if encoder.residual and place > 0 else joined
    last = encoder._after_all(values, mask)
    values, last = encoder._map(values), encoder._map(last)
    memory = translator.encode(source, lengths)
    return memory._replace(values=values, keys=translator.decoder.attention.keys(values), last=last)


def plain_logits(translator, source, lengths, inputs):
    """Logits and attention weights word by word, batch first."""
    memory = plain_encode(translator, source, lengths)
    decoder = translator.decoder

    def step(states, word):
        states, logits, weights = decoder.step(states, word, memory)
        return states, (logits, weights)

    logits, weights = jax.lax.scan(step, decoder.initial(memory), inputs.T)[1]
    return jnp.swapaxes(logits, 0, 1), jnp.swapaxes(weights, 0, 1)


def plain_token_losses(logits, target, lengths):
    """-log P of every target token from kept logits, 0 on padding."""
    real = jnp.arange(target.shape[1])[None] < lengths[:, None]
    log_p = jax.nn.log_softmax(logits, axis=-1)
    chosen = jnp.take_along_axis(log_p, target[:, :, None], axis=-1)[:, :, 0]
    return jnp.where(real, -chosen, 0.0)


def plain_mean_loss(translator, batch):
    """Mean -log P in nats a real target token."""
    target = jnp.asarray(batch.target)
    inputs = decoder_inputs(target)
    logits, _ = plain_logits(translator, batch.source, batch.source_lengths, inputs)
    losses = plain_token_losses(logits, target, jnp.asarray(batch.target_lengths))
    return jnp.sum(losses) / jnp.sum(batch.target_lengths)
