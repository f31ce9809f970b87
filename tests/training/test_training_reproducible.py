"""Same seed, same weights, in two processes at once."""

import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, sys
import jax, numpy as np
sys.path.insert(0, sys.argv[1])
from tiny_training import settings_of, stream, train_one, translator, validation
seed = int(sys.argv[2])
graph, weights = translator(seed=seed, dropout=0.2)
settings = settings_of(seed=seed, updates=6)
trained = train_one((graph, weights), settings, stream(seed=seed), validation())
assert trained.best_update > 0
state = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(trained.weights))
print(hashlib.sha256(state).hexdigest())
"""


@pytest.mark.exhaustive(sample="session")
def test_two_processes_train_the_same_weights(request):
    folder = str(request.path.parent)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, folder, seed], stdout=subprocess.PIPE, text=True
        )
        for seed in ("1", "1", "2")
    ]
    one, same, other = (process.communicate(timeout=120)[0] for process in processes)
    assert all(process.returncode == 0 for process in processes)
    assert len(one.strip()) == 64
    assert one == same
    assert one != other
