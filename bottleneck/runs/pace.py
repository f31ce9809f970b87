"""How fast this machine trains: some updates of a small translator, compiled and timed.

A matrix product's speed does not tell it: of two machines one had 1.5 times the other's product
rate in numpy and .4 of its training rate (2026-11-22).
"""

import time
from functools import lru_cache

import jax
import numpy as np

from ..corpus.batches import Batch
from ..model.translator import create
from ..settings.run import RunSettings
from ..settings.symbols import EOS, UNK
from ..training.step import initial_state, make_update
from .operations import run_operations

VOCABULARY, LENGTH = 1_000, 16
GROUP, GROUPS = 3, 3
"""Updates of a group, and groups, of which the quickest counts: whatever else runs only slows."""


@lru_cache(maxsize=1)
def update_rate() -> float:
    """Operations a second (as `run_operations` counts them) in updates without attention.

    Of the default sizes in batches of 64; seconds are spent on compiling, once a process.
    """
    settings = RunSettings().changed(
        model={"attention": "none"}, training={"updates": 1, "batch_size": 64}
    )
    graph, weights = create(settings.model, VOCABULARY, VOCABULARY, seed=1)
    update = make_update(graph, settings.training)
    batch = random_batch(settings.training.batch_size, LENGTH, VOCABULARY)
    state, _ = update(initial_state(weights, settings.training), batch)
    best = np.inf
    for _ in range(GROUPS):
        jax.block_until_ready(state)
        start = time.perf_counter()
        for _ in range(GROUP):
            state, _ = update(state, batch)
        jax.block_until_ready(state)
        best = min(best, (time.perf_counter() - start) / GROUP)
    return run_operations(settings, VOCABULARY, (float(LENGTH), float(LENGTH))) / best


def random_batch(rows: int, length: int, vocabulary: int) -> Batch:
    """Random words, as many on both sides, so that nothing is padded."""
    draw = np.random.default_rng(1)
    sides = [draw.integers(UNK + 1, vocabulary, (rows, length), np.int32) for _ in range(2)]
    for side in sides:
        side[:, -1] = EOS
    lengths = np.full(rows, length, np.int32)
    return Batch(sides[0], lengths, sides[1], lengths)
