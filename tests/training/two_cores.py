"""Run in a process of two devices: what is cut among them, beside what is not, as one JSON line."""

import json

import jax
import numpy as np

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.decoding.search import make_search
from seq2seq_bottleneck.model.parts import AXIS, Stack, in_parts, parts_of
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import DecodingSettings, ModelSettings, TrainingSettings
from seq2seq_bottleneck.training.step import initial_state, make_sentence_losses, make_update

WORDS = 23
ARMS = {("additive", "input", "gru"): 7, ("dot", "output", "lstm"): 8}
"""Attention, placement and cell, and rows of a batch: those that divide evenly, and others."""
ROWS = {"-".join(arm): rows for arm, rows in ARMS.items()} | {"averaged": 7, "muon": 7}


def random_batch(rows: int) -> Batch:
    """Sentences of unequal lengths; beyond them there is padding."""
    draw = np.random.default_rng(rows)
    sides = []
    for width in (9, 11):
        lengths = draw.integers(2, width + 1, rows).astype(np.int32)
        words = draw.integers(4, WORDS, (rows, width)).astype(np.int32)
        words[np.arange(width)[None] >= lengths[:, None]] = 0
        sides += [words, lengths]
    return Batch(*sides)


def trained(rows: int, stack: Stack, arm: tuple[str, str, str], **training: object) -> list:
    """Losses of three updates, all kept weights after them, and losses of the sentences by them."""
    attention, placement, cell = arm
    model = ModelSettings(
        attention=attention, placement=placement, cell=cell, embedding_size=6, context_size=8,
        dropout=0.2 if training.pop("drop", False) else 0.0,
    )  # fmt: skip
    settings = TrainingSettings(**training)
    graph, weights = create(model, WORDS, WORDS, 1)
    state, update = initial_state(weights, settings), make_update(graph, settings, stack)
    batch, losses = random_batch(rows), []
    for _ in range(3):
        state, loss = update(state, batch)
        losses.append(float(loss))
    leaves = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(state.kept)])
    after = make_sentence_losses(graph, stack)(state.kept, batch)
    return [losses, leaves.tolist(), np.asarray(after).tolist()]


def searched(beam: int) -> list:
    """Outputs for 33 rows, from random weights."""
    graph, weights = create(ModelSettings(embedding_size=6, context_size=8), WORDS, WORDS, 1)
    batch = random_batch(33)
    search = make_search(graph, DecodingSettings(beam_size=beam))
    output = search(weights, batch.source, batch.source_lengths)
    return [np.asarray(output.tokens).tolist(), np.asarray(output.log_probability).tolist()]


def ready_on_return() -> bool:
    """Whether a program in parts that takes a while has its result when it returns."""

    def slow(rows: jax.Array) -> jax.Array:
        product = jax.lax.fori_loop(0, 200, lambda _, part: jax.numpy.tanh(part @ part.T), rows)
        return jax.lax.psum(product.sum(), AXIS)

    program = in_parts(slow, 2, (0,))
    rows = np.tile(np.eye(300, dtype=np.float32), (2, 1))
    program(rows)  # compiled
    return program(rows).is_ready()


def main() -> None:
    """Everything, with the number of devices."""
    plain = ("none", "input", "rnn")
    cases = {"-".join(arm): (arm, {}) for arm in ARMS}
    cases["averaged"] = plain, {"updates": 3, "label_smoothing": 0.2, "average_last": 0.7}
    cases["muon"] = plain, {"optimizer": "muon"}
    pairs = {
        name: [trained(ROWS[name], Stack(1, parts), arm, **changes) for parts in (1, 2)]
        for name, (arm, changes) in cases.items()
    }
    dropped = [trained(8, Stack(1, parts), plain, drop=True)[0] for parts in (1, 2)]
    facts = {"devices": jax.local_device_count(), "parts": [parts_of(rows) for rows in (33, 12)]}
    facts |= {"searches": {beam: searched(beam) for beam in (1, 3)}, "ready": ready_on_return()}
    print(json.dumps(facts | {"pairs": pairs, "dropped": dropped}))


if __name__ == "__main__":
    main()
