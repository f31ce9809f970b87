"""Run in a process of two devices: what is cut among them, beside what is not, as one JSON line."""

import json

import jax
import numpy as np

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.model.parts import Stack, parts_of
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
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
        attention=attention, placement=placement, cell=cell, embedding_size=6, context_size=8
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
    facts = {"devices": jax.local_device_count(), "parts": [parts_of(rows) for rows in (33, 12)]}
    print(json.dumps(facts | {"pairs": pairs}))


if __name__ == "__main__":
    main()
