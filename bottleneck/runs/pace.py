"""How fast this machine trains: some updates of a small translator, compiled and timed.

A matrix product's speed does not tell it: of two machines one had 1.5 times the other's product
rate in numpy and .4 of its training rate (2026-11-22). Nor does this process, which has threads of
its own and another memory than a worker: `update_rate` runs this file as a worker is run.
"""

import subprocess
import sys
import time
from functools import lru_cache

import jax
import numpy as np

from ..corpus.batches import Batch
from ..corpus.vocabulary import EOS, UNK
from ..model.translator import create
from ..settings.errors import UserError
from ..settings.run import RunSettings
from ..training.step import initial_state, make_update
from .operations import run_operations
from .pool import worker_environment

TYPICAL_RATE = 8e10
"""What a core did of these in 2026, for shares of a whole: what runs need not be measured first."""

VOCABULARY, LENGTH = 2_000, 32
GROUP, GROUPS = 2, 3
"""Updates of a group, and groups, of which the quickest counts: whatever else runs only slows."""


@lru_cache(maxsize=1)
def update_rate() -> float:
    """Operations a second (as `run_operations` counts them) of updates in a worker, measured.

    Takes seconds, once a process; a ``UserError`` where it fails.
    """
    command = [sys.executable, "-m", __name__]
    told = {"capture_output": True, "text": True, "check": False, "env": worker_environment()}
    measured = subprocess.run(command, **told)
    try:
        return float(measured.stdout)
    except ValueError:
        reason = (measured.stderr.splitlines() or [f"exit code {measured.returncode}"])[-1]
        raise UserError(
            f"how fast this machine trains could not be measured ({reason}): is there memory for a "
            "translator of 256 units?"
        ) from None


def measure() -> float:
    """The same of this process: updates without attention, of the default sizes, 64 sentences."""
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


def main() -> None:
    """Print the rate, or on stderr in a line why there is none."""
    try:
        print(measure())
    except Exception as error:  # whatever it is, the parent tells it
        sys.exit((str(error) or type(error).__name__).splitlines()[0])


if __name__ == "__main__":
    main()
